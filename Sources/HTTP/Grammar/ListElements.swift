// Walks over a field value that commas or semicolons separate, none of them in quotes.
//
//     #element => [ element ] *( OWS "," OWS [ element ] )                                (RFC 9110 §5.6.1.2)

import Bytes

extension Span where Element == UInt8 {
  /// The range of a list's value without the empty elements at its ends, which are no elements (RFC 9110 §5.6.1.2).
  public func trimmedList(_ range: ByteRange) -> ByteRange {
    var (start, end) = (Int(range.start), Int(range.end))
    while start < end, isListGap(self[start]) { start += 1 }
    while end > start, isListGap(self[end - 1]) { end -= 1 }
    return ByteRange(from: start, to: end)
  }

  /// A range without white space around it.
  package func trimmed(_ range: ByteRange) -> ByteRange {
    var (start, end) = (Int(range.start), Int(range.end))
    while start < end, ByteClass.of(self[start], ByteClass.whitespace) { start += 1 }
    while end > start, ByteClass.of(self[end - 1], ByteClass.whitespace) { end -= 1 }
    return ByteRange(from: start, to: end)
  }

  private func isListGap(_ byte: UInt8) -> Bool {
    byte == ASCII.comma || ByteClass.of(byte, ByteClass.whitespace)
  }
}

/// The elements of a list, one after the other, without white space around them and without empty ones.
package struct ListElements: ~Escapable {
  private let bytes: Span<UInt8>
  private let separator: UInt8
  private var index: Int
  private let end: Int

  /// The elements of the value at `range`.
  @_lifetime(copy bytes)
  package init(_ bytes: Span<UInt8>, _ range: ByteRange, separator: UInt8 = ASCII.comma) {
    self.bytes = bytes
    self.separator = separator
    index = Int(range.start)
    end = Int(range.end)
  }

  /// The next element's place.
  @_lifetime(self: copy self)
  package mutating func next() -> ByteRange? {
    while index < end {
      let start = index
      while index < end, bytes[index] != separator { index += 1 }
      let element = bytes.trimmed(ByteRange(from: start, to: index))
      if index < end { index += 1 }
      if !element.isEmpty { return element }
    }
    return nil
  }
}
