// Owns how the demonstration looks: colours on a terminal, plain text everywhere else.

import Glibc
import Platform

/// Writes to standard output.
struct Terminal: Sendable {
  /// How a piece of text is meant.
  enum Style: String, Sendable {
    case heading = "1"
    case command = "36"
    case good = "32"
    case bad = "31"
    case quiet = "2"
    case plain = ""
  }

  private let isColourful: Bool

  /// Colours where standard output is a terminal that has them and NO_COLOR is not set (no-color.org).
  init(environment: [String: String]) {
    isColourful =
      isatty(STDOUT_FILENO) == 1 && environment["TERM"] != "dumb" && (environment["NO_COLOR"] ?? "").isEmpty
  }

  /// Writes a line, or several.
  func line(_ text: String = "", _ style: Style = .plain) {
    for part in text.split(separator: "\n", omittingEmptySubsequences: false) {
      let styled = isColourful && style != .plain && !part.isEmpty ? "\u{1B}[\(style.rawValue)m\(part)\u{1B}[0m" : part
      OutputFile.standardOutput.write(text: "\(styled)\n")
    }
  }

  /// Writes lines, each behind a margin.
  func indented(_ text: some StringProtocol, _ style: Style = .plain) {
    for part in text.split(separator: "\n", omittingEmptySubsequences: false) {
      line(part.isEmpty ? "" : "    \(part)", style)
    }
  }

  /// Makes sure that everything is written.
  func flush() {
    OutputFile.standardOutput.flush()
  }
}

extension OutputFile {
  /// Queues a text that ends with a line end.
  func write(text: String) {
    Array(text.utf8).withUnsafeBytes { write($0) }
  }
}
