// Owns JSON whose members are not all known beforehand: replies of strangers, claims, cache documents. Reading and
// writing text is FoundationEssentials' decoder and encoder.

internal import FoundationEssentials

/// Any JSON value (RFC 8259). Member order and the spelling of numbers are not kept.
public enum JSONValue: Sendable, Hashable {
  case null
  case bool(Bool)
  /// A number without a fraction that fits in 64 bits.
  case integer(Int64)
  /// Any other number.
  case number(Double)
  case string(String)
  case array([JSONValue])
  case object([String: JSONValue])

  /// The value that UTF-8 text spells; nil where it spells none.
  public init?(json: [UInt8]) {
    do {
      self = try JSONDecoder().decode(JSONValue.self, from: Data(json))
    } catch {
      return nil
    }
  }

  /// The members of an object; nil for everything else.
  public var members: [String: JSONValue]? {
    if case .object(let members) = self { members } else { nil }
  }

  /// The text of a string; nil for everything else.
  public var text: String? {
    if case .string(let text) = self { text } else { nil }
  }

  /// Whole seconds: a number, its fraction dropped, or a string that spells one (token endpoints send both).
  public var seconds: Int64? {
    switch self {
    case .integer(let value): value
    case .number(let value): Int64(exactly: value.rounded(.towardZero))
    case .string(let text): Int64(text) ?? Double(text).flatMap { Int64(exactly: $0.rounded(.towardZero)) }
    default: nil
    }
  }

  /// The value as compact UTF-8 text with members in order of their names: equal values have equal texts.
  public func canonicalText() -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    do {
      return String(decoding: try encoder.encode(self), as: UTF8.self)
    } catch {
      preconditionFailure("every JSON value has a text: \(error)")
    }
  }
}

extension JSONValue: Codable {
  /// Reads whatever stands there.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    // A failed attempt is the answer to "is it a string?", not a reason lost; only the last one's error is passed on.
    if container.decodeNil() {
      self = .null
    } else if let text = try? container.decode(String.self) {
      self = .string(text)
    } else if let members = try? container.decode([String: JSONValue].self) {
      self = .object(members)
    } else if let value = try? container.decode(Bool.self) {
      self = .bool(value)
    } else if let value = try? container.decode(Int64.self) {
      self = .integer(value)
    } else if let value = try? container.decode(Double.self) {
      self = .number(value)
    } else {
      self = .array(try container.decode([JSONValue].self))
    }
  }

  /// Writes the value as itself.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    switch self {
    case .null: try container.encodeNil()
    case .bool(let value): try container.encode(value)
    case .integer(let value): try container.encode(value)
    case .number(let value): try container.encode(value)
    case .string(let text): try container.encode(text)
    case .array(let elements): try container.encode(elements)
    case .object(let members): try container.encode(members)
    }
  }
}
