// The conversation with libyaml: bytes in, one event at a time out, each with its position. It knows nothing of nodes,
// keys or settings.

import CYAML

/// One step through a YAML document (YAML 1.2 §3.2.1, without what this configuration refuses to resolve).
struct YAMLEvent {
  enum Kind: Equatable {
    case streamStart
    case streamEnd
    case documentStart
    case documentEnd
    case alias(name: String)
    case scalar(text: String, isPlain: Bool)
    case sequenceStart
    case sequenceEnd
    case mappingStart
    case mappingEnd
  }

  var kind: Kind
  var place: Place
  /// The anchor (`&name`) in front of a node.
  var anchor: String?
  /// The tag (`!name`) in front of a node.
  var tag: String?
  /// The characters of the text that the event was read from.
  var range = 0..<0
}

/// libyaml's parser over bytes that outlive it.
final class YAMLEventReader {
  private let parser: UnsafeMutablePointer<yaml_parser_t>
  private let input: UnsafeBufferPointer<UInt8>
  private let file: String
  /// The text for places in it; empty for ASCII, in which no character looks like another.
  private let characters: [Unicode.Scalar]

  /// A reader of UTF-8 text. `input` must stay valid as long as the reader is used.
  init(_ input: UnsafeBufferPointer<UInt8>, file: String) {
    self.input = input
    self.file = file
    characters = input.allSatisfy { $0 < 0x80 } ? [] : Array(String(decoding: input, as: UTF8.self).unicodeScalars)
    parser = .allocate(capacity: 1)
    precondition(yaml_parser_initialize(parser) == 1, "libyaml has no memory")
    yaml_parser_set_encoding(parser, YAML_UTF8_ENCODING)
    yaml_parser_set_input_string(parser, input.baseAddress, input.count)
  }

  deinit {
    yaml_parser_delete(parser)
    parser.deallocate()
  }

  /// The next event, or what is wrong with the text. After an error the reader is of no further use.
  func next() throws(ConfigurationIssue) -> YAMLEvent {
    var event = yaml_event_t()
    guard yaml_parser_parse(parser, &event) == 1 else { throw syntaxIssue() }
    defer { yaml_event_delete(&event) }
    return converted(event)
  }

  private func converted(_ event: yaml_event_t) -> YAMLEvent {
    let start = Int(event.start_mark.index)
    let range = start..<max(start, Int(event.end_mark.index))
    func node(
      _ kind: YAMLEvent.Kind, _ anchor: UnsafeMutablePointer<yaml_char_t>? = nil,
      _ tag: UnsafeMutablePointer<yaml_char_t>? = nil
    ) -> YAMLEvent {
      YAMLEvent(kind: kind, place: place(event.start_mark), anchor: text(anchor), tag: text(tag), range: range)
    }
    let data = event.data
    switch event.type {
    case YAML_STREAM_START_EVENT: return node(.streamStart)
    case YAML_DOCUMENT_START_EVENT: return node(.documentStart)
    case YAML_DOCUMENT_END_EVENT: return node(.documentEnd)
    case YAML_ALIAS_EVENT: return node(.alias(name: text(data.alias.anchor) ?? ""))
    case YAML_SCALAR_EVENT:
      let bytes = UnsafeBufferPointer(start: data.scalar.value, count: data.scalar.length)
      let isPlain = data.scalar.style == YAML_PLAIN_SCALAR_STYLE
      let kind = YAMLEvent.Kind.scalar(text: String(decoding: bytes, as: UTF8.self), isPlain: isPlain)
      return node(kind, data.scalar.anchor, data.scalar.tag)
    case YAML_SEQUENCE_START_EVENT: return node(.sequenceStart, data.sequence_start.anchor, data.sequence_start.tag)
    case YAML_SEQUENCE_END_EVENT: return node(.sequenceEnd)
    case YAML_MAPPING_START_EVENT: return node(.mappingStart, data.mapping_start.anchor, data.mapping_start.tag)
    case YAML_MAPPING_END_EVENT: return node(.mappingEnd)
    default: return node(.streamEnd)
    }
  }

  private func text(_ pointer: UnsafeMutablePointer<yaml_char_t>?) -> String? {
    pointer.map { String(cString: $0) }
  }

  private func place(_ mark: yaml_mark_t) -> Place {
    Place(file: file, line: Int(mark.line) + 1, column: Int(mark.column) + 1)
  }

  private func syntaxIssue() -> ConfigurationIssue {
    let problem = parser.pointee.problem.map { String(cString: $0) } ?? "unknown"
    switch parser.pointee.error {
    case YAML_READER_ERROR:
      return ConfigurationIssue(
        place(ofByte: parser.pointee.problem_offset),
        "not UTF-8 text: \(problem); save the file as UTF-8, without control characters")
    case YAML_MEMORY_ERROR:
      return ConfigurationIssue(Place(file: file, line: 1, column: 1), "no memory to read the file")
    default:
      let position = place(parser.pointee.problem_mark)
      if isTab(at: position) { return ConfigurationIssue(position, "YAML is indented with spaces; this is a tab") }
      // libyaml's context is the start of the list, section or text with the problem.
      let start = parser.pointee.context.map { _ in place(parser.pointee.context_mark).line }
      if let issue = lookAlike(onLines: max(1, position.line - 1)...position.line) { return issue }
      let before = line(position.line).prefix(position.column)
      if before.last == "{", before.dropLast().last == "$" {
        return ConfigurationIssue(
          Place(file: file, line: position.line, column: position.column - 1),
          "a variable inside braces or brackets needs quotes: write \"${NAME}\"")
      }
      guard let known = YAMLProblem(rawValue: problem) else {
        return ConfigurationIssue(position, "not readable as YAML: \(problem)")
      }
      if known == .keyExpected, !isFirst(at: position) {
        return ConfigurationIssue(
          position, "the value has ended before this: put all of it in quotes, and double a quote inside single ones")
      }
      return ConfigurationIssue(position, known.message(start: start ?? position.line))
    }
  }

