// Owns HTML text: what is put into it is escaped, unless it is HTML itself.

/// A piece of HTML. A string literal is HTML; a string in its interpolations is text.
public struct Markup: ExpressibleByStringInterpolation, Sendable {
  /// The HTML.
  public var text: String

  /// HTML as it stands in the source.
  public init(stringLiteral value: String) { text = value }
  /// HTML with text in it.
  public init(stringInterpolation: StringInterpolation) { text = stringInterpolation.text }

  /// HTML under construction.
  public struct StringInterpolation: StringInterpolationProtocol {
    fileprivate var text = ""

    /// Room for the literals.
    public init(literalCapacity: Int, interpolationCount: Int) { text.reserveCapacity(literalCapacity) }

    /// HTML.
    public mutating func appendLiteral(_ literal: String) { text += literal }

    /// Text, for an element's content or an attribute between double quotes.
    public mutating func appendInterpolation(_ value: String) {
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
    public mutating func appendInterpolation(_ markup: Markup) { text += markup.text }

    /// One piece after the other.
    public mutating func appendInterpolation(_ pieces: [Markup]) { for piece in pieces { text += piece.text } }
  }
}
