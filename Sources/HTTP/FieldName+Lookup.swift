// Owns how a field name is recognised: a perfect hash over the length and three letters gives the one candidate, and one
// comparison decides. Nothing is allocated and nothing is lowered in place.

extension FieldName {
  /// Whether a text may be a field's name: a token (RFC 9110 §5.1).
  public static func isName(_ text: String) -> Bool {
    !text.isEmpty && text.utf8.allSatisfy { ByteClass.of($0, ByteClass.token) }
  }

  /// The name that `bytes` spell in any case. `bytes` is a token: the parsers have checked that before.
  public init(_ bytes: Span<UInt8>) {
    let length = bytes.count
    guard length >= 2, length <= 25 else {
      self = .other
      return
    }
    let slot =
      length &* 55 &+ Int(bytes[0] | 0x20) &* 3 &+ Int(bytes[length - 1] | 0x20) &* 25
      &+ Int(bytes[length - 2] | 0x20) &* 54
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
    49, 0, 0, 0, 0, 0, 0, 0, 0, 0, 11, 0, 0, 38, 0, 53,
    51, 47, 0, 27, 0, 0, 14, 0, 0, 0, 0, 57, 0, 0, 0, 5,
    0, 60, 0, 29, 28, 0, 0, 0, 8, 0, 30, 0, 0, 18, 48, 13,
    0, 0, 0, 17, 0, 0, 0, 0, 21, 56, 32, 0, 0, 0, 0, 58,
    0, 24, 0, 0, 0, 0, 4, 37, 0, 0, 0, 0, 0, 6, 0, 0,
    40, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 26, 19, 55,
    0, 42, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 22, 20, 0,
    0, 0, 0, 0, 0, 0, 44, 2, 0, 0, 0, 36, 0, 0, 0, 0,
    0, 0, 45, 10, 0, 0, 0, 0, 0, 0, 54, 34, 0, 12, 0, 0,
    59, 0, 0, 31, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 43,
    0, 52, 0, 0, 0, 0, 16, 0, 0, 0, 1, 0, 0, 0, 0, 15,
    39, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
    0, 35, 0, 0, 0, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 0,
    0, 0, 0, 0, 0, 7, 0, 25, 0, 0, 0, 0, 33, 0, 0, 0,
    0, 0, 0, 0, 0, 0, 23, 0, 9, 0, 46, 0, 0, 0, 0, 0,
    0, 41, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 50, 0, 0,
  ]
}
