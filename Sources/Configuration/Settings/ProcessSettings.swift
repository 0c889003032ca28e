// The small settings that concern the process as a whole: logs, cache, shutdown.

package import Bytes
package import Telemetry
package import Tokens

/// What is logged, and how.
package struct LogSettings: Sendable, Hashable {
  /// From which severity on records are written.
  package var level: LogLevel = .info
  /// How records look.
  package var format: LogFormat = .json
  /// Whether each request leaves a record.
  package var access = true
  /// The file of those records; `nil` is standard output.
  package var accessFile: Located<String>?
  /// How those records name people.
  package var identities = RecordedIdentities.none

  /// The defaults.
  package init() {}
}

/// Where tokens are kept.
package enum CacheSettings: Sendable, Hashable {
  /// In this process, until it ends.
  case memory
  /// In a file that every MSAL on this machine may share, an absolute path or one relative to the working directory.
  /// Whether it can be used is found out by who opens it.
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

/// How the process ends.
package struct ShutdownSettings: Sendable, Hashable {
  /// How long the process may go on after the signal, `delay` included.
  package var limit: TimeSpan = .seconds(30)
  /// How long connections are accepted after the signal, while `/readyz` says already that the process is ending: load
  /// balancers have to notice first.
  package var delay: TimeSpan = .zero

  /// The default.
  package init() {}
}
