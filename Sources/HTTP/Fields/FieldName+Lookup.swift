// Owns how a field name is recognised: a perfect hash over the length and three letters gives the one candidate, and
// one comparison decides. Nothing is allocated and nothing is lowered in place.

import Bytes

extension FieldName {
  /// Whether a text may be a field's name: a token (RFC 9110 §5.1).
  public static func isName(_ text: String) -> Bool {
    !text.isEmpty && text.utf8.allSatisfy { ByteClass.of($0, ByteClass.token) }
  }

  /// The name that `bytes` spell in any case. `bytes` is a token: the parsers have checked that before.
  public init(_ bytes: Span<UInt8>) {
    let length = bytes.count
    guard length >= 2, length <= 27 else {
      self = .other
      return
    }
    let slot =
      length &* 31 &+ Int(bytes[0] | 0x20) &* 92 &+ Int(bytes[length - 1] | 0x20) &* 86
      &+ Int(bytes[length - 2] | 0x20) &* 110
    guard let candidate = FieldName(rawValue: Self.candidates[slot & 0xFF]), candidate != .other else {
      self = .other
      return
    }
    let text = candidate.text
    guard text.utf8CodeUnitCount == length else {
      self = .other
      return
    }
    var underscores = false
    for index in 0..<length {
      let expected = unsafe text.utf8Start[index]
      let byte = bytes[index]
      // A token has no byte below 0x21, so setting this bit makes a capital small and mistakes nothing for a letter.
      if byte | 0x20 == expected { continue }
      guard byte == ASCII.underscore, expected == ASCII.dash else {
        self = .other
        return
      }
      underscores = true
    }
    self = underscores ? .lookalike : candidate
  }

  // Raw value of the only name that can be at a slot. `FieldNameTests` looks every name up; a new name may need other
  // multipliers above.
  private static let candidates: InlineArray<256, UInt8> = [
    0, 61, 0, 0, 21, 0, 0, 0, 0, 0, 0, 0, 0, 0, 3, 0,
    59, 0, 0, 0, 0, 14, 32, 0, 0, 0, 0, 0, 0, 0, 0, 0,
    0, 46, 0, 58, 0, 0, 0, 0, 0, 0, 35, 0, 0, 56, 50, 0,
    0, 71, 26, 12, 10, 0, 0, 0, 0, 0, 48, 6, 0, 0, 1, 75,
    0, 24, 0, 52, 0, 0, 0, 31, 0, 0, 23, 0, 8, 0, 0, 0,
    0, 19, 0, 0, 0, 0, 0, 34, 0, 0, 44, 0, 0, 0, 0, 0,
    0, 60, 33, 0, 0, 11, 47, 0, 41, 55, 0, 0, 0, 73, 28, 0,
    2, 62, 20, 0, 0, 0, 0, 0, 0, 16, 30, 0, 0, 74, 38, 0,
    0, 53, 0, 37, 0, 0, 57, 0, 15, 0, 0, 43, 0, 65, 0, 0,
    0, 0, 0, 70, 0, 0, 45, 0, 0, 0, 0, 0, 0, 4, 0, 0,
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 69, 25, 0, 42, 0,
    36, 0, 0, 0, 5, 0, 0, 0, 63, 0, 0, 0, 0, 17, 0, 72,
    27, 0, 0, 49, 0, 0, 0, 0, 0, 51, 0, 7, 39, 0, 0, 0,
    0, 0, 0, 67, 0, 0, 9, 0, 0, 68, 0, 0, 0, 64, 76, 0,
    0, 0, 0, 0, 54, 0, 0, 0, 0, 0, 0, 0, 40, 0, 0, 18,
    0, 0, 0, 0, 0, 22, 13, 0, 0, 0, 0, 0, 66, 0, 0, 29,
  ]
}
