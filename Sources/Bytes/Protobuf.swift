// Protocol buffers, as far as a few messages of Envoy need them (protobuf.dev/programming-guides/encoding). Stricter
// than others read: a field of another type than its reader expects, and a field twice that may occur once, are errors.

/// The fault of bytes that are not the expected message.
package enum ProtobufError: Error, Sendable, Hashable {
  /// The bytes end within a field.
  case cut
  /// A number has more than 64 bits.
  case number
  /// A field number or type that does not exist; groups.
  case tag
  /// A field has another type than its message says.
  case type
  /// A field that may occur once occurs again.
  case repeated
  /// A text is not UTF-8.
  case text
}

package struct ProtobufField: Sendable, Hashable {
  package enum Value: Sendable, Hashable {
    case number(UInt64)
    case bytes(ArraySlice<UInt8>)
    /// Of fixed width: no message here needs one.
    case fixed
  }

  package let number: UInt32
  package let value: Value

  /// The bytes of a text, of a message in it, or of `bytes`.
  package func bytes() throws(ProtobufError) -> ArraySlice<UInt8> {
    guard case .bytes(let bytes) = value else { throw .type }
    return bytes
  }

  package func text() throws(ProtobufError) -> String {
    guard let text = String(validating: try bytes(), as: UTF8.self) else { throw .text }
    return text
  }

  /// Puts the bytes into the place of a field that may occur once.
  package func take(into value: inout ArraySlice<UInt8>?) throws(ProtobufError) {
    guard value == nil else { throw .repeated }
    value = try bytes()
  }
}

/// Reads the fields of one message in their order. It copies nothing, and a message costs no more than its bytes.
package struct ProtobufReader: Sendable {
  private var rest: ArraySlice<UInt8>

  package init(_ message: ArraySlice<UInt8>) { rest = message }

  /// Lends the fields of a message.
  package static func each(
    _ message: ArraySlice<UInt8>, _ body: (ProtobufField) throws(ProtobufError) -> Void
  ) throws(ProtobufError) {
    var reader = ProtobufReader(message)
    while let field = try reader.next() { try body(field) }
  }

  /// The bytes of a field that may occur once; nil if the message does not have it.
  package static func only(
    _ number: UInt32, in message: ArraySlice<UInt8>
  ) throws(ProtobufError) -> ArraySlice<UInt8>? {
    var value: ArraySlice<UInt8>?
    try each(message) { field throws(ProtobufError) in
      if field.number == number { try field.take(into: &value) }
    }
    return value
  }

  /// The next field; nil at the end.
  package mutating func next() throws(ProtobufError) -> ProtobufField? {
    if rest.isEmpty { return nil }
    let tag = try number()
    guard let number = UInt32(exactly: tag >> 3), (1...0x1FFF_FFFF).contains(number) else { throw .tag }
    switch tag & 7 {
    case 0: return ProtobufField(number: number, value: .number(try self.number()))
    case 1:
      _ = try take(8)
      return ProtobufField(number: number, value: .fixed)
    case 2:
      let count = try self.number()
      guard let count = Int(exactly: count) else { throw .cut }
      return ProtobufField(number: number, value: .bytes(try take(count)))
    case 5:
      _ = try take(4)
      return ProtobufField(number: number, value: .fixed)
    default: throw .tag
    }
  }

  private mutating func number() throws(ProtobufError) -> UInt64 {
    var number: UInt64 = 0
    for shift in stride(from: UInt64(0), through: 63, by: 7) {
      guard let byte = rest.popFirst() else { throw .cut }
      if shift == 63, byte > 1 { throw .number }
      number |= UInt64(byte & 0x7F) << shift
      if byte < 0x80 { return number }
    }
    throw .number
  }

  private mutating func take(_ count: Int) throws(ProtobufError) -> ArraySlice<UInt8> {
    guard count <= rest.count else { throw .cut }
    defer { rest = rest.dropFirst(count) }
    return rest.prefix(count)
  }
}

/// Writes the fields of one message.
package struct ProtobufWriter: Sendable {
  package private(set) var bytes: [UInt8] = []

  package init() {}

  /// A number; zero is not written, as it is the value of a missing field.
  package mutating func number(_ field: UInt32, _ value: UInt64) {
    if value == 0 { return }
    varint(UInt64(field) << 3)
    varint(value)
  }

  package mutating func bytes(_ field: UInt32, _ value: some Collection<UInt8>) {
    varint(UInt64(field) << 3 | 2)
    varint(UInt64(value.count))
    bytes += value
  }

  /// A message within this one.
  package mutating func message(_ field: UInt32, _ write: (inout ProtobufWriter) -> Void) {
    var inner = ProtobufWriter()
    write(&inner)
    bytes(field, inner.bytes)
  }

  private mutating func varint(_ value: UInt64) {
    var rest = value
    while rest >= 0x80 {
      bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    bytes.append(UInt8(rest))
  }
}
