// Owns what can be wrong with a response head. To the downstream all of it is one 502; the cases are for the log.

/// Why bytes are not an acceptable response head.
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
