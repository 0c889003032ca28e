// Owns what can make it unclear where a message's content ends.

/// Why the length of a message's content cannot be told with certainty (RFC 9112 §6).
public enum FramingError: Error, Sendable, Hashable, CaseIterable {
  /// `Content-Length` is not a decimal number below 2^63.
  case contentLengthInvalid
  /// More than one `Content-Length`, be it as lines or as a list, the same value or not.
  case contentLengthRepeated
  /// Both `Content-Length` and `Transfer-Encoding` (RFC 9112 §6.3 item 3: possibly request smuggling).
  case bothLengths
  /// `Transfer-Encoding` in an HTTP/1.0 message (RFC 9112 §6.1: faulty framing).
  case transferEncodingInHTTP10
  /// `Transfer-Encoding` is empty, repeated, or not a list of codings that ends in one `chunked`.
  case transferEncodingInvalid
  /// A transfer coding other than `chunked`.
  case transferCodingUnknown

  /// The status code to answer a request with. A response with any of these is a 502.
  public var status: Int { self == .transferCodingUnknown ? 501 : 400 }
}
