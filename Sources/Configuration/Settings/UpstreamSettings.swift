// Owns the settings of trust in upstreams. They stand under `defaults` or on a route; what a route leaves out comes
// from the defaults.

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
