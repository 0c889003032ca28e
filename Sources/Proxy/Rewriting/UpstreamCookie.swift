// Rewrites a cookie of an upstream: for its route's paths, of the listener's host alone, never one of the sign-in
// pages.

internal import Bytes
internal import HTTP
internal import Routing

/// The rewriting of `Set-Cookie` (RFC 6265 §5.2), read as browsers read it: attributes end at a semicolon, the last one
/// counts.
enum UpstreamCookie {
  /// Appends the field for callers; nothing if the cookie would be one of the sign-in pages.
  static func write(_ value: Span<UInt8>, route: Route, into output: inout ByteBuffer) {
    var end = self.end(of: value, from: 0)
    if isOwn(value.extracting(first: end)) { return }
    output.append("Set-Cookie: ")
    output.append(value.extracting(first: end))
    var path: ByteRange?
    while end < value.count {
      let start = end + 1
      end = self.end(of: value, from: start)
      let attribute = value.extracting(start..<end)
      var equals = 0
      while equals < attribute.count, attribute[equals] != UInt8(ascii: "=") { equals += 1 }
      let name = attribute.extracting(attribute.trimmed(ByteRange(from: 0, to: equals)))
      if name.equalsIgnoringCase("path") {
        path = value.trimmed(ByteRange(from: min(start + equals + 1, end), to: end))
      } else if !name.equalsIgnoringCase("domain") {
        // A cookie without a domain is for its host alone.
        output.append(";")
        output.append(attribute)
      }
    }
    // On a route of all paths the browsers' default path is narrower.
    if path != nil || route.path.count > 1 {
      output.append("; Path=")
      writePath(value.extracting(path ?? ByteRange()), route: route, into: &output)
    }
    output.append("\r\n")
  }

  /// A path in the upstream's space becomes the route's; any other, and none, becomes the whole route.
  private static func writePath(_ path: Span<UInt8>, route: Route, into output: inout ByteBuffer) {
    let (base, whole) = (route.upstreamPath, route.path)
    if path.count > base.count, equal(path.extracting(first: base.count), base.span) {
      output.append(whole)
      output.append(path.extracting(droppingFirst: base.count))
    } else if whole.count == 1 {
      output.append("/")
    } else {
      // Without its slash: the route takes its path in both spellings, and cookies match whole segments.
      output.append(whole.span.extracting(droppingLast: 1))
    }
  }

  /// True if the pair before the attributes names a cookie of the sign-in pages. Without a name, browsers send the
  /// value alone, which then looks like one.
  private static func isOwn(_ pair: Span<UInt8>) -> Bool {
    var start = 0
    while start < pair.count, pair[start] == 0x20 || pair[start] == 0x09 || pair[start] == ASCII.equals { start += 1 }
    return SignInCookie.occurs(in: pair.extracting(droppingFirst: start))
  }

  private static func end(of value: Span<UInt8>, from start: Int) -> Int {
    var end = start
    while end < value.count, value[end] != UInt8(ascii: ";") { end += 1 }
    return end
  }
}
