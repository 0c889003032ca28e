// Owns how an outbound proxy's place is written: http://host:port, or host:port alone, with a user and a password where
// it asks for them.

public import Bytes
internal import Tokens
internal import HTTP

/// Why a text is not a proxy's place.
enum ProxyAddressError: Error, Hashable {
  /// A scheme other than `http`: TLS to the proxy itself, SOCKS.
  case scheme
  /// The user information is not percent-encoded text.
  case userInformation
  /// The host, or the port.
  case host
  /// A path or a query follows.
  case path

  /// The reason as the end of a sentence that begins with the key. The text is not repeated: it may hold a password.
  var reason: String {
    switch self {
    case .scheme: "is not an http:// proxy; tunnels are asked for in plain HTTP, what goes through them is encrypted"
    case .userInformation: "has something before the '@' that is no user:password (percent-encoded)"
    case .host: "has no host that could be looked up, or a port that is not a number from 1 to 65535"
    case .path: "has a path; a proxy is a host and a port"
    }
  }
}

/// A proxy that makes tunnels.
public struct ProxyAddress: Sendable, Hashable, CustomStringConvertible {
  /// Host name or address literal in lower case, an IPv6 address without its brackets.
  public let host: String
  /// TCP port.
  public let port: UInt16
  /// `user:password`, decoded; nil where none is given.
  public let credential: Secret?
  /// The environment variable that names it; nil where the configuration does.
  public internal(set) var variable: String?

  /// Without user and password.
  public var description: String { "http://\(host.contains(":") ? "[\(host)]" : host):\(port)" }

  /// Hashes the place; secrets are compared, never hashed.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(host)
    hasher.combine(port)
  }

  /// Reads a proxy's place. Without a port it is 80, as in every http URL.
  init(_ text: String) throws(ProxyAddressError) {
    var rest = text[...]
    if let scheme = text.firstRange(of: "://") {
      guard text[..<scheme.lowerBound].lowercased() == "http" else { throw .scheme }
      rest = text[scheme.upperBound...]
    }
    if rest.hasSuffix("/") { rest.removeLast() }
    if rest.contains("/") || rest.contains("?") || rest.contains("#") { throw .path }
    var credential: Secret?
    if let at = rest.lastIndex(of: "@") {
      let parts = rest[..<at].split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
      let decoded = parts.map { PercentEncoding.decoded($0.utf8) }
      guard let user = decoded[0], !user.isEmpty, let password = decoded.count == 2 ? decoded[1] : [] else {
        throw .userInformation
      }
      credential = Secret(user + [UInt8(ascii: ":")] + password)
      rest = rest[rest.index(after: at)...]
    }
    do throws(HTTPURLError) {
      let url = try HTTPURL("http://" + rest)
      (host, port) = (url.host, url.port)
    } catch {
      throw .host
    }
    self.credential = credential
  }
}
