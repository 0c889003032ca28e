// config/reference.md: its tables of keys.

private let start = "<!-- The tables of keys: `bearer-proxy document` writes them. -->\n"
private let end = "<!-- End of the tables of keys. -->\n"

/// A page with the present tables of keys between its two marks.
func withTables(_ page: String) -> String {
  guard let first = page.firstRange(of: start), let last = page.firstRange(of: end) else { return tables }
  return page[..<first.upperBound] + "\n" + tables + "\n" + page[last.lowerBound...]
}

/// A table for each section of the file, and one for the keys that are no sections.
private var tables: String {
  let all = SectionShape.file.paths()
  let sections = SectionShape.file.rows.filter { $0.kind.inner != nil }.map(\.key.rawValue)
  let parts = sections.map { section in
    (section, all.filter { $0.path.prefix { $0 != "." && $0 != "[" } == section })
  }
  let others = all.filter { entry in !sections.contains(String(entry.path.prefix { $0 != "." && $0 != "[" })) }
  return ([("", others)] + parts).map { title, entries in
    let rows = entries.filter { $0.path != title && !$0.row.kind.isSection }.map { path, row in
      let shown = path.split(separator: ".").dropFirst(title.isEmpty ? 0 : 1).joined(separator: ".")
      return "| `\(shown)` | \(row.values) |\(cell(row))|\n"
    }
    let heading = title.isEmpty ? "" : "### `\(title)`\n\n"
    return "\(heading)| key | value | default |\n|---|---|---|\n\(rows.joined())"
  }.joined(separator: "\n")
}

private func cell(_ row: Row) -> String {
  switch row.standard {
  case .value(let text): " `\(text)` "
  case .words(let text): " \(text) "
  case .inherited: " as under `defaults` "
  case .section, nil: row.isRequired ? " required " : " "
  }
}

extension Kind {
  /// True if the key has keys below it and no value of its own.
  fileprivate var isSection: Bool {
    if case .wordOrSection = self { false } else { inner.map { !$0.shape.rows.isEmpty } ?? false }
  }
}
