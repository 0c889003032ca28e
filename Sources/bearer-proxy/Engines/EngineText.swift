/// The text of a configuration. A value of several lines keeps the indentation of its place; an empty one that has a
/// line for itself leaves none.
struct EngineText: ExpressibleByStringInterpolation {
  let text: String

  init(stringLiteral value: String) { text = value }

  init(stringInterpolation: StringInterpolation) {
    var interpolation = stringInterpolation
    interpolation.appendLiteral("\n")
    text = String(interpolation.text.dropLast())
  }

  struct StringInterpolation: StringInterpolationProtocol {
    fileprivate var text = ""
    /// True if the line has nothing but an empty value so far.
    private var isLineEmpty = false

    init(literalCapacity: Int, interpolationCount: Int) {}

    mutating func appendLiteral(_ literal: String) {
      if isLineEmpty, literal.hasPrefix("\n") {
        text.removeLast(line.count)
        text += literal.dropFirst()
      } else {
        text += literal
      }
      if !literal.isEmpty { isLineEmpty = false }
    }

    mutating func appendInterpolation(_ value: String) {
      let indentation = line.prefix { $0 == " " || $0 == "\t" }
      isLineEmpty = value.isEmpty && indentation.count == line.count
      text += value.replacing("\n", with: "\n" + indentation).replacing("\n\(indentation)\n", with: "\n\n")
    }

    mutating func appendInterpolation(_ values: [String]) { appendInterpolation(values.joined(separator: "\n")) }

    mutating func appendInterpolation(_ value: some BinaryInteger) { text += String(value) }

    private var line: Substring { text[(text.lastIndex(of: "\n").map { text.index(after: $0) } ?? text.startIndex)...] }
  }
}

/// The text with its values in their places.
func layout(_ text: EngineText) -> String { text.text }

extension String {
  /// In double quotes, as YAML and most others read it.
  var quoted: String { "\"\(replacing("\\", with: "\\\\").replacing("\"", with: "\\\""))\"" }
}
