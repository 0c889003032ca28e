// Owns the settings of connections to upstreams: trust, time limits, pool. They stand under `defaults` or on a route;
// what a route leaves out comes from the defaults.

/// How an https upstream is trusted, and what is shown to it. Certificates are always verified.
public struct UpstreamTLSSettings: Sendable, Hashable {
  /// A PEM file of certification authorities instead of the system's.
  public var caFile: Located<String>?
  /// The certificate shown to an upstream that asks for one.
  public var clientCertificate: CertificateFiles?
  /// The name sent as SNI and expected in the certificate, in lower case, instead of the upstream's host.
  public var serverName: String?

  /// The system's trust store and the upstream's own name.
  public init() {}
}

/// Time limits of one request. All are positive.
public struct Timeouts: Sendable, Hashable {
  /// To open a connection to the upstream, TLS handshake included.
  public var connect: Duration = .seconds(5)
  /// To receive a request's head after its first byte, and a TLS handshake before it. The same for all routes.
  public var requestHead: Duration = .seconds(10)
  /// From the end of the request to the end of the response's head.
  public var responseHead: Duration = .seconds(60)
  /// Between two requests of a connection, and for a body in either direction to move at all.
  public var idle: Duration = .seconds(60)
  /// For the whole exchange; `nil` is no limit.
  public var exchange: Duration?

  /// The defaults.
  public init() {}
}

/// The bounds of the pool of idle upstream connections.
public struct PoolSettings: Sendable, Hashable {
  /// Idle connections kept, per origin and event loop.
  public var maxIdle = 64
  /// How long an idle connection is kept.
  public var idleTimeout: Duration = .seconds(55)

  /// The defaults.
  public init() {}
}
