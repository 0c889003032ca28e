// The cookie that ties a sign-in to one browser: its name, its field, its recognition among others, and its removal
// from requests to upstreams.

internal import Bytes
internal import HTTP

/// The cookie of one listener's sign-in pages.
struct SignInCookie: Sendable, Hashable {
  /// Cookies have no ports: the name has the port, so that listeners of one host do not take one another's.
  let name: String
  private let isSecure: Bool

  /// The beginning of every name, behind the prefix of cookies for TLS.
  private static let stem: StaticString = "bearer-sign-in-"
  /// A cookie of this prefix was set by the host itself over TLS, for all its paths (RFC 6265bis §4.1.3.2).
  private static let hostPrefix: StaticString = "__Host-"

  init(port: UInt16, isSecure: Bool) {
    name = "\(isSecure ? "\(Self.hostPrefix)" : "")\(Self.stem)\(port)"
    self.isSecure = isSecure
  }

  /// The `Set-Cookie` field's value. Lax: the identity provider's redirect comes from another site. `__Host-` demands
  /// `/`.
  func field(_ browser: String, lifetime: Int64) -> String {
    "\(name)=\(browser); Path=\(isSecure ? "/" : SignInEndpoint.root); Max-Age=\(lifetime)"
      + "\(isSecure ? "; Secure" : ""); HttpOnly; SameSite=Lax"
  }

  /// The browser's names in a `Cookie` field, each 43 characters. Without TLS every service of the host can set a
  /// cookie of this name, for other paths too: of several, the one that fits its form or sign-in is ours.
  func browsers(in field: String) -> [String] {
    var found: [String] = []
    for pair in field.split(separator: ";") {
      let parts = pair.drop { $0 == " " }.split(separator: "=", maxSplits: 1)
      guard parts.count == 2, parts[0] == name, Self.isName(parts[1]) else { continue }
      let value = String(parts[1])
      if !found.contains(value) { found.append(value) }
    }
    return found
  }

  private static func isName(_ value: Substring) -> Bool {
    value.utf8.count == 43 && value.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "-_".contains($0)) }
  }

  // MARK: Requests to upstreams

  /// True if a `Cookie` field has a cookie of any listener's sign-in pages.
  static func occurs(in value: Span<UInt8>) -> Bool {
    var pairs = ListElements(value, ByteRange(from: 0, to: value.count), separator: ASCII.semicolon)
    while let pair = pairs.next() { if isOurs(value.extracting(pair)) { return true } }
    return false
  }

  /// Writes a `Cookie` field without the cookies of sign-in pages; nothing if no other is left.
  @inline(never)
  static func writeOthers(of value: Span<UInt8>, into output: inout ByteBuffer) {
    var isFirst = true
    var pairs = ListElements(value, ByteRange(from: 0, to: value.count), separator: ASCII.semicolon)
    while let pair = pairs.next() {
      if isOurs(value.extracting(pair)) { continue }
      output.append(isFirst ? "Cookie: " : "; ")
      output.append(value.extracting(pair))
      isFirst = false
    }
    if !isFirst { output.append("\r\n") }
  }

  private static func isOurs(_ pair: Span<UInt8>) -> Bool {
    pair.starts(with: stem)
      || pair.starts(with: hostPrefix)
        && pair.extracting(droppingFirst: hostPrefix.utf8CodeUnitCount).starts(with: stem)
  }
}
