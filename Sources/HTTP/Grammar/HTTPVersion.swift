// Owns which versions of HTTP are spoken on a connection.

/// The version of a message. A higher minor version than 1 counts as 1.1 (RFC 9110 §2.5).
public enum HTTPVersion: UInt8, Sendable, Hashable {
  /// HTTP/1.0.
  case http10
  /// HTTP/1.1.
  case http11
}
