// Owns whether a path leads to the sign-in pages or to a route. Decided on the path's normal form, as routes are
// chosen.

internal import Bytes
internal import HTTP

/// Where a path of a listener with sign-in pages leads.
enum SignInPath: Sendable, Hashable {
  /// To a route.
  case routes
  /// To the pages.
  case pages
  /// Some servers take the path for one of the pages, others do not: `//.bearer/x`, `/.bearer;a/x`.
  case ambiguous
  /// The path has no normal form.
  case refused

  /// Judges a path without its query. `normal` is empty, and receives the normal form where that differs.
  init(_ path: Span<UInt8>, normal: inout ByteBuffer) {
    guard Self.needsJudging(path) else {
      self = .routes
      return
    }
    switch NormalPath.normalise(path, into: &normal) {
    case .alreadyNormal: self.init(normal: path)
    case .written: self.init(normal: normal.bytes)
    case .refused: self = .refused
    }
  }

  private init(normal path: Span<UInt8>) {
    let name: StaticString = "/.bearer"
    let length = name.utf8CodeUnitCount
    if path.count >= length, path.extracting(first: length).equalsIgnoringCase(name),
      path.count == length || path[length] == UInt8(ascii: "/")
    {
      self = .pages
    } else if !PathReadings.agree(on: path), PathReadings.all(of: path).contains(where: Self.beginsWithPages) {
      self = .ambiguous
    } else {
      self = .routes
    }
  }

  private static func beginsWithPages(_ segments: [[UInt8]]) -> Bool {
    guard let first = segments.first else { return false }
    return first.span.equalsIgnoringCase(".bearer")
  }

  /// Whether any reader could see a segment that begins with a dot. Most paths have none.
  private static func needsJudging(_ path: Span<UInt8>) -> Bool {
    var previous: UInt8 = 0
    for index in path.indices {
      let byte = path[index]
      if byte == UInt8(ascii: "%") || byte == UInt8(ascii: ";") || byte == UInt8(ascii: "\\") { return true }
      if previous == UInt8(ascii: "/"), byte == UInt8(ascii: ".") { return true }
      previous = byte
    }
    return false
  }
}
