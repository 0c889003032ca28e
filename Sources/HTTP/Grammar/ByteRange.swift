// A place inside a message: an offset and a length, relative to the first byte of the parsed head. It keeps nothing
// alive and checks nothing until it is used on bytes.

import Bytes

/// A run of bytes inside a head, counted from the head's first byte.
public struct ByteRange: Sendable, Hashable {
  /// Offset of the first byte.
  public var start: UInt32
  /// Length in bytes.
  public var count: UInt32

  /// The range of no bytes at the beginning.
  @inlinable public init() {
    start = 0
    count = 0
  }

  /// The range from `start` up to, not including, `end`.
  @inlinable public init(from start: Int, to end: Int) {
    self.start = UInt32(truncatingIfNeeded: start)
    self.count = UInt32(truncatingIfNeeded: end - start)
  }

  /// The range in the whole, if this one counts from the first byte of `outer`.
  func within(_ outer: ByteRange) -> ByteRange {
    ByteRange(from: Int(outer.start + start), to: Int(outer.start + end))
  }

  /// Offset of the first byte after the range.
  @inlinable public var end: UInt32 { start + count }
  /// True if the range holds no byte.
  @inlinable public var isEmpty: Bool { count == 0 }
  /// The offsets as an index range.
  @inlinable public var indices: Range<Int> { Int(start)..<Int(start) + Int(count) }
}

extension Span where Element == UInt8 {
  /// The bytes of a range. Traps if the range is outside of these bytes.
  @_lifetime(copy self)
  @inlinable public func extracting(_ range: ByteRange) -> Span<UInt8> {
    extracting(range.indices)
  }

  /// Compares two runs of bytes, ignoring the case of ASCII letters.
  public func equalsIgnoringCase(_ other: Span<UInt8>) -> Bool {
    guard count == other.count else { return false }
    for index in 0..<count where ASCII.lowered(self[index]) != ASCII.lowered(other[index]) { return false }
    return true
  }

  /// Compares with `literal`, ignoring the case of ASCII letters; `literal` is in lower case.
  public func equalsIgnoringCase(_ literal: StaticString) -> Bool {
    guard count == literal.utf8CodeUnitCount else { return false }
    for index in 0..<count {
      let expected = unsafe literal.utf8Start[index]
      if ASCII.lowered(self[index]) != expected { return false }
    }
    return true
  }

  /// True if the bytes are those of `literal`.
  package func equals(_ literal: StaticString) -> Bool {
    guard count == literal.utf8CodeUnitCount else { return false }
    for index in 0..<count where unsafe self[index] != literal.utf8Start[index] { return false }
    return true
  }

  /// True if the bytes begin with `literal`.
  package func starts(with literal: StaticString) -> Bool {
    count >= literal.utf8CodeUnitCount && extracting(first: literal.utf8CodeUnitCount).equals(literal)
  }

  /// True if the bytes begin with `literal`, which is in lower case, ignoring the case of ASCII letters.
  public func startsIgnoringCase(with literal: StaticString) -> Bool {
    count >= literal.utf8CodeUnitCount && extracting(first: literal.utf8CodeUnitCount).equalsIgnoringCase(literal)
  }

  /// The number that the bytes spell in decimal; nil if they are not digits alone, or it needs more than 64 bits.
  package var decimal: UInt64? {
    var number: UInt64 = 0
    for index in indices {
      let digit = self[index] &- ASCII.zero
      let (scaled, isOver) = number.multipliedReportingOverflow(by: 10)
      let (sum, isOverToo) = scaled.addingReportingOverflow(UInt64(digit))
      if digit > 9 || isOver || isOverToo { return nil }
      number = sum
    }
    return isEmpty ? nil : number
  }

  /// A copy of the bytes; not for the request path.
  public var array: [UInt8] { indices.map { self[$0] } }

  /// The bytes as text; not for the request path.
  public var text: String { String(decoding: array, as: UTF8.self) }
}

/// True if two runs have the same bytes.
@inlinable @inline(__always)
public func equal(_ left: Span<UInt8>, _ right: Span<UInt8>) -> Bool {
  guard left.count == right.count else { return false }
  for index in left.indices where left[index] != right[index] { return false }
  return true
}
