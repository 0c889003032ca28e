// Owns what is known of a proxy on the way to an origin: where it is, and the field by which it lets us through. That
// field goes to the proxy alone, with the CONNECT, and never to an origin.

internal import FoundationEssentials

/// An HTTP proxy that makes tunnels (RFC 9110 §9.3.6).
public struct ConnectProxy: Sendable, Hashable {
  /// Host name or address literal in lower case, an IPv6 address without its brackets.
  public let host: String
  /// TCP port.
  public let port: UInt16
  /// The value of `Proxy-Authorization`.
  let authorization: ProxyAuthorization?

  /// A proxy; `credential` is `user:password` where it asks for one (RFC 7617 §2).
  public init(host: String, port: UInt16, credential: [UInt8]? = nil) {
    self.host = host
    self.port = port
    authorization = credential.map { ProxyAuthorization("Basic \(Data($0).base64EncodedString())") }
  }
}

/// A secret that does not show itself.
struct ProxyAuthorization: Sendable, Hashable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable
{
  let value: String

  init(_ value: String) { self.value = value }

  var description: String { "[secret]" }
  var debugDescription: String { "[secret]" }
  var customMirror: Mirror { Mirror(self, children: [:]) }
}

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
