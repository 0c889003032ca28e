// Owns where a browser may be sent when its sign-in is over: back into this listener, and nowhere else.

internal import Bytes
internal import HTTP

/// A path, perhaps with a query, of the listener's own.
struct ReturnPath: Sendable, Hashable {
  /// As it stands behind the listener's origin.
  let text: String

  /// Reads an address to return to; nil where it could lead elsewhere. It has to begin with one slash: two, or one and
  /// a backslash, begin another host in browsers, which also drop tabs and line ends first (WHATWG URL §4.4).
  init?(_ text: String) {
    let bytes = Array(text.utf8)
    guard bytes.first == UInt8(ascii: "/"), bytes.count <= 2048,
      bytes.allSatisfy({ (0x21...0x7E).contains($0) && $0 != UInt8(ascii: "\\") && $0 != UInt8(ascii: "#") })
    else { return nil }
    if bytes.count > 1, bytes[1] == UInt8(ascii: "/") { return nil }
    // Back to these pages would go round in circles. Browsers resolve dot segments, encoded ones too, before they send
    // a path.
    var normal = ByteBuffer(capacity: 64)
    let path = Array(text.prefix { $0 != "?" }.utf8)
    guard SignInPath(path.span, normal: &normal) == .routes else { return nil }
    self.text = text
  }
}
