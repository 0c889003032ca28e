/// Why a proxy made no tunnel.
public enum ProxyRefusal: Error, Sendable, Hashable {
  /// 407: it wants a user and a password, or others.
  case credentials
  /// Any other status than 2xx.
  case status(Int)
  /// The connection ended before the answer was whole.
  case closed
  /// What answers does not speak HTTP, or goes on where the tunnel should begin.
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
