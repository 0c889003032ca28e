/// The head of a request, as places in the bytes from which `RequestHeadParser` read it. Every range counts from the
/// first byte that the parser was given. It is meaningful once the parser has returned `complete`.
public struct RequestHead: ~Copyable {
  /// The method.
  public internal(set) var method = RequestMethod.get
  /// The method as spelt.
  public internal(set) var methodName = ByteRange()
  /// The target.
  public internal(set) var target = RequestTarget()
  /// The version.
  public package(set) var version = HTTPVersion.http11
  /// The request's `host[:port]`: the target's if it has one, else the `Host` field's. Empty in an HTTP/1.0 request
  /// without `Host`; a valid `HostName` in all others.
  @inlinable public var authority: ByteRange { place.authority }
  /// The host within `authority`: without port, an IPv6 address without brackets.
  @inlinable public var host: ByteRange { place.host }
  @usableFromInline var place = RequestHost()
  /// The options of `Connection`.
  public internal(set) var connection = ConnectionOptions()
  /// The field lines.
  public internal(set) var fields: FieldTable
  /// True if it comes from an extended CONNECT (RFC 8441): no other head of HTTP/2 has such an option.
  package var asksForTunnel: Bool { version == .http2 && connection.upgrade }

  /// An empty head, with room for so many lines.
  package init(fieldCapacity: Int = 100) { fields = FieldTable(capacity: fieldCapacity) }

  /// Resets the head. Keeps the storage.
  package mutating func reset() {
    fields.removeAll()
    place = RequestHost()
    connection.removeAll()
  }
}

/// The fault of bytes that are not an acceptable request head.
public enum RequestHeadError: Error, Sendable, Hashable {
  /// Not `method SP target SP version CRLF` (RFC 9112 §3): parts missing, more white space, an HTTP/0.9 request.
  case requestLine
  /// The method is not a token.
  case method
  /// The target has none of the four forms, or not one that the method permits (RFC 9112 §3.2), or a byte that no
  /// target has: a control, `#`, non-ASCII.
  case target
  /// The target is longer than `HeadLimits.targetBytes`.
  case targetTooLong
  /// User information in the target (RFC 9110 §4.2.4).
  case userInformation
  /// The third part is not `HTTP/` digit `.` digit.
  case version
  /// An HTTP of another major version than 1.
  case versionUnsupported
  /// A line of the head's beginning ends with LF alone, or holds a CR that is not followed by LF.
  case lineEnd
  /// More empty lines before the request line than a sloppy client sends.
  case emptyLines
  /// A field line is wrong.
  case field(FieldSyntaxError)
  /// The head is longer than `HeadLimits.headBytes`.
  case headTooLarge
  /// HTTP/1.1 without `Host` (RFC 9112 §3.2).
  case hostMissing
  /// More than one `Host` line.
  case hostRepeated
  /// `Host` is not `host[:port]`.
  case hostInvalid
  /// `Host` and the authority in the target mean different places.
  case hostDisagrees
  /// `Connection` is not a list of tokens, or nominates more than 16 fields.
  case connectionOptions

  /// The status code to answer with.
  public var status: Int {
    switch self {
    case .targetTooLong: 414
    case .headTooLarge, .field(.tooMany): 431
    case .versionUnsupported: 505
    default: 400
    }
  }
}
