// Owns what a path comes to for a reader who decodes percent-encodings until nothing changes.

/// Octets as such a reader sees them. It takes a percent sign without two digits behind it as it stands, so that what it makes of
/// `%25%2532e` is a dot in the end.
enum DeepEncoding {
  /// An octet, and how many decodings it took to see it.
  struct Octet {
    var byte: UInt8
    var depth: Int
  }

  /// The octets of `text` in the end. One pass: an encoding has no other one inside, so their order does not matter.
  static func octets(of text: Span<UInt8>) -> [Octet] {
    var octets: [Octet] = []
    octets.reserveCapacity(text.count)
    for index in text.indices {
      octets.append(Octet(byte: text[index], depth: 0))
      // What an encoding stands for can be the end of another one.
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
    guard sign.byte == ASCII.percent, let high = ByteClass.hexadecimalValue(first.byte),
      let low = ByteClass.hexadecimalValue(second.byte)
    else { return nil }
    return Octet(byte: high << 4 | low, depth: max(sign.depth, first.depth, second.depth) + 1)
  }

  /// What a segment hides from a reader who decodes once; nil: nothing. Its unreserved characters are decoded.
  static func hidden(in segment: Span<UInt8>) -> PathError? {
    let octets = octets(of: segment)
    var partStart = 0
    var previous: UInt8 = 0
    for (index, octet) in octets.enumerated() {
      switch octet.byte {
      case ASCII.dot, ASCII.slash, ASCII.backslash:
        if octet.depth > 1 { return .doubleEncoding }
      case 0xC0, 0xC1: return .overlong
      case 0x80..<0x90 where previous == 0xF0, 0x80..<0xA0 where previous == 0xE0: return .overlong
      default: break
      }
      previous = octet.byte
      // A slash ends a segment, a semicolon what is not parameters, and NUL a text in C.
      if octet.byte == ASCII.slash || octet.byte == ASCII.semicolon || octet.byte == 0 {
        if areDots(octets[partStart..<index]) { return .hiddenDotSegment }
        if octet.byte == ASCII.slash { partStart = index + 1 }
      }
    }
    return partStart > 0 && areDots(octets[partStart...]) ? .hiddenDotSegment : nil
  }

  private static func areDots(_ octets: ArraySlice<Octet>) -> Bool {
    (octets.count == 1 || octets.count == 2) && octets.allSatisfy { $0.byte == ASCII.dot }
  }

  /// Whether something is left of a segment when slashes in it are taken for slashes and parameters are cut off.
  static func isSolid(_ segment: Span<UInt8>) -> Bool {
    guard let first = octets(of: segment).first(where: { $0.byte != ASCII.slash }) else { return false }
    return first.byte != ASCII.semicolon && first.byte != 0
  }
}
