// The table of settings: every key with its kind, bounds, default and description. The decoder reads by it; the schema,
// the comments of full.yaml, the tables of reference.md and the defaults in `/config` are written from it.

internal import Bytes

/// A setting of the configuration file.
struct Row: Sendable {
  /// The value of an absent key.
  enum Standard: Sendable {
    /// The value as the file would give it.
    case value(String)
    /// A value that the file cannot give, in words.
    case words(String)
    /// The value of the same key under `defaults`.
    case inherited
    /// A section whose keys have their defaults.
    case section
  }

  let key: Key
  let kind: Kind
  let standard: Standard?
  let isRequired: Bool
  /// The key beside which alone this one has a meaning.
  let companion: Key?
  /// Keys that exclude this one.
  let rivals: [Key]
  /// Those for whose tokens it has a meaning; empty: for all.
  let subjects: [SubjectWord]
  /// Sentences, the first of which says what the setting does.
  let text: String

  init(
    _ key: Key, _ kind: Kind, default standard: Standard? = nil, isRequired: Bool = false, beside companion: Key? = nil,
    without rivals: [Key] = [], of subjects: [SubjectWord] = [], _ text: String
  ) {
    (self.key, self.kind, self.standard, self.isRequired) = (key, kind, standard, isRequired)
    (self.companion, self.rivals, self.subjects, self.text) = (companion, rivals, subjects, text)
  }

  /// The same key with the default that it has under `defaults`.
  var inherited: Row { Row(key, kind, default: .inherited, text) }

  /// The words that the file may give.
  var words: [String] {
    switch kind {
    case .choice(let words), .choices(let words), .wordOrSection(let words, _): words
    case .boolean: ["true", "false"]
    default: []
    }
  }

  /// The default as the file would give it.
  var value: String? { if case .value(let text)? = standard { text } else { nil } }
}

/// The values that a key takes. `Sendable` is written out, here and below: derived, each waits for the other.
enum Kind: Sendable {
  case boolean
  case text
  /// Texts without repetition.
  case texts
  /// A program and its arguments.
  case command
  /// Names that the operator chooses, each with a text.
  case values
  /// A text that a regular expression matches.
  case pattern(String)
  case name
  case file
  case url
  case address
  /// An HTTP proxy, or none.
  case proxyAddress
  /// Numbers of users or groups.
  case numbers
  case integer(ClosedRange<Int>)
  case size(ClosedRange<Int>, orNone: Bool = false)
  case duration(ClosedRange<TimeSpan>, orNone: Bool = false)
  case choice([String])
  /// Some of these words.
  case choices([String])
  /// Keys of their own.
  case section(SectionShape)
  /// One of these words, or keys of their own.
  case wordOrSection([String], SectionShape)
  /// A list, each element with keys of its own.
  case sections(SectionShape)
  /// Names that the operator chooses, each with keys of its own.
  case namedSections(SectionShape)

  static let anyDuration: Kind = .duration(shortestDuration...longestDuration)
  static let anyDurationOrNone: Kind = .duration(shortestDuration...longestDuration, orNone: true)
  static let shortestDuration: TimeSpan = .milliseconds(1)
  static let longestDuration: TimeSpan = .seconds(366 * 24 * 3600)

  /// One of an enumeration's words.
  static func choice<Choice: RawRepresentable<String> & CaseIterable>(_: Choice.Type) -> Kind {
    .choice(Choice.allCases.map(\.rawValue))
  }

  /// The keys below a key of this kind, and what its path continues with there.
  var inner: (shape: SectionShape, step: String)? {
    switch self {
    case .section(let shape), .wordOrSection(_, let shape): (shape, ".")
    case .sections(let shape): (shape, "[].")
    case .namedSections(let shape): (shape, ".*.")
    default: nil
    }
  }
}

/// The keys of one mapping.
struct SectionShape: Sendable {
  /// A rule of the schema about which keys go together.
  enum Rule: Sendable {
    /// Exactly one key.
    case one
    /// At least one key.
    case some
    /// Exactly one of these.
    case oneOf([Key])
    /// These only together.
    case together([Key])
    /// A further member of the schema, as JSON.
    case schema(String, String)
  }

  let rows: [Row]
  let rules: [Rule]

  init(_ rows: [Row], _ rules: Rule...) {
    (self.rows, self.rules) = (rows, rules)
  }

  subscript(_ key: Key) -> Row? {
    rows.first { $0.key == key }
  }

  /// Every path of keys from here, such as `listeners[].tls.key_file` and `applications.*.client_id`, with its row.
  func paths(under prefix: String = "") -> [(path: String, row: Row)] {
    rows.flatMap { row -> [(path: String, row: Row)] in
      let path = prefix + row.key.rawValue
      guard let inner = row.kind.inner else { return [(path, row)] }
      return [(path, row)] + inner.shape.paths(under: path + inner.step)
    }
  }
}
