// Makes any bytes the inside of a quoted string in a log: valid UTF-8, no control characters, no bare quote. The
// escapes are JSON's (RFC 8259 §7), in text records too.

internal import Bytes

extension ByteBuffer {
  /// Appends bytes as the inside of a JSON string. Control characters (C0, DEL, C1) become escapes; ill-formed UTF-8
  /// becomes U+FFFD, one for each maximal run (Unicode 16 §3.9, as Swift's own decoder does).
  @inline(never)
  mutating func append(escaping bytes: Span<UInt8>) {
    var index = 0
    while index < bytes.count {
      let start = index
      while index < bytes.count, JSONEscape.isPlain(bytes[index]) { index += 1 }
      if index > start { append(bytes.extracting(start..<index)) }
      if index < bytes.count { index += append(special: bytes, at: index) }
    }
  }

  /// Appends the sequence at `index`, which is not plain ASCII, and returns its length.
  private mutating func append(special bytes: Span<UInt8>, at index: Int) -> Int {
    let byte = bytes[index]
    guard byte < 0x80 else {
      let (length, isValid) = utf8Sequence(bytes, at: index)
      if !isValid {
        append("\u{FFFD}")
      } else if byte == 0xC2, bytes[index + 1] < 0xA0 {
        append(codePoint: bytes[index + 1])
      } else {
        append(bytes.extracting(index..<(index + length)))
      }
      return length
    }
    switch JSONEscape(byte) {
    case .none: append(byte)
    case .letter(let letter):
      append(UInt8(ascii: "\\"))
      append(letter)
    case .codePoint: append(codePoint: byte)
    }
    return 1
  }

  private mutating func append(codePoint: UInt8) {
    append("\\u")
    append(hexadecimal: UInt64(codePoint), digits: 4)
  }
}

/// The length of the well-formed sequence at `index`, or of the ill-formed run to be replaced (Unicode table 3-7).
private func utf8Sequence(_ bytes: Span<UInt8>, at index: Int) -> (length: Int, isValid: Bool) {
  let lead = bytes[index]
  let second: ClosedRange<UInt8>
  let length: Int
  switch lead {
  case 0xC2...0xDF: (length, second) = (2, 0x80...0xBF)
  case 0xE0: (length, second) = (3, 0xA0...0xBF)
  case 0xED: (length, second) = (3, 0x80...0x9F)
  case 0xE1...0xEF: (length, second) = (3, 0x80...0xBF)
  case 0xF0: (length, second) = (4, 0x90...0xBF)
  case 0xF1...0xF3: (length, second) = (4, 0x80...0xBF)
  case 0xF4: (length, second) = (4, 0x80...0x8F)
  default: return (1, false)
  }
  for offset in 1..<length {
    let allowed = offset == 1 ? second : 0x80...0xBF
    guard index + offset < bytes.count, allowed.contains(bytes[index + offset]) else { return (offset, false) }
  }
  return (length, true)
}
