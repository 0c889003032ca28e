// Text for terminals and documents of a fixed width.

extension String {
  /// The text with spaces behind it, up to `width` characters.
  package func padded(_ width: Int) -> String { self + String(repeating: " ", count: max(width - count, 0)) }

  /// The text in lines of at most `width` characters, broken between words. A longer word has a line of its own.
  package func inLines(of width: Int) -> [String] {
    var lines = [""]
    for word in split(separator: " ") {
      let line = lines.removeLast()
      if line.isEmpty || line.count + 1 + word.count <= width {
        lines.append(line + (line.isEmpty ? "" : " ") + word)
      } else {
        lines += [line, String(word)]
      }
    }
    return lines
  }
}

extension StringProtocol {
  /// The text without such characters at either end.
  package func trimmed(_ isBlank: (Character) -> Bool) -> SubSequence {
    let rest = drop(while: isBlank)
    return rest[..<(rest.lastIndex { !isBlank($0) }.map { rest.index(after: $0) } ?? rest.startIndex)]
  }
}
