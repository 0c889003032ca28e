// Owns HTML text: what is put into it is escaped, unless it is HTML itself.

/// A piece of HTML. A string literal is HTML; a string in its interpolations is text.
struct PageText: ExpressibleByStringInterpolation, Sendable {
  var text: String

  init(stringLiteral value: String) { text = value }
  init(stringInterpolation: StringInterpolation) { text = stringInterpolation.text }

  struct StringInterpolation: StringInterpolationProtocol {
    var text = ""

    init(literalCapacity: Int, interpolationCount: Int) { text.reserveCapacity(literalCapacity) }

    mutating func appendLiteral(_ literal: String) { text += literal }

    /// Text, for an element's content or an attribute between double quotes.
    mutating func appendInterpolation(_ value: String) {
      for character in value.unicodeScalars {
        switch character {
        case "&": text += "&amp;"
        case "<": text += "&lt;"
        case ">": text += "&gt;"
        case "\"": text += "&quot;"
        case "'": text += "&#39;"
        default: text.unicodeScalars.append(character)
        }
      }
    }

    /// HTML.
    mutating func appendInterpolation(_ piece: PageText) { text += piece.text }

    /// One piece after the other.
    mutating func appendInterpolation(_ pieces: [PageText]) { for piece in pieces { text += piece.text } }
  }
}
