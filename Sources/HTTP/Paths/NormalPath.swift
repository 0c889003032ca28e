// The normal form of a request path: the one spelling by which a route is chosen and that can be sent on. A path
// that two servers could read differently has none.
//
// The rules, in the order of RFC 3986 §6.2.2:
//   - percent-encoded unreserved characters are decoded, the digits of all other encodings are upper case;
//   - `.` and `..` segments are removed; climbing above the root is refused;
//   - an encoded slash (`%2F`) is data and stays as it is. Some servers decode it before they look for dot segments, so
//     a dot segment that appears when it is read as a slash is refused;
//   - empty segments (`//`) stay, since they are segments like any other (RFC 3986 §3.3). Some servers merge them; no
//     spelling of that climbs, because `..` right behind an empty segment is refused;
//   - backslashes, controls, overlong UTF-8, double encodings of `.`, `/` and `\`, and dot segments with parameters are
//     refused, in every spelling; some of them pass percent-encoded if a route allows it (`EncodedPath`).

public import Bytes

/// The result of normalising a path.
public enum NormalPathResult: Sendable, Hashable {
  /// The path is its own normal form; nothing was written.
  case alreadyNormal
  /// The normal form was appended to the buffer.
  case written
  /// The path is to be answered with 400; nothing was written.
  case refused(PathError)
}

/// The rule that gives a path its normal form.
public enum NormalPath {
  /// Finds the normal form of a path without its query. An empty path becomes `/`. Unless `removesEncodedSlashes`, `..`
  /// behind a segment with an encoded slash is refused: a reader that takes that for a slash has another path then,
  /// which matters if there are several routes. The characters of `allowing` stay encoded instead of being refused; dot
  /// segments beside them are refused all the same.
  public static func normalise(
    _ path: Span<UInt8>, into buffer: inout ByteBuffer, removesEncodedSlashes: Bool = true, allowing: EncodedPath = []
  ) -> NormalPathResult {
    if isPlain(path) { return .alreadyNormal }
    let start = buffer.count
    var writer = NormalPathWriter(start: start, removesEncodedSlashes: removesEncodedSlashes, allowing: allowing)
    if let error = writer.write(path, into: &buffer) {
      buffer.truncate(to: start)
      return .refused(error)
    }
    if !equal(buffer.bytes.extracting(start..<buffer.count), path) { return .written }
    buffer.truncate(to: start)
    return .alreadyNormal
  }

  /// True if `suffix`, the part of a path behind a prefix that ends with `/`, stays below that prefix wherever a
  /// recipient removes dot segments, be it before or after it decodes `%2F` or merges slashes. If `normalise` did not
  /// refuse the path, such a suffix can be sent on as the caller wrote it.
  public static func staysBelow(_ suffix: Span<UInt8>) -> Bool {
    // A segment that is empty to some reader does not count, so that the depth is the least of all readings.
    var depth = 0
    var index = 0
    while index <= suffix.count {
      let start = index
      while index < suffix.count, suffix[index] != ASCII.slash { index += 1 }
      switch DotSegment(suffix.extracting(start..<index)) {
      case .parent:
        depth -= 1
        if depth < 0 { return false }
      case .none: if isSolid(suffix.extracting(start..<index)) { depth += 1 }
      case .current: break
      }
      index += 1
    }
    return true
  }

  // True if something is left of a segment when encoded slashes are taken for slashes and parameters are cut off.
  static func isSolid(_ segment: Span<UInt8>) -> Bool {
    var index = 0
    while index < segment.count, segment[index] != ASCII.semicolon {
      guard segment[index] == ASCII.percent, index + 2 < segment.count else { return true }
      switch (segment[index + 1], segment[index + 2] | 0x20) {
      case (0x32, 0x66), (0x35, 0x63): index += 3  // %2F, and %5C, which is taken for it
      case (0x30, 0x39), (0x30, 0x61), (0x30, 0x64): index += 3  // %09, %0A, %0D, which some drop
      case (0x33, 0x62): return false  // %3B, a semicolon
      case (0x32, 0x35): return DeepEncoding.isSolid(segment)  // %25, a percent sign
      default: return true
      }
    }
    return false
  }

  // True if no rule applies to the path: most paths.
  private static func isPlain(_ path: Span<UInt8>) -> Bool {
    guard path.count > 0, path[0] == ASCII.slash else { return false }
    var previous = ASCII.slash
    for index in 1..<path.count {
      let byte = path[index]
      if byte == ASCII.slash {
        previous = byte
        continue
      }
      if !ByteClass.of(byte, ByteClass.segment) || byte == ASCII.dot && previous == ASCII.slash { return false }
      previous = byte
    }
    return true
  }
}

/// The reason why a request path has no normal form that every recipient would agree on. It completes "ambiguous:".
public enum PathError: String, Error, Sendable, Hashable, CaseIterable {
  case notAbsolute = "it does not begin with a slash"
  case percentEncoding = "a percent sign is not followed by two hexadecimal digits"
  /// Raw or percent-encoded.
  case control = "it holds a control byte"
  /// Raw or percent-encoded: some servers take it for a slash.
  case backslash = "it holds a backslash"
  case climbsAboveRoot = "it climbs above the root"
  /// Next to an encoded slash, behind an empty segment, or with parameters (`..;x`).
  case hiddenDotSegment = "it holds a dot segment that only some servers see"
  /// A dot, slash or backslash.
  case doubleEncoding = "a dot or slash is encoded more than once"
  /// Percent-encoded, it is another spelling of an ASCII character.
  case overlong = "it holds an overlong UTF-8 sequence"
  case otherRoute = "some servers take it for a path of another route"
}
