// Reads as much of config/schema.json as its comparison with the decoder needs: properties, descriptions, defaults.

import FoundationEssentials

/// A property anywhere in the schema.
struct SchemaProperty {
  /// The keys that lead to it: `listeners[].tls.key_file`, `applications.*.client_id`.
  let path: String
  let description: String?
  /// The default as it would be written in YAML.
  let defaultText: String?
}

/// The properties of a schema, its references followed.
struct PublishedSchema {
  private(set) var properties: [SchemaProperty] = []
  /// Objects with properties that would take further ones.
  private(set) var openSections: [String] = []
  private let definitions: [String: SchemaNode]

  init(_ bytes: [UInt8]) throws {
    let root = try JSONDecoder().decode(SchemaNode.self, from: Data(bytes))
    definitions = root.definitions ?? [:]
    walk(root, prefix: "")
  }

  private mutating func walk(_ node: SchemaNode, prefix: String) {
    if let reference = node.reference, let target = definitions[String(reference.dropFirst("#/$defs/".count))] {
      walk(target, prefix: prefix)
    }
    for alternative in node.alternatives { walk(alternative, prefix: prefix) }
    if let items = node.items { walk(items, prefix: String(prefix.dropLast()) + "[].") }
    switch node.additionalProperties {
    case .schema(let inner): walk(inner, prefix: prefix + "*.")
    case .allowed(false): break
    case .allowed(true), nil: if node.properties != nil { openSections.append(prefix) }
    }
    for (name, property) in node.properties ?? [:] {
      properties.append(
        SchemaProperty(
          path: prefix + name, description: property.description, defaultText: property.defaultValue?.text))
      walk(property, prefix: prefix + name + ".")
    }
  }
}

/// One schema object. A class, because schemas contain schemas.
private final class SchemaNode: Decodable {
  enum AdditionalProperties: Decodable {
    case allowed(Bool)
    case schema(SchemaNode)

    init(from decoder: any Decoder) throws {
      let container = try decoder.singleValueContainer()
      if let allowed = try? container.decode(Bool.self) {
        self = .allowed(allowed)
      } else {
        self = .schema(try container.decode(SchemaNode.self))
      }
    }
  }

  enum Scalar: Decodable {
    case boolean(Bool)
    case integer(Int)
    case string(String)

    init(from decoder: any Decoder) throws {
      let container = try decoder.singleValueContainer()
      if let value = try? container.decode(Bool.self) {
        self = .boolean(value)
      } else if let value = try? container.decode(Int.self) {
        self = .integer(value)
      } else {
        self = .string(try container.decode(String.self))
      }
    }

    var text: String {
      switch self {
      case .boolean(let value): "\(value)"
      case .integer(let value): "\(value)"
      case .string(let value): value
      }
    }
  }

  let description: String?
  let properties: [String: SchemaNode]?
  let items: SchemaNode?
  let additionalProperties: AdditionalProperties?
  let anyOf: [SchemaNode]?
  let oneOf: [SchemaNode]?
  let reference: String?
  let definitions: [String: SchemaNode]?
  let defaultValue: Scalar?

  var alternatives: [SchemaNode] { (anyOf ?? []) + (oneOf ?? []) }

  enum CodingKeys: String, CodingKey {
    case description, properties, items, additionalProperties, anyOf, oneOf
    case reference = "$ref"
    case definitions = "$defs"
    case defaultValue = "default"
  }
}
