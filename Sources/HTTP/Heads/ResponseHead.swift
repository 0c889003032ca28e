/// The head of a response, as places in the bytes from which `ResponseHeadParser` read it. Every range counts from the
/// first byte that the parser was given. It is meaningful once the parser has returned `complete`.
public struct ResponseHead: ~Copyable {
  /// The version.
  public internal(set) var version = HTTPVersion.http11
  /// The status code, 100 to 599.
  public internal(set) var status = 0
  /// The reason phrase as sent; possibly empty.
  public internal(set) var reason = ByteRange()
  /// The options of `Connection`.
  public internal(set) var connection = ConnectionOptions()
  /// The field lines.
  public internal(set) var fields: FieldTable

  /// An empty head, with room for so many lines.
  package init(fieldCapacity: Int = 100) { fields = FieldTable(capacity: fieldCapacity) }

  /// Resets the head. Keeps the storage.
  package mutating func reset() {
    fields.removeAll()
    connection.removeAll()
  }

  /// True if another response to the same request follows (RFC 9110 §15.2). 101 is not one of these: another protocol
  /// follows it.
  public var isInterim: Bool { status < 200 && status != 101 }
}

/// The fault of bytes that are not an acceptable response head.
public enum ResponseHeadError: Error, Sendable, Hashable {
  /// Not `version SP status [SP reason] CRLF` (RFC 9112 §4).
  case statusLine
  /// An HTTP of another major version than 1.
  case versionUnsupported
  /// The status is not a number from 100 to 599 (RFC 9110 §15).
  case statusCode
  /// The reason phrase holds a control byte.
  case reason
  /// The status line ends with LF alone, or holds a CR that is not followed by LF.
  case lineEnd
  /// A field line is wrong.
  case field(FieldSyntaxError)
  /// The head is longer than `HeadLimits.headBytes`.
  case headTooLarge
  /// `Connection` is not a list of tokens, or nominates more than 16 fields.
  case connectionOptions
}
