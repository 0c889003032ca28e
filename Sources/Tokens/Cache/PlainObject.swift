// The shape of nearly every entry of a cache: an object of strings in which nothing is escaped. JSONReader reads all
// other objects and reports their mistakes.

/// Finds the members of an object without copying them.
enum PlainObject {
  /// A member's place in the text, without the quotes; `value` is nil for null.
  struct Member {
    var name: Range<Int>
    var value: Range<Int>?
  }

  /// A string whose end is known already.
  struct Known {
    var start: Int
    var end: Int

    /// No string.
    static let none = Known(start: -1, end: -1)
  }

  /// Visits the members of the object whose bracket is at `start`; returns the place behind it, nil if it is not plain:
  /// not strings or null, not ASCII, something escaped, or something wrong.
  @inline(__always)
  static func scan(_ bytes: Span<UInt8>, from start: Int, known: Known = .none, _ visit: (Member) -> Void) -> Int? {
    var index = skipWhiteSpace(bytes, from: start + 1)
    if byte(bytes, index) == UInt8(ascii: "}") { return index + 1 }
    while true {
      guard byte(bytes, index) == UInt8(ascii: "\""), let nameEnd = endOfString(bytes, from: index + 1) else {
        return nil
      }
      let name = index + 1..<nameEnd
      index = skipWhiteSpace(bytes, from: nameEnd + 1)
      guard byte(bytes, index) == UInt8(ascii: ":") else { return nil }
      index = skipWhiteSpace(bytes, from: index + 1)
      if byte(bytes, index) == UInt8(ascii: "\"") {
        let first = index + 1
        guard let end = first == known.start ? known.end : endOfString(bytes, from: first) else { return nil }
        visit(Member(name: name, value: first..<end))
        index = end + 1
      } else {
        guard isNull(bytes, at: index) else { return nil }
        visit(Member(name: name, value: nil))
        index += 4
      }
      index = skipWhiteSpace(bytes, from: index)
      let next = byte(bytes, index)
      if next == UInt8(ascii: "}") { return index + 1 }
      guard next == UInt8(ascii: ",") else { return nil }
      index = skipWhiteSpace(bytes, from: index + 1)
    }
  }

  /// The byte at a place, 0 behind the end.
  @inline(__always)
  private static func byte(_ bytes: Span<UInt8>, _ index: Int) -> UInt8 {
    index < bytes.count ? bytes[index] : 0
  }

  @inline(__always)
  private static func isNull(_ bytes: Span<UInt8>, at index: Int) -> Bool {
    index + 4 <= bytes.count && bytes[index] == UInt8(ascii: "n") && bytes[index + 1] == UInt8(ascii: "u")
      && bytes[index + 2] == UInt8(ascii: "l") && bytes[index + 3] == UInt8(ascii: "l")
  }

  /// The place of the first byte that is no white space.
  @inline(__always)
  private static func skipWhiteSpace(_ bytes: Span<UInt8>, from start: Int) -> Int {
    var index = start
    while index < bytes.count {
      switch bytes[index] {
      case 0x20, 0x09, 0x0A, 0x0D: index += 1
      default: return index
      }
      while index + 8 <= bytes.count, word(bytes, index) == 0x2020_2020_2020_2020 { index += 8 }
    }
    return index
  }

  /// The place of the quote that ends a string; nil if something comes first that is not plain ASCII.
  @inline(__always)
  private static func endOfString(_ bytes: Span<UInt8>, from start: Int) -> Int? {
    var index = start
    while index + 8 <= bytes.count {
      let word = word(bytes, index)
      // The highest bit of each byte: set if the byte is 0x80 or more, a quote, a backslash or less than a space.
      // Borrows can set others only behind the first that is right.
      let quote = word ^ 0x2222_2222_2222_2222
      let slash = word ^ 0x5C5C_5C5C_5C5C_5C5C
      let found =
        (word | ((quote &- 0x0101_0101_0101_0101) & ~quote) | ((slash &- 0x0101_0101_0101_0101) & ~slash)
          | ((word &- 0x2020_2020_2020_2020) & ~word)) & 0x8080_8080_8080_8080
      if found != 0 {
        index += found.trailingZeroBitCount / 8
        return bytes[index] == UInt8(ascii: "\"") ? index : nil
      }
      index += 8
    }
    while index < bytes.count {
      let byte = bytes[index]
      if byte == UInt8(ascii: "\"") { return index }
      guard byte >= 0x20, byte < 0x80, byte != UInt8(ascii: "\\") else { return nil }
      index += 1
    }
    return nil
  }

  /// Eight bytes, the first one lowest. They must be there.
  @inline(__always)
  static func word(_ bytes: Span<UInt8>, _ index: Int) -> UInt64 {
    // In bounds: every caller compares with the count first.
    UInt64(littleEndian: unsafe bytes.bytes.unsafeLoadUnaligned(fromUncheckedByteOffset: index, as: UInt64.self))
  }
}
