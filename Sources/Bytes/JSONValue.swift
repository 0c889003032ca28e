// JSON with unknown members: replies of providers, claims, cache documents. `JSONReader` and `JSONWriter` read and
// write text.

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

  /// The value of a UTF-8 text; nil if it is not JSON.
  public init?(json: [UInt8]) {
    do throws(JSONTextError) {
      try self.init(text: json)
    } catch {
      return nil
    }
  }

  /// The value of a UTF-8 text.
  public init(text: [UInt8], repetition: JSONReader.Repetition = .lastCounts) throws(JSONTextError) {
    var reader = JSONReader(text, repetition: repetition)
    self = try reader.value()
    try reader.finish()
  }

  /// The members of an object; nil for everything else.
  public var members: [String: JSONValue]? {
    if case .object(let members) = self { members } else { nil }
  }

  /// The text of a string; nil for everything else.
  public var text: String? {
    if case .string(let text) = self { text } else { nil }
  }

  /// The texts of an array's strings; none of everything else.
  public var texts: [String] {
    if case .array(let values) = self { values.compactMap(\.text) } else { [] }
  }

  /// Whole seconds: a number, its fraction dropped, or a string with a number (token endpoints send both).
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
    var writer = JSONWriter(.compact)
    writer.append(self)
    return String(decoding: writer.bytes, as: UTF8.self)
  }
}

/// A type whose values are JSON.
package protocol JSONMember { var json: JSONValue { get } }

extension String: JSONMember { package var json: JSONValue { .string(self) } }
extension Int: JSONMember { package var json: JSONValue { .integer(Int64(self)) } }
extension Int64: JSONMember { package var json: JSONValue { .integer(self) } }
extension Bool: JSONMember { package var json: JSONValue { .bool(self) } }
extension UnixTime: JSONMember { package var json: JSONValue { .integer(seconds) } }
extension JSONValue: JSONMember { package var json: JSONValue { self } }
extension Array: JSONMember where Element: JSONMember { package var json: JSONValue { .array(map(\.json)) } }

extension JSONValue {
  /// An object of the members that have a value.
  package init(_ members: [String: (any JSONMember)?]) { self = .object(members.compactMapValues { $0?.json }) }
}

extension Array {
  /// The array; nil if it has no element.
  package var nonEmpty: Self? { isEmpty ? nil : self }
}
