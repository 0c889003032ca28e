import Bytes

/// The octets of a path for a reader that decodes percent-encodings until nothing changes. It leaves a percent sign
/// without two digits as it is, so it finds a dot in `%25%2532e`.
enum DeepEncoding {
  /// An octet, and the number of decodings needed to see it.
  struct Octet {
    var byte: UInt8
    var depth: Int

    /// True if a reader that decodes nothing but unreserved characters does not see it.
    var isHidden: Bool { depth > 1 || DeepEncoding.isDropped(byte) }
  }

  /// The fully decoded octets of `text`. One pass: an encoding has no other one inside, so their order does not matter.
  static func octets(of text: Span<UInt8>) -> [Octet] {
    var octets: [Octet] = []
    octets.reserveCapacity(text.count)
    for index in text.indices {
      octets.append(Octet(byte: text[index], depth: 0))
      // A decoded octet can be the end of another encoding.
      while let octet = encoded(atEndOf: octets) {
        octets.removeLast(3)
        octets.append(octet)
      }
    }
    return octets
  }

  private static func encoded(atEndOf octets: [Octet]) -> Octet? {
    guard octets.count >= 3 else { return nil }
    let (sign, first, second) = (octets[octets.count - 3], octets[octets.count - 2], octets[octets.count - 1])
    guard sign.byte == ASCII.percent, let high = ASCII.hexadecimalValue(first.byte),
      let low = ASCII.hexadecimalValue(second.byte)
    else { return nil }
    return Octet(byte: high << 4 | low, depth: max(sign.depth, first.depth, second.depth) + 1)
  }

  /// The hidden octet of a segment that a reader would miss who decodes once; nil: none. Its unreserved characters are
  /// decoded.
  static func hidden(in segment: Span<UInt8>, allowing allowed: EncodedPath = []) -> PathError? {
    let octets = octets(of: segment)
    var partStart = 0
    var previous: UInt8 = 0
    for (index, octet) in octets.enumerated() {
      switch octet.byte {
      case ASCII.dot, ASCII.slash, ASCII.backslash:
        if octet.depth > 1, !allowed.contains(.percent) { return .doubleEncoding }
      case 0xC0, 0xC1: return .overlong
      case 0x80..<0x90 where previous == 0xF0, 0x80..<0xA0 where previous == 0xE0: return .overlong
      default: break
      }
      previous = octet.byte
      // A slash ends a segment, a semicolon begins parameters, a query or fragment ends the path, and NUL ends a text
      // in C.
      let isSlash = octet.byte == ASCII.slash || octet.byte == ASCII.backslash
      let endsPath = octet.byte == ASCII.question || octet.byte == ASCII.hash || octet.byte == 0
      if isSlash || endsPath || octet.byte == ASCII.semicolon {
        if areDots(octets[partStart..<index]) { return .hiddenDotSegment }
        if isSlash { partStart = index + 1 }
      }
    }
    return areDots(octets[partStart...]) && (partStart > 0 || octets.contains(where: \.isHidden))
      ? .hiddenDotSegment : nil
  }

  // True if there is nothing but one or two dots, and bytes that some programs drop.
  private static func areDots(_ octets: ArraySlice<Octet>) -> Bool {
    let dots = octets.count { $0.byte == ASCII.dot }
    return (dots == 1 || dots == 2) && octets.allSatisfy { $0.byte == ASCII.dot || isDropped($0.byte) }
  }

  /// True if some programs drop a byte: tabs and line ends (WHATWG URL §4.4).
  static func isDropped(_ byte: UInt8) -> Bool {
    byte == ASCII.tab || byte == ASCII.lineFeed || byte == ASCII.carriageReturn
  }

  /// True if something is left of a segment when slashes in it are taken for slashes and parameters are cut off.
  static func isSolid(_ segment: Span<UInt8>) -> Bool {
    let first = octets(of: segment).first {
      $0.byte != ASCII.slash && $0.byte != ASCII.backslash && !isDropped($0.byte)
    }
    guard let first else { return false }
    return first.byte != ASCII.semicolon && first.byte != 0
  }
}

/// The meaning of a segment for dot-segment removal (RFC 3986 §5.2.4).
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
