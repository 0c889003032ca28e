internal import Bytes
package import HTTP

/// The name of a request field that a route sets or removes.
package struct RouteFieldName: Sendable, Hashable {
  /// The name as it is sent.
  package let text: String
  private let known: FieldName
  /// The name in lower case, with `-` in place of `_`.
  private let plain: [UInt8]

  /// The prefixes of names on which identity, routing or the proxy's own exchanges depend.
  private static let reservedPrefixes = [
    "access-control-", "cf-connecting-", "content-", "if-", "proxy-", "sec-", "x-accel-", "x-arr-", "x-bearer-",
    "x-envoy-", "x-forwarded-", "x-invoke-", "x-middleware-", "x-ms-client-principal", "x-original-", "x-real-",
    "x-rewrite-",
  ].map { Array($0.utf8) }

  /// Further such names, from which servers, frameworks and networks in front of them take the caller's address, the
  /// scheme or a target. Those that replace method, path or host are known: `MethodOverride`, `TargetOverride`.
  private static let reservedNames = Set(
    [
      "base-url", "client-ip", "destination", "early-data", "fastly-client-ip", "fly-client-ip", "front-end-https",
      "remote-addr", "true-client-ip", "wl-proxy-client-ip", "x-appengine-user-ip", "x-azure-clientip",
      "x-azure-socketip", "x-client-ip", "x-cluster-client-ip", "x-nginx-proxy", "x-originating-ip", "x-remote-addr",
      "x-remote-ip", "x-scheme", "x-url-scheme",
    ].map { Array($0.utf8) })

  /// The known names that say nothing of framing, identity, path, method or a cached representation.
  private static let free = FieldNameSet(.accept).with(.acceptEncoding).with(.acceptLanguage).with(.cacheControl)
    .with(.origin).with(.pragma).with(.referer).with(.userAgent)

  /// A name; nil if the text is no field name.
  package init?(_ text: String) {
    guard FieldName.isName(text) else { return nil }
    self.text = text
    known = FieldName(Array(text.utf8).span)
    plain = text.utf8.map(Self.plain)
  }

  /// True if no route may set or remove the field: framing, identity, path, method or the proxy itself depend on it.
  package var isReserved: Bool {
    if known != .other { return !Self.free.contains(known) }
    return Self.reservedNames.contains(plain) || Self.reservedPrefixes.contains { plain.starts(with: $0) }
  }

  /// True if the field can carry a credential that is sent in place of a token.
  package var carriesCredential: Bool { isAuthorization || known == .other && !isReserved }

  package var isAuthorization: Bool { known == .authorization }

  /// True if each program reads both names as one field: letter case does not count, and programs behind gateways that
  /// pass fields on as environment variables cannot tell `_` from `-`.
  package func isAlike(_ other: RouteFieldName) -> Bool { plain == other.plain }

  /// True if a line has the name, in any of these spellings.
  package func matches(_ line: FieldLine, _ bytes: Span<UInt8>) -> Bool {
    if known != .other { return line.known == known }
    guard line.known == .other, line.name.count == plain.count else { return false }
    let name = bytes.extracting(line.name)
    for index in name.indices where Self.plain(name[index]) != plain[index] { return false }
    return true
  }

  private static func plain(_ byte: UInt8) -> UInt8 {
    byte == ASCII.underscore ? ASCII.dash : ASCII.lowered(byte)
  }
}
