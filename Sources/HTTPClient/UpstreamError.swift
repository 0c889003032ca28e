// Owns why an upstream could not be reached.

public import Network

/// Why there is no connection to an upstream.
public enum UpstreamError: Error, Sendable, Hashable {
  /// Name, address or TCP.
  case connect(ConnectError)
  /// TCP is there, TLS is not.
  case tls(StreamError)
  /// Not within the connect time limit.
  case timedOut

  /// What to tell an operator, without the upstream's address.
  public var reason: String {
    switch self {
    case .connect(.unresolved(let error)): "the name does not resolve: \(error.reason)"
    case .connect(.forbiddenAddress): "the name resolves to a link-local or metadata address, which is refused"
    case .connect(.refused(let error)): "\(error.reason)"
    case .connect(.timedOut), .timedOut: "no connection within the time limit"
    case .connect(.handshake(let error)), .tls(let error): "TLS: \(error.text)"
    }
  }
}

extension StreamError {
  var text: String {
    switch self {
    case .reset: "connection reset by peer"
    case .truncated: "connection closed during the handshake"
    case .tls(let failure): failure.description
    case .system(let error): error.reason
    }
  }
}
