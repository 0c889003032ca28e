// Owns base64url without padding, the one text form of bytes inside JOSE objects. Other alphabets, padding and white
// space are refused.

/// Why a text is not base64url.
public enum Base64URLError: Error, Sendable, Hashable {
  /// A character outside `A–Z a–z 0–9 - _` at this place, counted in bytes from 0.
  case character(at: Int)
  /// A length that no number of bytes encodes to.
  case length
  /// Bits behind the last byte that are not zero: a second spelling of the same bytes.
  case trailingBits
}

/// base64url without padding (RFC 7515 §2, RFC 4648 §5).
public enum Base64URL {
  /// The text form of `bytes`.
  public static func encode(_ bytes: [UInt8]) -> String {
    var text: [UInt8] = []
    text.reserveCapacity((bytes.count * 4 + 2) / 3)
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
    return String(decoding: text, as: UTF8.self)
  }

  /// The bytes of `text`. Exactly one text decodes to given bytes.
  public static func decode(_ text: some StringProtocol) throws(Base64URLError) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(text.utf8.count * 3 / 4)
    var pending: UInt32 = 0
    var bits: UInt32 = 0
    var place = 0
    for character in text.utf8 {
      guard let value = value(of: character) else { throw .character(at: place) }
      pending = pending << 6 | value
      bits += 6
      if bits >= 8 {
        bits -= 8
        bytes.append(UInt8(truncatingIfNeeded: pending >> bits))
        pending &= (1 << bits) - 1
      }
      place += 1
    }
    if bits == 6 { throw .length }
    if pending != 0 { throw .trailingBits }
    return bytes
  }

  private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)

  private static func value(of character: UInt8) -> UInt32? {
    switch character {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"): UInt32(character - UInt8(ascii: "A"))
    case UInt8(ascii: "a")...UInt8(ascii: "z"): UInt32(character - UInt8(ascii: "a")) + 26
    case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(character - UInt8(ascii: "0")) + 52
    case UInt8(ascii: "-"): 62
    case UInt8(ascii: "_"): 63
    default: nil
    }
  }
}
