import Bytes
import Glibc
import Platform

/// Writes to standard output: colours and screens on a terminal, plain text everywhere else.
struct Terminal: Sendable {
  /// The meaning of a text.
  enum Style: String {
    case title = "1;7"
    case heading = "1"
    case command = "36"
    case good = "32"
    case bad = "31"
    case quiet = "2"
    case plain = ""
  }

  /// The size of the smallest usual terminal; each part of the tour fits it.
  static let columns = 80
  static let rows = 24

  /// True if each command is shown with all of its output.
  let isVerbose: Bool
  /// True if the next part waits for Enter.
  let waitsForReader: Bool
  private let isColourful: Bool

  /// Colours if standard output is a terminal that has them and NO_COLOR is not set (no-color.org).
  init(environment: [String: String], _ options: DemoOptions) {
    let isTerminal = isatty(STDOUT_FILENO) == 1
    isVerbose = options.isVerbose
    isColourful = isTerminal && environment["TERM"] != "dumb" && (environment["NO_COLOR"] ?? "").isEmpty
    waitsForReader = isTerminal && isatty(STDIN_FILENO) == 1 && !options.endsAfterTour && !isVerbose
  }

  /// Writes lines, each behind a margin.
  func line(_ text: String = "", _ style: Style = .plain, margin: String = "") {
    for part in text.split(separator: "\n", omittingEmptySubsequences: false) {
      let part = part.isEmpty ? "" : margin + part
      let styled = isColourful && style != .plain && !part.isEmpty ? "\u{1B}[\(style.rawValue)m\(part)\u{1B}[0m" : part
      OutputFile.standardOutput.write(text: "\(styled)\n")
    }
  }

  func indented(_ text: some StringProtocol, _ style: Style = .plain) { line(String(text), style, margin: "    ") }

  /// Writes text in lines that fit; those after the first begin behind a margin as wide as `start`.
  func wrapped(_ text: String, after start: String, _ style: Style = .plain) {
    for (index, part) in text.inLines(of: Self.columns - start.count).enumerated() {
      line((index == 0 ? start : "".padded(start.count)) + part, style)
    }
  }

  /// Writes a command for a shell, whole: it may be pasted.
  func command(_ words: [String]) { indented("$ " + words.map(\.shellWord).joined(separator: " "), .command) }

  /// Waits for Enter. Returns false if the reader wants the rest in one go, or has closed the input.
  func askForNext() -> Bool {
    line("\nPress Enter for the next part, or a and Enter for all the rest.", .quiet)
    OutputFile.standardOutput.flush()
    return readLine().map { !$0.hasPrefix("a") } ?? false
  }
}

extension OutputFile {
  /// Queues a text that ends with a line end.
  func write(text: String) {
    write(text.utf8Span.span)
  }
}

extension String {
  /// The text without line ends behind it.
  var trimmed: Substring { self[..<(lastIndex { !$0.isNewline }.map { index(after: $0) } ?? startIndex)] }

  /// The text between the first `start` and the next `end`.
  func between(_ start: String, _ end: String) -> String? {
    guard let from = firstRange(of: start)?.upperBound, let to = self[from...].firstRange(of: end)?.lowerBound else {
      return nil
    }
    return String(self[from..<to])
  }
}
