// The small settings that concern the process as a whole: logs, cache, shutdown.

package import Bytes
package import Telemetry
package import Tokens

package struct LogSettings: Sendable, Hashable {
  /// From which severity on records are written.
  package var level: LogLevel = .info
  package var format: LogFormat = .json
  /// True if each request writes a record.
  package var access = true
  /// The file of those records; `nil` is standard output.
  package var accessFile: Located<String>?
  /// The names of people in those records.
  package var identities = RecordedIdentities.none

  package init() {}
}

/// The store of tokens.
package enum CacheSettings: Sendable, Hashable {
  /// In this process, until it ends.
  case memory
  /// In a file that every MSAL on this machine may share, an absolute path or one relative to the working directory.
  /// Opening it shows if it can be used.
  case file(Located<String>)
  /// On a Redis server that replicas on several machines have in common.
  case redis(RedisSettings)
}

/// A Redis server, and the files by which it is trusted and entered.
package struct RedisSettings: Sendable, Hashable {
  package let server: Located<RedisServer>
  /// The application whose own tokens open it, in the place of a password.
  package let entra: Located<String>?
  /// A PEM file of certification authorities for the server, instead of the system's.
  package let caFile: Located<String>?
  /// The certificate shown to a server that asks for one.
  package let clientCertificate: CertificateFiles?
}

/// The end of the process.
package struct ShutdownSettings: Sendable, Hashable {
  /// The time from the signal to the end, `delay` included.
  package var limit: TimeSpan = .seconds(30)
  /// The time for which connections are accepted after the signal, while `/readyz` already reports the end: load
  /// balancers have to notice first.
  package var delay: TimeSpan = .zero

  package init() {}
}
