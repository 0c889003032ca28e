// Owns what is remembered of one field line: where its name and value are, and which known name it is.

/// One field line of a head or trailer section, as places in the bytes it was read from.
public struct FieldLine: Sendable {
  /// The name as spelt.
  public var name: ByteRange
  /// The value without the white space around it; possibly empty.
  public var value: ByteRange
  /// The name, where it is one that a rule knows.
  public var known: FieldName
  /// Whether the line reads `name: value CRLF` with exactly one space, so that its bytes can be sent on as they are.
  public var isPlain: Bool

  @inlinable init(name: ByteRange, value: ByteRange, known: FieldName, isPlain: Bool) {
    self.name = name
    self.value = value
    self.known = known
    self.isPlain = isPlain
  }
}
