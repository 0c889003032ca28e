// The files in config/ that are written from the table of settings, by the hidden command `bearer-proxy document FILE`.

/// A file whose text comes from the table of settings, all of it or in parts.
package enum ConfigurationDocument: String, CaseIterable, Sendable {
  case schema = "schema.json"
  case example = "full.yaml"
  case reference = "reference.md"

  /// The text. Of an example's values and of prose it keeps what the present text has.
  package func text(present: String) -> String {
    switch self {
    case .schema: SchemaNode.file.text + "\n"
    case .example: commentedExample(present)
    case .reference: withTables(present)
    }
  }
}

extension Row {
  /// The description with bounds and default.
  func sentences(withValue: Bool) -> String {
    let standard: String? =
      switch self.standard {
      case .value(let text): withValue ? (text.hasSuffix(":") ? "\"\(text)\"" : text) : nil
      case .words(let text): text
      case .inherited: "as under defaults"
      case .section, nil: nil
      }
    return [text, boundsSentence, standard.map { "Default: \($0)." }]
      .compactMap(\.self).joined(separator: " ")
  }

  private var boundsSentence: String? {
    guard let bounds else { return nil }
    let sentence = bounds.contains(" to ") ? "from \(bounds)" : bounds
    return "\(sentence.prefix(1).uppercased())\(sentence.dropFirst())."
  }

  /// The bounds of a number and the word `none`, in words.
  private var bounds: String? {
    let (range, orNone): (String?, Bool) =
      switch kind {
      case .integer(let range): ("\(range.lowerBound) to \(range.upperBound)", false)
      case .size(let range, let orNone):
        (range.upperBound > 1 << 40 ? nil : "\(sizeText(range.lowerBound)) to \(sizeText(range.upperBound))", orNone)
      case .duration(let range, let orNone):
        if range.upperBound == Kind.longestDuration {
          (nil, orNone)
        } else if range.lowerBound == Kind.shortestDuration {
          ("at most \(durationText(range.upperBound))", orNone)
        } else {
          ("\(durationText(range.lowerBound)) to \(durationText(range.upperBound))", orNone)
        }
      default: (nil, false)
      }
    let parts = [range, orNone ? "or none" : nil].compactMap(\.self)
    return parts.isEmpty ? nil : parts.joined(separator: ", ")
  }

  /// The values in few words, for a table.
  var values: String {
    switch kind {
    case .boolean, .choice: words.joined(separator: ", ")
    case .choices: "a list of \(words.joined(separator: ", "))"
    case .text, .pattern: "text"
    case .texts: "a list of texts"
    case .command: "a list: program and arguments"
    case .values: "names with a text each"
    case .name: "a name"
    case .file: "a file"
    case .url: "a URL"
    case .address: "address:port or unix:/path"
    case .proxyAddress: "http://host:port, or none"
    case .numbers: "a list of numbers"
    case .integer: bounds ?? "a number"
    case .size(_, let orNone): bounds.map { orNone && $0 == "or none" ? "a size, or none" : $0 } ?? "a size"
    case .duration(_, let orNone): bounds.map { orNone && $0 == "or none" ? "a duration, or none" : $0 } ?? "a duration"
    case .section: "keys"
    case .wordOrSection: "\(words.joined(separator: ", ")), or keys"
    case .sections: "a list of keys"
    case .namedSections: "names with keys"
    }
  }
}
