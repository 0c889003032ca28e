// Owns the question whether a path segment is `.` or `..`, with its dots spelt either way.

import Bytes

/// What a segment means to dot-segment removal (RFC 3986 §5.2.4).
enum DotSegment {
  case none
  case current
  case parent

  /// Reads a segment, raw or percent-encoded.
  init(_ segment: Span<UInt8>) {
    self = .none
    if segment.count == 0 || segment.count > 6 { return }
    var dots = 0
    var index = 0
    while index < segment.count {
      if segment[index] == ASCII.dot {
        index += 1
      } else if segment.count - index >= 3, segment[index] == ASCII.percent, segment[index + 1] == 0x32,
        segment[index + 2] | 0x20 == 0x65
      {
        index += 3
      } else {
        return
      }
      dots += 1
    }
    if dots == 1 { self = .current } else if dots == 2 { self = .parent }
  }
}
