// The notation of tables of mistakes and what is said of them.

/// Rows of a table: lines of an input and, indented below them, each message that they bring, or `no issue`. A line
/// that is indented twice continues the one before it; one that begins with `#` is a comment.
package func issueTable(_ text: String) -> [(fragment: String, expected: [String])] {
  var rows: [(fragment: String, expected: [String])] = []
  var isComplete = true
  for line in text.replacing("\n    ", with: " ").split(separator: "\n") where !line.hasPrefix("#") {
    if line.hasPrefix("  ") {
      if line != "  no issue" { rows[rows.count - 1].expected.append(String(line.dropFirst(2))) }
      isComplete = true
    } else if isComplete {
      rows.append((String(line), []))
      isComplete = false
    } else {
      rows[rows.count - 1].fragment += "\n" + line
    }
  }
  return rows
}
