// Characters that look like others, or like nothing: they come with text that was copied from a page, a chat or a word
// processor. YAML and providers take them for what they are, and then nothing fits.

/// A character that was hardly meant.
struct LookAlike: Hashable {
  let character: Unicode.Scalar
  /// The character that it looks like; nil if it is invisible.
  private let looks: String?

  /// A character by itself; `neighbour` is the one before it or after it: letters of other scripts are foreign only
  /// beside ASCII ones.
  init?(_ character: Unicode.Scalar, before: Unicode.Scalar? = nil, after: Unicode.Scalar? = nil) {
    self.character = character
    switch character.value {
    case 0xAD, 0x180E, 0x200B...0x200F, 0x202A...0x202E, 0x2060...0x2069, 0xFEFF: looks = nil
    case 0xA0, 0x1680, 0x2000...0x200A, 0x202F, 0x205F, 0x3000: looks = "a space"
    case 0x85, 0x2028, 0x2029: looks = "the end of a line"
    case 0x2018...0x201B, 0x2032, 0xB4: looks = "'"
    case 0x201C...0x201F, 0x2033, 0xAB, 0xBB: looks = "\""
    case 0x2010...0x2015, 0x2212, 0xFE58, 0xFE63: looks = "-"
    case 0xFF02, 0xFF03, 0xFF04, 0xFF07, 0xFF0C...0xFF0F, 0xFF1A, 0xFF20, 0xFF3B, 0xFF3D, 0xFF3F, 0xFF5B, 0xFF5D:
      // The wide forms lie in the order of ASCII (U+FF01 is '!').
      looks = Unicode.Scalar(character.value - 0xFEE0).map { "\($0)" }
    default:
      let isForeign = [before, after].contains { $0.map { $0.isASCII && $0.properties.isAlphabetic } ?? false }
      guard isForeign, let letter = Self.letters[character] else { return nil }
      looks = "the letter \(letter)"
    }
  }

  /// Cyrillic and Greek letters that are drawn like Latin ones.
  private static let letters: [Unicode.Scalar: Unicode.Scalar] = {
    let pairs = zip(
      "аеорсухіјѕһԁԛԝАВЕКМНОРСТУХІЈЅοναΑΒΕΖΗΙΚΜΝΟΡΤΥΧ".unicodeScalars,
      "aeopcyxijshdqwABEKMHOPCTYXIJSovaABEZHIKMNOPTYX".unicodeScalars)
    return Dictionary(pairs, uniquingKeysWith: { first, _ in first })
  }()

  /// The first one of a text, with its offset.
  static func first(in text: ArraySlice<Unicode.Scalar>) -> (index: Int, found: LookAlike)? {
    for index in text.indices where !text[index].isASCII {
      let before = index > text.startIndex ? text[index - 1] : nil
      let after = index + 1 < text.endIndex ? text[index + 1] : nil
      if let found = LookAlike(text[index], before: before, after: after) { return (index, found) }
    }
    return nil
  }

  static func first(in text: String) -> LookAlike? {
    text.utf8.allSatisfy { $0 < 0x80 } ? nil : first(in: Array(text.unicodeScalars)[...])?.found
  }

  private var code: String {
    let digits = String(character.value, radix: 16, uppercase: true)
    return String(repeating: "0", count: max(0, 4 - digits.count)) + digits
  }

  /// Its description, such as `a no-break space (U+00A0), which looks like a space`.
  var words: String {
    let name = (character.properties.name ?? character.properties.nameAlias ?? "a control character").lowercased()
    return "U+\(code) (\(name)), which \(looks.map { "looks like \($0)" } ?? "is invisible")"
  }

  /// The mistake in a configuration, and its cure.
  var message: String {
    let cure = looks == nil ? "delete it" : "type the character again"
    return "here is \(words): \(cure); if it is meant, write \"\\u\(code)\" in double quotes"
  }
}
