/// A piece of HTML. A string literal is HTML; a string in its interpolations is text, and escaped.
package struct Markup: ExpressibleByStringInterpolation, Sendable {
  package var text: String

  /// HTML from the source.
  package init(stringLiteral value: String) { text = value }
  package init(stringInterpolation: StringInterpolation) { text = stringInterpolation.text }

  package struct StringInterpolation: StringInterpolationProtocol {
    fileprivate var text = ""

    package init(literalCapacity: Int, interpolationCount: Int) { text.reserveCapacity(literalCapacity) }

    package mutating func appendLiteral(_ literal: String) { text += literal }

    /// Text, for an element's content or an attribute between double quotes.
    package mutating func appendInterpolation(_ value: String) {
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

    package mutating func appendInterpolation(_ markup: Markup) { text += markup.text }

    /// One piece after the other.
    package mutating func appendInterpolation(_ pieces: [Markup]) { for piece in pieces { text += piece.text } }
  }
}
