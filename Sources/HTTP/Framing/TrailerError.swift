// Owns what can be wrong with a trailer section.

/// Why bytes are not an acceptable trailer section (RFC 9112 §7.1.2).
public enum TrailerError: Error, Sendable, Hashable {
  /// A field line is wrong.
  case field(FieldSyntaxError)
  /// The section is longer than `HeadLimits.headBytes`.
  case tooLarge
}
