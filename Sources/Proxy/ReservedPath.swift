// Decides if a path leads to a route or to what the listener itself answers, by the path's normal form, as for routes.

internal import Bytes
internal import HTTP

/// The target of a path of a listener with sign-in pages, or one that hands out tokens.
enum ReservedPath: Sendable, Hashable {
  case routes
  /// Below `/.bearer`.
  case reserved
  /// Some servers take the path for a reserved one, others do not: `//.bearer/x`, `/.bearer;a/x`.
  case ambiguous
  /// The path has no normal form.
  case refused

  /// Judges a path without its query. `normal` is empty, and receives the normal form if that differs.
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
    if path.startsIgnoringCase(with: name),
      path.count == length || path[length] == UInt8(ascii: "/")
    {
      self = .reserved
    } else if !PathReadings.agree(on: path), PathReadings.all(of: path).contains(where: Self.beginsReserved) {
      self = .ambiguous
    } else {
      self = .routes
    }
  }

  private static func beginsReserved(_ segments: [[UInt8]]) -> Bool {
    guard let first = segments.first else { return false }
    return first.span.equalsIgnoringCase(".bearer")
  }

  /// True if any reader could see a segment that begins with a dot. Most paths have none.
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
