// Walks over a comma-separated field value whose elements hold no quoted commas.
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

  private func isListGap(_ byte: UInt8) -> Bool {
    byte == ASCII.comma || ByteClass.of(byte, ByteClass.whitespace)
  }
}

/// The elements of a list, one after the other, without white space around them and without empty ones.
struct ListElements: ~Escapable {
  private let bytes: Span<UInt8>
  private var index: Int
  private let end: Int

  /// The elements of the value at `range`.
  @_lifetime(copy bytes)
  init(_ bytes: Span<UInt8>, _ range: ByteRange) {
    self.bytes = bytes
    index = Int(range.start)
    end = Int(range.end)
  }

  /// The next element's place.
  @_lifetime(self: copy self)
  mutating func next() -> ByteRange? {
    while index < end {
      var start = index
      while index < end, bytes[index] != ASCII.comma { index += 1 }
      var stop = index
      if index < end { index += 1 }
      while start < stop, ByteClass.of(bytes[start], ByteClass.whitespace) { start += 1 }
      while stop > start, ByteClass.of(bytes[stop - 1], ByteClass.whitespace) { stop -= 1 }
      if stop > start { return ByteRange(from: start, to: stop) }
    }
    return nil
  }
}
