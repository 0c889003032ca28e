// config/schema.json: the JSON Schema by which editors complete and check a configuration.

internal import Bytes

/// A part of the schema, its members in their order.
indirect enum SchemaNode {
  /// Text that is JSON already.
  case json(String)
  case object([(name: String, value: SchemaNode)])
  case array([SchemaNode])

  static func text(_ text: String) -> SchemaNode {
    .json("\"\(text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\""))\"")
  }

  /// The schema of one of the types below `$defs`.
  static func reference(_ name: String) -> SchemaNode { .object([("$ref", .text("#/$defs/\(name)"))]) }

  private static func required(_ keys: [Key]) -> SchemaNode {
    .object([("required", .array(keys.map { .text($0.rawValue) }))])
  }

  /// Words of the file as YAML reads them.
  private static func words(_ words: [String]) -> SchemaNode {
    .object([("enum", .array(words.map { ["true", "false"].contains($0) ? .json($0) : .text($0) }))])
  }

  private static func anyOf(_ nodes: SchemaNode...) -> SchemaNode { .object([("anyOf", .array(nodes))]) }

  private var members: [(name: String, value: SchemaNode)] {
    if case .object(let members) = self { members } else { [] }
  }
}

// MARK: From the table

extension SchemaNode {
  static let file: SchemaNode = {
    var members: [(name: String, value: SchemaNode)] = [
      ("$schema", .text("https://json-schema.org/draft/2020-12/schema")),
      ("title", .text("bearer-proxy configuration")),
      ("description", .text("The configuration of a bearer-proxy process. full.yaml shows every key.")),
    ]
    members += section(.file).members
    members.append(("$defs", .object(types)))
    return .object(members)
  }()

  private static func section(_ shape: SectionShape) -> SchemaNode {
    var members: [(name: String, value: SchemaNode)] = [("type", .text("object"))]
    var together = shape.rows.compactMap { row in row.companion.map { (row.key, [$0]) } }
    for rule in shape.rules {
      switch rule {
      case .one: members += [("minProperties", .json("1")), ("maxProperties", .json("1"))]
      case .some: members.append(("minProperties", .json("1")))
      case .oneOf(let keys): members.append(("oneOf", .array(keys.map { required([$0]) })))
      case .together(let keys): together += keys.map { key in (key, keys.filter { $0 != key }) }
      case .schema(let name, let json): members.append((name, .json(json)))
      }
    }
    let needed = shape.rows.filter(\.isRequired).map(\.key)
    members += required(needed).members.filter { _ in !needed.isEmpty }
    if !together.isEmpty {
      let keys = together.map { ($0.0.rawValue, SchemaNode.array($0.1.map { .text($0.rawValue) })) }
      members.append(("dependentRequired", .object(keys)))
    }
    let rivals = shape.rows.filter { !$0.rivals.isEmpty }.map { row in
      let others = SchemaNode.object([("anyOf", .array(row.rivals.map { given($0, in: shape) }))])
      let none = SchemaNode.object([("not", others)])
      guard case .boolean = row.kind else { return (row.key.rawValue, none) }
      return (row.key.rawValue, SchemaNode.object([("if", given(row.key, in: shape)), ("then", none)]))
    }
    if !rivals.isEmpty { members.append(("dependentSchemas", .object(rivals))) }
    if shape[.as] != nil { members.append(("allOf", .array(SubjectWord.allCases.map { subject($0, shape) }))) }
    members.append(("additionalProperties", .json("false")))
    members.append(("properties", .object(shape.rows.map { ($0.key.rawValue, node($0)) })))
    return .object(members)
  }

  /// A mapping with a key. One that is false excludes no other.
  private static func given(_ key: Key, in shape: SectionShape) -> SchemaNode {
    guard case .boolean? = shape[key]?.kind else { return required([key]) }
    let value = SchemaNode.object([("const", .json("true"))])
    return .object([("properties", .object([(key.rawValue, value)]))] + required([key]).members)
  }

  /// The keys that have no meaning for a subject's tokens.
  private static func subject(_ subject: SubjectWord, _ shape: SectionShape) -> SchemaNode {
    let others = shape.rows.filter { !$0.subjects.isEmpty && !$0.subjects.contains(subject) }
    // Without `as`, it is the account's.
    let condition: [(name: String, value: SchemaNode)] = [
      ("properties", .object([("as", .object([("const", .text(subject.rawValue))]))]))
    ]
    return .object([
      ("if", .object(condition + (subject == .account ? [] : required([.as]).members))),
      ("then", .object([("properties", .object(others.map { ($0.key.rawValue, .json("false")) }))])),
    ])
  }

  private static func node(_ row: Row) -> SchemaNode {
    var members: [(name: String, value: SchemaNode)] = [("description", .text(row.sentences(withValue: false)))]
    if let value = row.value {
      let isText = Int(value) == nil && !["true", "false"].contains(value)
      members.append(("default", isText ? .text(value) : .json(value)))
    }
    members += kind(row.kind).members
    if case .namedSections = row.kind, row.isRequired { members.append(("minProperties", .json("1"))) }
    return .object(members)
  }

