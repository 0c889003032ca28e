// Owns how a text that others wrote is made fit for a terminal and for a log: one line, and nothing that a terminal
// would obey.

extension String {
  /// The text's first `limit` characters, each control, line end and direction mark turned into a space.
  public func printable(limit: Int) -> String {
    String(unicodeScalars.prefix(limit).map { $0.properties.isControl ? " " : Character($0) })
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
