// The one kind of address that this code base contacts: an http or https URL with a host. Reads it strictly; resolves,
// normalises and percent-decodes nothing.

import Bytes

/// The scheme of an `HTTPURL`.
public enum HTTPScheme: UInt8, Sendable, Hashable {
  /// Plain TCP, port 80 by default.
  case http
  /// TLS, port 443 by default.
  case https

  /// The port of a URL of this scheme that names none (RFC 9110 §4.2).
  public var defaultPort: UInt16 { self == .http ? 80 : 443 }
  /// The scheme as written in a URL.
  public var text: String { self == .http ? "http" : "https" }
}

/// The fault of a text that is no `HTTPURL`.
public enum HTTPURLError: Error, Sendable, Hashable {
  /// It does not begin with `http://` or `https://`.
  case scheme
  /// User information (`user:password@`) is deprecated for http URLs and never accepted (RFC 9110 §4.2.4).
  case userInformation
  /// The host is empty, has a byte that no host name has, or is no IPv6 address between its brackets.
  case host
  /// The host is a number that resolvers read as an IPv4 address, but not four decimal ones: `2852039166`,
  /// `0x7f000001`, `127.1`. It hides the URL's target.
  case numericHost
  /// The port is not a number from 1 to 65535.
  case port
  /// The path or query has a fragment, white space, a control or a non-ASCII byte.
  case path
}

/// An absolute http or https URL (RFC 9110 §4.2), in its parts.
public struct HTTPURL: Sendable, Hashable, CustomStringConvertible {
  /// http or https.
  public var scheme: HTTPScheme
  /// The host in lower case; an IPv6 address without its brackets.
  public var host: String
  /// The port; the scheme's own if the text names none.
  public var port: UInt16
  /// The path, at least `/`, and the query with its `?` if there is one, as written.
  public var target: String

  /// Reads an absolute URL.
  public init(_ text: String) throws(HTTPURLError) {
    let lowered = text.prefix(8).lowercased()
    let rest: Substring
    if lowered.hasPrefix("https://") {
      scheme = .https
      rest = text.dropFirst(8)
    } else if lowered.hasPrefix("http://") {
      scheme = .http
      rest = text.dropFirst(7)
    } else {
      throw .scheme
    }
    let authorityEnd = rest.firstIndex { $0 == "/" || $0 == "?" || $0 == "#" } ?? rest.endIndex
    let authority = rest[..<authorityEnd]
    if authority.contains("@") { throw .userInformation }
    (host, port) = try Self.hostAndPort(authority, scheme: scheme)
    let tail = rest[authorityEnd...]
    for byte in tail.utf8 where byte <= 0x20 || byte >= 0x7F || byte == UInt8(ascii: "#") { throw .path }
    target = tail.first == "/" ? String(tail) : "/" + tail
  }

  private static func hostAndPort(
    _ authority: Substring, scheme: HTTPScheme
  ) throws(HTTPURLError) -> (host: String, port: UInt16) {
    let host: Substring
    let afterHost: Substring
    if authority.first == "[" {
      guard let close = authority.firstIndex(of: "]") else { throw .host }
      host = authority[authority.index(after: authority.startIndex)..<close]
      afterHost = authority[authority.index(after: close)...]
      guard IPAddress.isIPv6(Array(host.utf8).span) else { throw .host }
    } else {
      let colon = authority.firstIndex(of: ":") ?? authority.endIndex
      host = authority[..<colon]
      afterHost = authority[colon...]
      guard !host.isEmpty, host.utf8.allSatisfy(isHostNameByte) else { throw .host }
      if isNumeric(host), IPAddress(host) == nil { throw .numericHost }
    }
    if afterHost.isEmpty { return (host.lowercased(), scheme.defaultPort) }
    let digits = afterHost.dropFirst()
    guard afterHost.first == ":", !digits.isEmpty, digits.utf8.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }),
      let port = UInt16(digits), port > 0
    else { throw .port }
    return (host.lowercased(), port)
  }

  /// True if the last label is a decimal, octal or hexadecimal number: then the whole host must be an address (WHATWG
  /// URL, "ends in a number").
  private static func isNumeric(_ host: Substring) -> Bool {
    let name = host.hasSuffix(".") ? host.dropLast() : host
    let label = name.utf8[(name.utf8.lastIndex(of: ASCII.dot).map { name.utf8.index(after: $0) } ?? name.startIndex)...]
    if label.allSatisfy({ $0 &- ASCII.zero < 10 }) { return true }
    return label.count > 1 && label.first == ASCII.zero && [0x78, 0x58].contains(label.dropFirst().first)
      && label.dropFirst(2).allSatisfy { ASCII.hexadecimalValue($0) != nil }
  }

  private static func isHostNameByte(_ byte: UInt8) -> Bool {
    ASCII.isAlphanumeric(byte) || byte == ASCII.dash || byte == ASCII.dot || byte == ASCII.underscore
  }

  /// `host`, or `host:port` if the port is not the scheme's own: a `Host` field's value (RFC 9110 §7.2).
  public var authority: String {
    let name = host.contains(":") ? "[\(host)]" : host
    return port == scheme.defaultPort ? name : "\(name):\(port)"
  }

  /// Scheme and authority: the origin to which a token may go.
  public var origin: String { "\(scheme.text)://\(authority)" }

  /// The URL as text.
  public var description: String { origin + target }
}

extension HTTPURL {
  /// The URL of a text; nil if it is none, whatever its fault.
  package init?(ifValid text: String) {
    do throws(HTTPURLError) { try self.init(text) } catch { return nil }
  }

  /// The URL with another path and query.
  package func at(_ target: String) -> HTTPURL {
    var url = self
    url.target = target
    return url
  }

  /// The URL with these members behind those of its query.
  package func adding(query: String) -> HTTPURL { at(target + (target.contains("?") ? "&" : "?") + query) }

  /// The URL in the form in which URLs are compared: without a slash at its end.
  package var normal: String { origin + (target.hasSuffix("/") ? target.dropLast() : target[...]) }

  /// True if the host is `localhost`, an address of 127.0.0.0/8 in four parts, or `::1`.
  public var isLoopback: Bool {
    if host == "localhost" { return true }
    // Not an IPv4-mapped address: its target depends on the machine's settings.
    guard let address = IPAddress(host), address == address.unmapped else { return false }
    return address.isLoopback
  }
}
