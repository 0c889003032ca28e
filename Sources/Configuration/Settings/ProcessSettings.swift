// Owns the small settings that concern the process as a whole: logs, cache, limits, shutdown.

public import Bytes
public import Telemetry
internal import Tokens

/// What is logged, and how.
public struct LogSettings: Sendable, Hashable {
  /// From which severity on records are written.
  public var level: LogLevel = .info
  /// How records look.
  public var format: LogFormat = .json
  /// Whether each request leaves a record.
  public var access = true
  /// The file of those records; `nil` is standard output.
  public var accessFile: Located<String>?

  /// The defaults.
  public init() {}
}

/// Where tokens are kept.
public enum CacheSettings: Sendable, Hashable {
  /// In this process, until it ends.
  case memory
  /// In a file that every MSAL on this machine may share, an absolute path or one relative to the working directory.
  /// Whether it can be used is found out by who opens it.
  case file(Located<String>)
  /// On a Redis server that replicas on several machines have in common.
  case redis(RedisSettings)
}

/// A Redis server, and how it is entered.
public struct RedisSettings: Sendable, Hashable {
  /// Where it is.
  public let address: Located<RedisAddress>
  /// The ACL user; nil is the server's default one.
  public let user: String?
  /// The password; nil where the server wants none.
  public let password: Secret?
  /// A PEM file of certification authorities for the server, instead of the system's.
  public let caFile: Located<String>?
  /// The certificate shown to a server that asks for one.
  public let clientCertificate: CertificateFiles?
  /// What every key begins with.
  public let keyPrefix: String

  /// Hashes where the server is; secrets are compared, never hashed.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(address)
    hasher.combine(user)
  }
}

/// Bounds on what callers may send.
public struct Limits: Sendable, Hashable {
  /// Bytes of a request's or response's head.
  public var headBytes = 32 << 10
  /// Bytes of a request's target.
  public var targetBytes = 8 << 10
  /// Fields of a head.
  public var fieldCount = 100
  /// Downstream connections open at once, in the whole process.
  public var connections = 10_000
  /// Connections at once, in the whole process, that are in a TLS handshake or have sent a part of a request's head.
  public var unfinished = 1000
  /// Bytes of a request's body; `nil` is no limit.
  public var bodyBytes: Int?
  /// Bytes a second that a caller has to send of a body, or take of an answer, on average; `nil` is no limit.
  public var callerRate: Int? = 100

  /// The defaults.
  public init() {}
}

/// How the process ends.
public struct ShutdownSettings: Sendable, Hashable {
  /// How long the process may go on after the signal, `delay` included.
  public var limit: Duration = .seconds(30)
  /// How long connections are accepted after the signal, while `/readyz` says already that the process is ending: load
  /// balancers have to notice first.
  public var delay: Duration = .zero
  /// How long a connection that waits for a request is kept after the delay, for a request that is already on its way.
  public var grace: Duration = .seconds(1)

  /// The default.
  public init() {}
}
