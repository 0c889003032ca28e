// config/full.yaml: its values and names are examples, its comments come from the table.

internal import Bytes

/// An example with each key's description above its first use. Lines before the first blank one, blank lines and lines
/// such as `#key: value`, a key in a comment without a space, stay.
func commentedExample(_ present: String) -> String {
  let rows = Dictionary(SectionShape.file.paths().map { ($0.path, $0.row) }, uniquingKeysWith: { first, _ in first })
  var described: Set<String> = []
  var path: [(indent: Int, step: String)] = []
  var lines: [String] = []
  var isHead = true
  for line in present.split(separator: "\n", omittingEmptySubsequences: false) {
    let start = line.prefix { $0 == " " || $0 == "-" }
    let rest = line[start.endIndex...]
    let word = (rest.hasPrefix("#") ? rest.dropFirst() : rest).prefix { $0 != ":" && $0 != " " }
    let isKey = !word.isEmpty && rest.dropFirst(rest.hasPrefix("#") ? 1 : 0).dropFirst(word.count).hasPrefix(":")
    if !isKey {
      if isHead || !rest.hasPrefix("#") { lines.append(String(line)) }
      if rest.isEmpty { isHead = false }
      continue
    }
    while let last = path.last, last.indent >= start.count { path.removeLast() }
    let parent = path.map(\.step).joined()
    let isNamed = rows[parent + String(word)] == nil
    let key = parent + (isNamed ? "*" : String(word))
    if let row = rows[key], described.insert(key).inserted {
      let margin = "".padded(indent(of: start)) + "# "
      lines += row.sentences(withValue: true).inLines(of: 120 - margin.count).map { margin + $0 }
    }
    lines.append(String(line))
    path.append((start.count, (isNamed ? "*" : String(word)) + (rows[key]?.kind.inner.map { step($0.step) } ?? ".")))
  }
  return lines.joined(separator: "\n")
}

/// The indentation of a comment above a line: that of its dash, if it begins an element.
private func indent(of start: Substring) -> Int {
  start.firstIndex(of: "-").map { start.distance(from: start.startIndex, to: $0) } ?? start.count
}

/// The step to the keys below: names in a mapping are steps of their own.
private func step(_ step: String) -> String { step == ".*." ? "." : step }
