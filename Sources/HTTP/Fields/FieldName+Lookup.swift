// The look-up of a name: one slot of a table, then one comparison.

import Bytes

extension FieldName {
  /// True if a text may be a field's name: a token (RFC 9110 §5.1).
  public static func isName(_ text: String) -> Bool {
    !text.isEmpty && text.utf8.allSatisfy { ByteClass.of($0, ByteClass.token) }
  }

  /// The name of `bytes` in any case. `bytes` is a token: the parsers have checked that before.
  public init(_ bytes: Span<UInt8>) {
    let length = bytes.count
    guard length >= 2, length <= 27 else {
      self = .other
      return
    }
    let middle = bytes[length / 2]
    // A look-alike has the slot of the name that it resembles.
    let slot =
      length &* 42 &+ Int((middle == ASCII.underscore ? ASCII.dash : middle) | 0x20) &* 41
      &+ Int(bytes[length - 1] | 0x20) &* 271 &+ Int(bytes[length - 2] | 0x20) &* 216
    guard let candidate = FieldName(rawValue: Self.candidates[slot & 0x1FF]), candidate != .other else {
      self = .other
      return
    }
    let text = candidate.text
    guard text.utf8CodeUnitCount == length else {
      self = .other
      return
    }
    var index = 0
    // A token has no byte below 0x21, so setting this bit makes a capital small and mistakes nothing for a letter.
    while index + 8 <= length {
      let word = unsafe bytes.bytes.unsafeLoadUnaligned(fromUncheckedByteOffset: index, as: UInt64.self)
      let expected = unsafe UnsafeRawPointer(text.utf8Start + index).loadUnaligned(as: UInt64.self)
      if word | 0x2020_2020_2020_2020 != expected { break }
      index += 8
    }
    var underscores = false
    while index < length {
      let expected = unsafe text.utf8Start[index]
      let byte = bytes[index]
      index += 1
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
  private static let candidates: InlineArray<512, UInt8> = [
    0, 68, 0, 0, 0, 0, 35, 26, 0, 0, 0, 0, 82, 0, 52, 86, 0, 0, 0, 0, 0, 0, 0, 17,
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 47, 0, 0, 0, 75, 0, 0, 0, 0, 22, 0, 0, 0, 19,
    0, 0, 0, 0, 0, 0, 0, 70, 31, 0, 0, 94, 0, 0, 0, 11, 88, 0, 0, 49, 0, 0, 0, 0,
    0, 0, 84, 0, 119, 0, 0, 0, 0, 0, 116, 0, 0, 99, 0, 48, 9, 0, 0, 0, 0, 0, 0, 0,
    0, 0, 0, 0, 0, 0, 0, 10, 0, 0, 0, 0, 0, 0, 80, 0, 0, 95, 0, 0, 0, 42, 0, 0,
    20, 50, 0, 0, 43, 0, 61, 0, 0, 0, 0, 0, 0, 36, 0, 0, 0, 34, 103, 0, 0, 0, 0, 0,
    0, 0, 0, 0, 0, 0, 16, 106, 0, 23, 0, 0, 92, 0, 0, 0, 0, 0, 0, 0, 0, 112, 33, 96,
    0, 0, 0, 0, 54, 0, 77, 0, 0, 0, 105, 7, 0, 0, 0, 0, 69, 0, 0, 0, 0, 0, 0, 111,
    98, 0, 0, 0, 0, 0, 0, 0, 0, 38, 0, 0, 115, 0, 0, 0, 55, 0, 0, 0, 76, 0, 0, 0,
    0, 0, 25, 78, 0, 0, 0, 0, 0, 0, 0, 120, 0, 0, 0, 1, 0, 29, 0, 0, 56, 0, 45, 0,
    0, 0, 39, 0, 0, 102, 0, 0, 0, 0, 0, 0, 0, 60, 0, 0, 0, 0, 0, 0, 0, 0, 0, 110,
    0, 62, 73, 0, 0, 14, 18, 0, 0, 0, 59, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 71, 13, 0,
    0, 0, 0, 0, 0, 0, 0, 108, 0, 0, 0, 0, 0, 0, 0, 0, 0, 57, 109, 0, 0, 0, 0, 0,
    0, 37, 0, 0, 91, 97, 0, 0, 0, 81, 0, 0, 0, 87, 0, 0, 0, 117, 79, 0, 5, 0, 0, 0,
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 24, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 63,
    0, 0, 89, 0, 0, 0, 0, 0, 0, 0, 40, 0, 0, 0, 0, 83, 0, 3, 0, 0, 0, 15, 0, 0,
    0, 0, 0, 0, 104, 0, 0, 0, 0, 0, 118, 0, 0, 0, 0, 0, 0, 0, 65, 0, 0, 64, 0, 0,
    30, 2, 0, 0, 0, 0, 0, 0, 21, 85, 44, 0, 0, 0, 93, 0, 8, 0, 0, 0, 0, 0, 0, 0,
    0, 0, 0, 0, 0, 0, 0, 101, 0, 0, 0, 0, 0, 0, 0, 58, 0, 0, 0, 0, 0, 0, 0, 100,
    27, 0, 0, 0, 0, 90, 0, 0, 74, 0, 0, 66, 0, 0, 67, 113, 4, 0, 0, 0, 0, 6, 0, 0,
    12, 0, 114, 0, 0, 0, 0, 53, 107, 0, 0, 0, 0, 0, 0, 51, 72, 0, 0, 0, 0, 0, 0, 32,
    0, 46, 0, 41, 0, 0, 28, 0,
  ]
}
