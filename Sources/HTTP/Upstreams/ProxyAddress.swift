package import Bytes

/// An HTTP proxy that makes tunnels (RFC 9110 §9.3.6), as http://host:port or host:port, with a user and a password if
/// it asks for them.
package struct ProxyAddress: Sendable, Hashable, CustomStringConvertible {
  /// Host name or address literal in lower case, an IPv6 address without its brackets.
  package let host: String
  package let port: UInt16
  /// `user:password`, decoded (RFC 7617 §2); nil if the proxy asks for none. It goes to the proxy alone, with the
  /// CONNECT, and never to an origin.
  package let credential: Secret?
  /// The environment variable that names it; nil if the configuration does.
  package var variable: String?

  /// Without user and password.
  package var description: String { "http://\(host.contains(":") ? "[\(host)]" : host):\(port)" }

  /// True if connections through both are alike, whichever variable names the proxy.
  package static func == (left: ProxyAddress, right: ProxyAddress) -> Bool {
    left.host == right.host && left.port == right.port && left.credential == right.credential
  }

  /// Hashes the address; secrets are compared, never hashed.
  package func hash(into hasher: inout Hasher) {
    hasher.combine(host)
    hasher.combine(port)
  }

  /// Reads a proxy's address. The default port is 80, as in every http URL. An error does not repeat the text, which
  /// may hold a password.
  package init(_ text: String) throws(UnusableText) {
    var rest = text[...]
    if let scheme = text.firstRange(of: "://") {
      guard text[..<scheme.lowerBound].lowercased() == "http" else {
        throw UnusableText(
          "is not an http:// proxy; tunnels are asked for in plain HTTP, what goes through them is encrypted")
      }
      rest = text[scheme.upperBound...]
    }
    if rest.hasSuffix("/") { rest.removeLast() }
    if rest.contains("/") || rest.contains("?") || rest.contains("#") {
      throw UnusableText("has a path; a proxy is a host and a port")
    }
    var credential: Secret?
    if let at = rest.lastIndex(of: "@") {
      let parts = rest[..<at].split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
      let decoded = parts.map { PercentEncoding.decoded($0.utf8) }
      guard let user = decoded[0], !user.isEmpty, let password = decoded.count == 2 ? decoded[1] : [] else {
        throw UnusableText.userInformation
      }
      credential = Secret(user + [UInt8(ascii: ":")] + password)
      rest = rest[rest.index(after: at)...]
    }
    let url = try mapping({ (_: HTTPURLError) in UnusableText.host }, HTTPURL("http://" + rest))
    (host, port) = (url.host, url.port)
    self.credential = credential
  }
}

extension UnusableText {
  /// A text before an '@' that is no `user:password`, percent-encoded.
  package static let userInformation = UnusableText(
    "has something before the '@' that is no user:password (percent-encoded)")
  package static let host = UnusableText(
    "has no host that could be looked up, or a port that is not a number from 1 to 65535")
}
