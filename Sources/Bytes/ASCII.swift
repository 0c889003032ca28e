// Named delimiter bytes, and the meaning of a single byte: a letter's lower case, a hexadecimal digit's value.
// Everything is inlined into other modules (`@usableFromInline` on the type is what makes the optimiser see `package`
// members there), since parsers call it for each byte.

/// Single bytes of ASCII.
@usableFromInline
package enum ASCII {
  @usableFromInline package static let tab: UInt8 = 0x09
  @usableFromInline package static let lineFeed: UInt8 = 0x0A
  @usableFromInline package static let carriageReturn: UInt8 = 0x0D
  @usableFromInline package static let space: UInt8 = 0x20
  @usableFromInline package static let quote: UInt8 = 0x22
  @usableFromInline package static let hash: UInt8 = 0x23
  @usableFromInline package static let percent: UInt8 = 0x25
  @usableFromInline package static let asterisk: UInt8 = 0x2A
  @usableFromInline package static let comma: UInt8 = 0x2C
  @usableFromInline package static let dash: UInt8 = 0x2D
  @usableFromInline package static let dot: UInt8 = 0x2E
  @usableFromInline package static let slash: UInt8 = 0x2F
  @usableFromInline package static let zero: UInt8 = 0x30
  @usableFromInline package static let colon: UInt8 = 0x3A
  @usableFromInline package static let semicolon: UInt8 = 0x3B
  @usableFromInline package static let equals: UInt8 = 0x3D
  @usableFromInline package static let question: UInt8 = 0x3F
  @usableFromInline package static let at: UInt8 = 0x40
  @usableFromInline package static let openBracket: UInt8 = 0x5B
  @usableFromInline package static let backslash: UInt8 = 0x5C
  @usableFromInline package static let closeBracket: UInt8 = 0x5D
  @usableFromInline package static let underscore: UInt8 = 0x5F

  /// `byte` with an ASCII capital turned into a small letter.
  @inlinable @inline(__always)
  package static func lowered(_ byte: UInt8) -> UInt8 {
    byte &- 0x41 < 26 ? byte | 0x20 : byte
  }

  /// True for a letter or a digit.
  @inlinable @inline(__always)
  package static func isAlphanumeric(_ byte: UInt8) -> Bool { byte &- 0x30 < 10 || (byte | 0x20) &- 0x61 < 26 }

  /// The digit of a number below 16, in lower case.
  @inlinable @inline(__always)
  package static func hexadecimalDigit(_ value: UInt8) -> UInt8 { value < 10 ? 0x30 &+ value : 0x57 &+ value }

  /// The digits of bytes, in lower case.
  package static func hexadecimalDigits(of bytes: [UInt8]) -> [UInt8] {
    bytes.flatMap { [hexadecimalDigit($0 >> 4), hexadecimalDigit($0 & 0xF)] }
  }

  /// The eight digits of a number in lower case, the first one in the highest byte: all of them at once.
  package static func hexadecimalDigits(_ value: UInt32) -> UInt64 {
    var digits = UInt64(value)
    digits = (digits << 16 | digits) & 0x0000_FFFF_0000_FFFF
    digits = (digits << 8 | digits) & 0x00FF_00FF_00FF_00FF
    digits = (digits << 4 | digits) & 0x0F0F_0F0F_0F0F_0F0F
    // 1 in each byte of 10 and more, to which 6 adds a sixteen.
    let letters = (digits &+ 0x0606_0606_0606_0606) >> 4 & 0x0101_0101_0101_0101
    return digits &+ 0x3030_3030_3030_3030 &+ letters &* 0x27
  }

  /// The digit of a number below 16, in upper case, as percent-encoding has it (RFC 3986 §2.1).
  @inlinable @inline(__always)
  package static func upperHexadecimalDigit(_ value: UInt8) -> UInt8 { value < 10 ? 0x30 &+ value : 0x37 &+ value }

  /// The number of a HEXDIG; `nil` for any other byte.
  @inlinable @inline(__always)
  package static func hexadecimalValue(_ byte: UInt8) -> UInt8? {
    if byte &- 0x30 < 10 { return byte &- 0x30 }
    let letter = byte | 0x20
    return letter &- 0x61 < 6 ? letter &- 0x57 : nil
  }
}
