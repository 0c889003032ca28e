// Owns why a path is refused rather than normalised.

/// Why a request path has no normal form that every recipient would agree on.
public enum PathError: Error, Sendable, Hashable, CaseIterable {
  /// It does not begin with `/`.
  case notAbsolute
  /// A `%` without two hexadecimal digits behind it.
  case percentEncoding
  /// A control byte, raw or percent-encoded.
  case control
  /// A backslash, raw or percent-encoded, which some servers take for a slash.
  case backslash
  /// `..` above the root.
  case climbsAboveRoot
  /// A dot segment that only some recipients see: next to an encoded slash, behind an empty segment, or with parameters
  /// (`..;x`).
  case hiddenDotSegment
  /// A dot, slash or backslash that is percent-encoded more than once.
  case doubleEncoding
  /// An overlong UTF-8 sequence, percent-encoded: another spelling of an ASCII character.
  case overlong
  /// Some recipients take it for a path of another route than the one it is spelt for.
  case otherRoute
}
