/// A text that is no base64url.
public enum Base64URLError: Error, Sendable, Hashable {
  /// A character outside `A–Z a–z 0–9 - _` at this place, counted in bytes from 0.
  case character(at: Int)
  /// A length that no number of bytes encodes to.
  case length
  /// Bits behind the last byte that are not zero: a second spelling of the same bytes.
  case trailingBits
}

/// base64url without padding (RFC 7515 §2, RFC 4648 §5). Other alphabets, padding and white space are refused.
public enum Base64URL {
  /// The text form of `bytes`.
  public static func encode(_ bytes: [UInt8]) -> String {
    String(decoding: Base64.letters(of: bytes, marks: "-_"), as: UTF8.self)
  }

  /// The bytes of `text`. Exactly one text decodes to given bytes.
  public static func decode(_ text: some StringProtocol) throws(Base64URLError) -> [UInt8] {
    let other = text.utf8.enumerated().first { _, letter in
      Base64.value(of: letter) == nil || letter == UInt8(ascii: "+") || letter == UInt8(ascii: "/")
    }
    if let other { throw .character(at: other.offset) }
    return try Base64.bytes(of: text.utf8)
  }
}

/// Base64 with padding (RFC 4648 §4).
package enum Base64 {
  /// The text form of `bytes`.
  package static func encode(_ bytes: [UInt8]) -> String {
    var text = letters(of: bytes, marks: "+/")
    while text.count % 4 != 0 { text.append(UInt8(ascii: "=")) }
    return String(decoding: text, as: UTF8.self)
  }

  /// The bytes of a text in either alphabet, padded or not; nil for any other text.
  package static func decode(_ text: some StringProtocol) -> [UInt8]? {
    let letters = text.hasSuffix("==") ? text.dropLast(2) : text.hasSuffix("=") ? text.dropLast() : text[...]
    guard letters.utf8.allSatisfy({ value(of: $0) != nil }) else { return nil }
    do throws(Base64URLError) {
      return try bytes(of: letters.utf8)
    } catch {
      return nil
    }
  }

  /// The whole bytes of a run of letters of either alphabet; left-over bits are ignored.
  package static func wholeBytes(of letters: some Sequence<UInt8>) -> [UInt8] {
    var decoder = Decoder()
    for letter in letters { decoder.append(value(of: letter) ?? 0) }
    return decoder.bytes
  }

  /// The number of a letter of either alphabet; nil for any other byte.
  package static func value(of letter: UInt8) -> UInt32? {
    switch letter {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"): UInt32(letter - UInt8(ascii: "A"))
    case UInt8(ascii: "a")...UInt8(ascii: "z"): UInt32(letter - UInt8(ascii: "a")) + 26
    case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(letter - UInt8(ascii: "0")) + 52
    case UInt8(ascii: "+"), UInt8(ascii: "-"): 62
    case UInt8(ascii: "/"), UInt8(ascii: "_"): 63
    default: nil
    }
  }

  fileprivate static func bytes(of letters: some Sequence<UInt8>) throws(Base64URLError) -> [UInt8] {
    var decoder = Decoder()
    for letter in letters { decoder.append(value(of: letter) ?? 0) }
    if decoder.bits == 6 { throw .length }
    if decoder.pending != 0 { throw .trailingBits }
    return decoder.bytes
  }

  /// The letters for `bytes`, without padding; `marks` are the two letters that differ between alphabets.
  fileprivate static func letters(of bytes: [UInt8], marks: String) -> [UInt8] {
    let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789\(marks)".utf8)
    var text: [UInt8] = []
    text.reserveCapacity((bytes.count * 4 + 2) / 3 + 2)
    var pending: UInt32 = 0
    var bits: UInt32 = 0
    for byte in bytes {
      pending = pending << 8 | UInt32(byte)
      bits += 8
      while bits >= 6 {
        bits -= 6
        text.append(alphabet[Int(pending >> bits & 0x3F)])
      }
    }
    if bits > 0 { text.append(alphabet[Int(pending << (6 - bits) & 0x3F)]) }
    return text
  }

  /// Collects bytes from their letters, six bits each.
  private struct Decoder {
    var bytes: [UInt8] = []
    /// The bits that are no whole byte yet, and their number.
    var pending: UInt32 = 0
    var bits: UInt32 = 0

    mutating func append(_ sextet: UInt32) {
      pending = pending << 6 | sextet
      bits += 6
      guard bits >= 8 else { return }
      bits -= 8
      bytes.append(UInt8(truncatingIfNeeded: pending >> bits))
      pending &= (1 << bits) - 1
    }
  }
}
