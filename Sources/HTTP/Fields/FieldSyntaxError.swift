// Owns what can be wrong with a field section as such, whichever message it belongs to.

/// Why bytes are not a field section (RFC 9112 §5, RFC 9110 §5).
public enum FieldSyntaxError: Error, Sendable, Hashable, CaseIterable {
  /// The name is empty, holds a byte that is not a `tchar`, or no colon follows it.
  case name
  /// White space stands between name and colon (RFC 9112 §5.1).
  case spaceBeforeColon
  /// A line begins with white space: line folding, which is obsolete (RFC 9112 §5.2), or white space before the first
  /// field (RFC 9112 §2.2).
  case folding
  /// The value holds NUL or another control byte (RFC 9110 §5.5).
  case value
  /// A line ends with LF alone, or holds a CR that is not followed by LF (RFC 9112 §2.2).
  case lineEnd
  /// More lines than `HeadLimits.fieldCount`.
  case tooMany
}
