// The identity of an upstream connection's far end: its address and trust. Two routes with equal origins share
// connections; a connection made under other trust is never shared.

public import HTTP
public import Platform

/// An upstream server, as its connections see it.
public struct Origin: Sendable {
  /// http or https.
  public var scheme: HTTPScheme
  /// Host name or address literal, lower case, without brackets.
  public var host: String
  /// TCP port.
  public var port: UInt16
  /// The name the certificate must carry, if it differs from `host`.
  public var serverName: String?
  /// Trust and our own certificate; present exactly for https.
  public var tls: TLSContext?
  /// The proxy on the way there; nil if it is reached directly.
  package var proxy: ProxyAddress?
  /// The versions of HTTP for it.
  package var versions = UpstreamProtocol.http1

  /// The origin of `url`, reached with `tls` if the scheme is https.
  package init(
    _ url: HTTPURL, tls: TLSContext?, serverName: String? = nil, proxy: ProxyAddress? = nil,
    versions: UpstreamProtocol = .http1
  ) {
    precondition((url.scheme == .https) == (tls != nil), "an https origin has a TLS context, an http origin has none")
    scheme = url.scheme
    host = url.host
    port = url.port
    self.tls = tls
    self.serverName = serverName
    self.proxy = proxy
    self.versions = versions
  }

  /// True if connections may have HTTP/2, and carry several exchanges at once.
  package var mayBeShared: Bool {
    switch versions {
    case .http1: false
    case .http2: true
    // Without TLS nothing tells before the first request.
    case .auto: tls != nil
    }
  }

  /// The protocols to offer in a handshake. `isAlone`: for a connection that is not shared.
  func offer(isAlone: Bool) -> OfferedProtocols {
    switch versions {
    case .http1: .http11
    case .auto: isAlone ? .http11 : .both
    case .http2: .http2
    }
  }

  /// A server of another protocol, with `tls` or without.
  public init(host: String, port: UInt16, tls: TLSContext?) {
    scheme = tls == nil ? .http : .https
    self.host = host
    self.port = port
    self.tls = tls
  }
}
