// The grants that a token request can make.

package import Bytes

/// What a token request offers in exchange for a token.
package enum TokenGrant: Sendable, Equatable {
  /// The application's own authority (RFC 6749 §4.4).
  case clientCredentials
  /// A code that a person's browser brought (RFC 6749 §4.1.3): the code, the redirect URI it came to, and the verifier
  /// that proves who asked for it (RFC 7636 §4.5).
  case authorizationCode(Secret, redirectURI: String, verifier: Secret)
  /// A device code that a person was asked to confirm elsewhere (RFC 8628 §3.4).
  case deviceCode(Secret)
  /// What an earlier sign-in left (RFC 6749 §6).
  case refreshToken(Secret)

  /// The `grant_type` parameter, also the label under which requests are counted.
  package var type: String {
    switch self {
    case .clientCredentials: "client_credentials"
    case .authorizationCode: "authorization_code"
    case .deviceCode: "urn:ietf:params:oauth:grant-type:device_code"
    case .refreshToken: "refresh_token"
    }
  }

  /// Whether a request of unknown fate may be sent again. A grant that the provider takes once must not be: the first
  /// request may have used it up. A refresh token may be used up too, where a provider rotates them; but it is the only
  /// one there is, the next caller would send it anyway, and providers that look for theft forgive a second use within
  /// seconds.
  package var isRepeatable: Bool {
    switch self {
    case .clientCredentials, .refreshToken: true
    case .authorizationCode, .deviceCode: false
    }
  }

  /// Whether the tokens are a person's.
  package var isForAccount: Bool { self != .clientCredentials }
}
