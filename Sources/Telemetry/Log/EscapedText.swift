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
      if index == bytes.count { return }
      if bytes[index] < 0x80 {
        append(special: bytes[index])
        index += 1
      } else {
        let start = index
        while index < bytes.count, bytes[index] >= 0x80 { index += 1 }
        append(beyondASCII: bytes.extracting(start..<index))
      }
    }
  }

  private mutating func append(special byte: UInt8) {
    switch JSONEscape(byte) {
    case .none: append(byte)
    case .letter(let letter):
      append(UInt8(ascii: "\\"))
      append(letter)
    case .codePoint: append(codePoint: byte)
    }
  }

  /// Appends a run of bytes beyond ASCII, which few texts have.
  private mutating func append(beyondASCII run: Span<UInt8>) {
    for scalar in String(decoding: run.indices.map { run[$0] }, as: UTF8.self).unicodeScalars {
      if scalar.value < 0xA0 {
        append(codePoint: UInt8(scalar.value))
      } else {
        for byte in UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter { append(byte) }
      }
    }
  }

  private mutating func append(codePoint: UInt8) {
    append("\\u")
    append(hexadecimal: UInt64(codePoint), digits: 4)
  }
}