  private static func kind(_ kind: Kind) -> SchemaNode {
    switch kind {
    case .boolean: reference("boolean")
    case .text: reference("text")
    case .texts: reference("texts")
    case .command: .object([("type", .text("array")), ("minItems", .json("1")), ("items", reference("text"))])
    case .values:
      .object([("type", .text("object")), ("minProperties", .json("1")), ("additionalProperties", reference("text"))])
    case .pattern(let pattern): .object([("type", .text("string")), ("pattern", .text(pattern))])
    case .name: reference("name")
    case .file: reference("file")
    case .url: reference("url")
    case .address: reference("address")
    case .proxyAddress: reference("proxy")
    case .numbers: reference("numbers")
    case .integer(let range):
      anyOf(
        .object([
          ("type", .text("integer")), ("minimum", .json("\(range.lowerBound)")),
          ("maximum", .json("\(range.upperBound)")),
        ]), reference("variable"))
    case .size(_, let orNone): reference(orNone ? "sizeOrNone" : "size")
    case .duration(_, let orNone): reference(orNone ? "durationOrNone" : "duration")
    case .choice(let words): anyOf(.words(words), reference("variable"))
    case .choices(let words):
      .object([
        ("type", .text("array")), ("minItems", .json("1")), ("uniqueItems", .json("true")),
        ("items", anyOf(.words(words), reference("variable"))),
      ])
    case .section(let shape): section(shape)
    case .wordOrSection(let words, let shape): .object([("oneOf", .array([.words(words), section(shape)]))])
    case .sections(let shape):
      .object([("type", .text("array")), ("minItems", .json("1")), ("items", section(shape))])
    case .namedSections(let shape):
      .object([
        ("type", .text("object")), ("propertyNames", reference("name")), ("additionalProperties", section(shape)),
      ])
    }
  }

  /// The types of values. Each text may contain variables.
  private static let types: [(name: String, value: SchemaNode)] = [
    ("variable", .json(#"{ "type": "string", "pattern": "^\\$\\{[A-Za-z_][A-Za-z0-9_]*\\}$" }"#)),
    ("text", .json(#"{ "type": ["string", "integer"], "minLength": 1 }"#)),
    (
      "texts", .json(##"{ "type": "array", "minItems": 1, "uniqueItems": true, "items": { "$ref": "#/$defs/text" } }"##)
    ),
    ("file", .json(#"{ "type": "string", "minLength": 1 }"#)),
    ("name", .json(#"{ "type": "string", "pattern": "^[A-Za-z0-9._-]{1,64}$|\\$\\{" }"#)),
    ("url", .json(#"{ "type": "string", "pattern": "^([Hh][Tt][Tt][Pp][Ss]?://.+|.*\\$\\{.*)$" }"#)),
    (
      "address",
      .json(
        #"{ "type": "string", "pattern": "^(unix:/.+|[0-9.]+:[0-9]{1,5}|"#
          + #"\\[[0-9A-Fa-f:.]+\\]:[0-9]{1,5}|.*\\$\\{.*)$" }"#)
    ),
    ("proxy", .json(#"{ "type": "string", "pattern": "^(none|([Hh][Tt][Tt][Pp]://)?[^/?#]+/?|.*\\$\\{.*)$" }"#)),
    ("boolean", .json(##"{ "anyOf": [{ "type": "boolean" }, { "$ref": "#/$defs/variable" }] }"##)),
    ("duration", .json(#"{ "type": "string", "pattern": "^([0-9]+(ms|s|m|h)|.*\\$\\{.*)$" }"#)),
    ("durationOrNone", .json(#"{ "type": "string", "pattern": "^(none|[0-9]+(ms|s|m|h)|.*\\$\\{.*)$" }"#)),
    ("size", .json(#"{ "type": "string", "pattern": "^([0-9]+(B|KiB|MiB|GiB)|.*\\$\\{.*)$" }"#)),
    ("sizeOrNone", .json(#"{ "type": "string", "pattern": "^(none|[0-9]+(B|KiB|MiB|GiB)|.*\\$\\{.*)$" }"#)),
    (
      "numbers",
      .json(
        #"{ "type": "array", "minItems": 1, "uniqueItems": true, "items": { "anyOf": [{ "type": "integer", "#
          + ##""minimum": 0, "maximum": 4294967295 }, { "$ref": "#/$defs/variable" }] } }"##)
    ),
  ]
}

// MARK: The text

extension SchemaNode {
  /// JSON with an object or array on one line if it fits in 120 columns.
  var text: String { text(indent: 0, column: 0) }

  private func text(indent: Int, column: Int) -> String {
    let line = self.line
    if indent > 0, column + line.utf8.count <= 118 { return line }
    let inner = "".padded(indent + 2)
    let end = "\n" + "".padded(indent)
    switch self {
    case .json(let text): return text
    case .object(let members):
      let lines = members.map { name, value in
        let start = "\(inner)\"\(name)\": "
        return start + value.text(indent: indent + 2, column: start.utf8.count)
      }
      return "{\n\(lines.joined(separator: ",\n"))\(end)}"
    case .array(let elements):
      let lines = elements.map { inner + $0.text(indent: indent + 2, column: indent + 2) }
      return "[\n\(lines.joined(separator: ",\n"))\(end)]"
    }
  }

  private var line: String {
    switch self {
    case .json(let text): text
    case .object(let members):
      members.isEmpty ? "{}" : "{ \(members.map { "\"\($0.name)\": \($0.value.line)" }.joined(separator: ", ")) }"
    case .array(let elements): "[\(elements.map(\.line).joined(separator: ", "))]"
    }
  }
}
