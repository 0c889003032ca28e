public import Platform

/// The reason why there is no connection to an upstream.
public enum UpstreamError: Error, Sendable, Hashable {
  /// Name, address or TCP.
  case connect(ConnectError)
  /// TCP succeeded, TLS failed.
  case tls(StreamError)
  /// Not within the connect time limit.
  case timedOut
  /// The proxy on the way could not be reached.
  case proxyUnreachable(ConnectError)
  /// The proxy on the way made no tunnel.
  case proxy(ProxyRefusal)
  /// TLS succeeded, and the upstream has not chosen HTTP/2, which the route demands.
  case withoutHTTP2
  /// The upstream has not announced WebSockets over HTTP/2, the route's only protocol.
  case withoutWebSockets

  /// True if this process has no descriptor left to connect with.
  public var isExhaustion: Bool {
    switch self {
    case .connect(.refused(let error)), .proxyUnreachable(.refused(let error)): error.isExhaustion
    default: false
    }
  }

  /// The reason for an operator, without the upstream's address.
  public var reason: String {
    switch self {
    case .connect(let error): error.text
    case .timedOut: ConnectError.timedOut.text
    case .tls(let error): "TLS: \(error.text)"
    case .proxyUnreachable(let error): "the proxy on the way there: \(error.text)"
    case .proxy(let refusal): "the proxy on the way there \(refusal)"
    case .withoutHTTP2: "it does not offer HTTP/2 (ALPN), which the route's protocol demands"
    case .withoutWebSockets: "it announces no WebSockets over HTTP/2 (RFC 8441), and the route's protocol is http2"
    }
  }
}

extension ConnectError {
  var text: String {
    switch self {
    case .unresolved(let error): "the name does not resolve: \(error.reason)"
    case .forbiddenAddress: "the name resolves to a link-local or metadata address, which is refused"
    case .refused(let error): "\(error.reason)"
    case .timedOut: "no connection within the time limit"
    }
  }
}

extension StreamError {
  /// The cause of a failed handshake.
  package var cause: TLSFailure.Cause { if case .tls(let failure) = self { failure.cause } else { .other } }

  var text: String {
    switch self {
    case .reset: "connection reset by peer"
    case .truncated: "connection closed during the handshake"
    case .tls(let failure): failure.description
    case .system(let error): error.reason
    }
  }
}

/// The reason why a proxy made no tunnel.
public enum ProxyRefusal: Error, Sendable, Hashable {
  /// 407: it wants a user and a password, or others.
  case credentials
  /// Any other status than 2xx.
  case status(Int)
  /// The connection ended before the answer was whole.
  case closed
  /// The answer is not HTTP, or continues at the place of the tunnel.
  case malformed
}

extension ProxyRefusal: CustomStringConvertible {
  /// The end of a sentence that begins with the proxy.
  public var description: String {
    switch self {
    case .credentials: "wants a user and a password, or others (407)"
    case .status(let status): "makes no tunnel there (\(status))"
    case .closed: "closed the connection"
    case .malformed: "does not answer as an HTTP proxy"
    }
  }
}
