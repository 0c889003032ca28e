// Owns the grants that a token request can make.

/// What a token request offers in exchange for a token.
public enum TokenGrant: Sendable, Hashable {
  /// The application's own authority (RFC 6749 §4.4).
  case clientCredentials

  /// The `grant_type` parameter, also the label under which requests are counted.
  public var type: String {
    switch self {
    case .clientCredentials: "client_credentials"
    }
  }

  /// Whether a request of unknown fate may be sent again. A grant that the provider takes once must not be: the first
  /// request may have used it up.
  public var isRepeatable: Bool {
    switch self {
    case .clientCredentials: true
    }
  }
}
