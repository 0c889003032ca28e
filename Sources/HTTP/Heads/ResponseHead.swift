// Owns what a response head says, as places in the bytes it was read from. `ResponseHeadParser` fills it in.

/// The head of a response. Every range counts from the first byte that the parser was given.
public struct ResponseHead: ~Copyable {
  /// The version.
  public internal(set) var version = HTTPVersion.http11
  /// The status code, 100 to 599.
  public internal(set) var status = 0
  /// The reason phrase as sent; possibly empty.
  public internal(set) var reason = ByteRange()
  /// What `Connection` says.
  public internal(set) var connection = ConnectionOptions()
  /// The field lines.
  public internal(set) var fields: FieldTable

  init(fieldCapacity: Int) {
    fields = FieldTable(capacity: fieldCapacity)
  }

  /// Whether another response to the same request follows (RFC 9110 §15.2). 101 is not one of these: what follows it is
  /// another protocol.
  public var isInterim: Bool { status < 200 && status != 101 }
}
