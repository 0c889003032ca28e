extension String {
  /// The text's first `limit` characters, each control, line end and direction mark turned into a space.
  package func printable(limit: Int) -> String {
    String(unicodeScalars.prefix(limit).map { $0.properties.isControl ? " " : Character($0) })
  }

  /// The same, cut behind a whole word: half a code or an id cannot be looked up.
  package func printable(words limit: Int) -> String {
    let text = printable(limit: limit + 1)
    guard text.unicodeScalars.count > limit, let end = text.lastIndex(of: " ") else { return printable(limit: limit) }
    return text[..<end] + " …"
  }
}

extension Unicode.Scalar.Properties {
  fileprivate var isControl: Bool {
    switch generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator: true
    default: false
    }
  }
}
