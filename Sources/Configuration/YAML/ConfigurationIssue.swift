internal import Tokens

/// A position in a configuration file.
package struct Place: Sendable, Hashable, Comparable, CustomStringConvertible {
  /// The file as the operator named it.
  package let file: String
  /// The line, from 1; 0 for the file as a whole.
  package let line: Int
  /// The column in characters, from 1.
  package let column: Int

  package init(file: String, line: Int, column: Int) {
    self.file = file
    self.line = line
    self.column = column
  }

  /// True if one position is before another in the same file.
  package static func < (left: Place, right: Place) -> Bool {
    (left.line, left.column) < (right.line, right.column)
  }

  /// The file as a whole: it cannot be read, or is missing.
  package static func whole(_ file: String) -> Place { Place(file: file, line: 0, column: 0) }

  /// `FILE:LINE:COLUMN`, the form that editors and compilers agree on; `FILE` for the whole of it.
  package var description: String { line == 0 ? file : "\(file):\(line):\(column)" }
}

/// One mistake in the configuration. Its text never holds a secret.
package struct ConfigurationIssue: Error, Sendable, Hashable, CustomStringConvertible {
  package let place: Place
  /// The mistake, with its key: one line, nothing of the file in it that a terminal would obey.
  package let message: String
  /// The word that was probably meant.
  package let suggestion: String?
  /// True if another try may succeed with the same configuration: an address that another process still has.
  package let mayPass: Bool

  package init(_ place: Place, _ message: String, suggestion: String? = nil, mayPass: Bool = false) {
    self.mayPass = mayPass
    self.place = place
    self.message = message.printable(limit: 2000)
    self.suggestion = suggestion?.printable(limit: 200)
  }

  /// `FILE:LINE:COLUMN: error: message`, and the suggestion if there is one.
  package var description: String {
    let hint = suggestion.map { "; did you mean '\($0)'?" } ?? ""
    return "\(place): error: \(message)\(hint)"
  }

  /// The same for what is allowed.
  package var warning: String { "\(place): warning: \(message)" }
}

/// Everything that is wrong with a configuration, in the order of the file.
package struct ConfigurationError: Error, Sendable, Hashable, CustomStringConvertible {
  /// At least one issue, sorted by place.
  package let issues: [ConfigurationIssue]

  /// Sorts the issues by place; those of one place stay in the order they were found.
  package init(_ issues: [ConfigurationIssue]) {
    precondition(!issues.isEmpty, "an error says what is wrong")
    self.issues = issues.enumerated().sorted { left, right in
      (left.element.place, left.offset) < (right.element.place, right.offset)
    }.map(\.element)
  }

  package var mayPass: Bool { issues.allSatisfy(\.mayPass) }

  package var description: String { issues.map(\.description).joined(separator: "\n") }
}