  /// An issue with a text's characters. It replaces everything that follows from it.
  func lookAlike(in range: Range<Int>) -> ConfigurationIssue? {
    LookAlike.first(in: characters[range.clamped(to: characters.indices)]).map { index, found in
      let before = characters[..<index]
      let start = before.lastIndex(of: "\n").map { $0 + 1 } ?? 0
      let line = before.count { $0 == "\n" } + 1
      return ConfigurationIssue(Place(file: file, line: line, column: index - start + 1), found.message)
    }
  }

  /// The same for whole lines, but for their comments.
  private func lookAlike(onLines lines: ClosedRange<Int>) -> ConfigurationIssue? {
    var number = 1
    var start = 0
    while start < characters.count, number <= lines.upperBound {
      let end = characters[start...].firstIndex(of: "\n") ?? characters.count
      if lines.contains(number) {
        let comment = (start..<end).first { characters[$0] == "#" && ($0 == start || characters[$0 - 1] == " ") }
        if let issue = lookAlike(in: start..<(comment ?? end)) { return issue }
      }
      (start, number) = (end + 1, number + 1)
    }
    return nil
  }

  private func isTab(at position: Place) -> Bool {
    line(position.line).dropFirst(position.column - 1).first == "\t"
  }

  private func isFirst(at position: Place) -> Bool {
    line(position.line).prefix(position.column - 1).allSatisfy { $0 == " " || $0 == "-" }
  }

  /// Marks count characters; this looks up the line again.
  private func line(_ number: Int) -> Substring.UnicodeScalarView {
    let lines = String(decoding: input, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
    return lines.indices.contains(number - 1) ? lines[number - 1].unicodeScalars : Substring().unicodeScalars
  }

  private func place(ofByte offset: Int) -> Place {
    let before = input.prefix(max(0, min(offset, input.count)))
    let lineStart = before.lastIndex(of: 0x0A).map { $0 + 1 } ?? 0
    let column = String(decoding: before[lineStart...], as: UTF8.self).unicodeScalars.count
    return Place(file: file, line: before.count { $0 == 0x0A } + 1, column: column + 1)
  }
}

/// libyaml's problems, by its words.
private enum YAMLProblem: String {
  case keyExpected = "did not find expected key"
  case elementExpected = "did not find expected '-' indicator"
  case valueInList = "block sequence entries are not allowed in this context"
  case colonInValue = "mapping values are not allowed in this context"
  case colonMissing = "could not find expected ':'"
  case listNotClosed = "did not find expected ',' or ']'"
  case bracesNotClosed = "did not find expected ',' or '}'"
  case valueMissing = "did not find expected node content"
  case quoteNotClosed = "found unexpected end of stream"
  case documentInQuotes = "found unexpected document indicator"
  case unknownEscape = "found unknown escape character"
  case characterNotAllowed = "found character that cannot start any token"
  case nameExpected = "did not find expected alphabetic or numeric character"
  case lessIndented = "did not find expected <document start>"

  /// A message that an operator can act on. `start` is the first line of the part with the problem.
  func message(start: Int) -> String {
    switch self {
    case .keyExpected:
      "this line is indented differently from the section that begins on line \(start): align it with the section's "
        + "keys"
    case .elementExpected:
      "this line is in the list that begins on line \(start) and is no element of it: begin it with '- ', or "
        + "indent it like the keys of its section"
    case .valueInList: "a list cannot begin behind its key: begin it on the next line, or write [a, b]"
    case .colonInValue:
      "a ':' is not expected here: the line is indented too far, or its value contains ': ' and needs quotes"
    case .colonMissing: "a ':' is missing behind the key on line \(start)"
    case .listNotClosed: "the list that begins with '[' on line \(start) lacks a ',' or its ']' before this"
    case .bracesNotClosed: "the section that begins with '{' on line \(start) lacks a ',' or its '}' before this"
    case .valueMissing: "a value is missing here"
    case .quoteNotClosed, .documentInQuotes: "the quoted text that begins on line \(start) has no closing quote"
    case .unknownEscape: "YAML does not know this escape: double the backslash, or use single quotes"
    case .characterNotAllowed: "a value cannot begin with this character: put it in quotes"
    case .nameExpected: "'*' and '&' have a meaning of their own in YAML: put the value in quotes"
    case .lessIndented: "this line is indented less than the first one: begin all keys of the file in the same column"
    }
  }
}
