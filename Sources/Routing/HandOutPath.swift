internal import Bytes
package import HTTP

/// The route that a request for a token names: `/.bearer/authorize/ROUTE`, with anything behind it, or
/// `/.bearer/authorize` alone.
package enum HandOutPath: Sendable, Hashable {
  /// The route by its name, a range of the path.
  case named(ByteRange)
  /// The route that takes the request which the engine describes in its fields.
  case described
  /// The path behind the name leads out of it for some reader, so that the name may be another request's.
  case ambiguous

  /// Reads a path as it was sent, without its query; nil if it is not for this endpoint. It is not normalised first:
  /// an engine that rewrites paths must not lead a caller's path to another route's name.
  package init?(_ path: Span<UInt8>) {
    let root: StaticString = "/.bearer/authorize"
    let length = root.utf8CodeUnitCount
    guard path.count >= length, path.extracting(first: length).equalsIgnoringCase(root) else { return nil }
    if path.count == length {
      self = .described
      return
    }
    guard path[length] == ASCII.slash else { return nil }
    var end = length + 1
    while end < path.count, path[end] != ASCII.slash { end += 1 }
    let rest = path.extracting(droppingFirst: end)
    self = NormalPath.staysBelow(rest) ? .named(ByteRange(from: length + 1, to: end)) : .ambiguous
  }
}
