// Owns the conversation with libyaml: bytes in, one event at a time out, each with its position. It knows nothing of
// nodes, keys or settings.

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
}

/// libyaml's parser over bytes that outlive it.
final class YAMLEventReader {
  private let parser: UnsafeMutablePointer<yaml_parser_t>
  private let input: UnsafeBufferPointer<UInt8>
  private let file: String

  /// A reader of UTF-8 text. `input` must stay valid as long as the reader is used.
  init(_ input: UnsafeBufferPointer<UInt8>, file: String) {
    self.input = input
    self.file = file
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
    var result = YAMLEvent(kind: .streamEnd, place: place(event.start_mark))
    switch event.type {
    case YAML_STREAM_START_EVENT: result.kind = .streamStart
    case YAML_DOCUMENT_START_EVENT: result.kind = .documentStart
    case YAML_DOCUMENT_END_EVENT: result.kind = .documentEnd
    case YAML_ALIAS_EVENT: result.kind = .alias(name: text(event.data.alias.anchor) ?? "")
    case YAML_SCALAR_EVENT:
      let scalar = event.data.scalar
      let bytes = UnsafeBufferPointer(start: scalar.value, count: scalar.length)
      result.kind = .scalar(
        text: String(decoding: bytes, as: UTF8.self), isPlain: scalar.style == YAML_PLAIN_SCALAR_STYLE)
      result.anchor = text(scalar.anchor)
      result.tag = text(scalar.tag)
    case YAML_SEQUENCE_START_EVENT:
      result.kind = .sequenceStart
      result.anchor = text(event.data.sequence_start.anchor)
      result.tag = text(event.data.sequence_start.tag)
    case YAML_SEQUENCE_END_EVENT: result.kind = .sequenceEnd
    case YAML_MAPPING_START_EVENT:
      result.kind = .mappingStart
      result.anchor = text(event.data.mapping_start.anchor)
      result.tag = text(event.data.mapping_start.tag)
    case YAML_MAPPING_END_EVENT: result.kind = .mappingEnd
    default: break
    }
    return result
  }

  private func text(_ pointer: UnsafeMutablePointer<yaml_char_t>?) -> String? {
    pointer.map { String(cString: $0) }
  }

  private func place(_ mark: yaml_mark_t) -> Place {
    Place(file: file, line: Int(mark.line) + 1, column: Int(mark.column) + 1)
  }

  private func syntaxIssue() -> ConfigurationIssue {
    let problem = parser.pointee.problem.map { String(cString: $0) } ?? "not readable as YAML"
    switch parser.pointee.error {
    case YAML_READER_ERROR:
      return ConfigurationIssue(place(ofByte: parser.pointee.problem_offset), "not UTF-8 text: \(problem)")
    case YAML_MEMORY_ERROR:
      return ConfigurationIssue(Place(file: file, line: 1, column: 1), "no memory to read the file")
    default:
      let position = place(parser.pointee.problem_mark)
      if isTab(at: position) {
        return ConfigurationIssue(position, "YAML is indented with spaces; here stands a tab")
      }
      guard let context = parser.pointee.context else { return ConfigurationIssue(position, problem) }
      let beginning = place(parser.pointee.context_mark)
      let origin = beginning.line == position.line ? "" : " that begins on line \(beginning.line)"
      return ConfigurationIssue(position, "\(problem) \(String(cString: context))\(origin)")
    }
  }

  /// Marks count characters; the line is looked up again to see the byte that stands there.
  private func isTab(at position: Place) -> Bool {
    let lines = String(decoding: input, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
    guard lines.indices.contains(position.line - 1) else { return false }
    return lines[position.line - 1].unicodeScalars.dropFirst(position.column - 1).first == "\t"
  }

  private func place(ofByte offset: Int) -> Place {
    let before = input.prefix(max(0, min(offset, input.count)))
    let lineStart = before.lastIndex(of: 0x0A).map { $0 + 1 } ?? 0
    let column = String(decoding: before[lineStart...], as: UTF8.self).unicodeScalars.count
    return Place(file: file, line: before.count { $0 == 0x0A } + 1, column: column + 1)
  }
}
