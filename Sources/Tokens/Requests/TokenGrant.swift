package import Bytes

/// The grant that a token request offers.
package enum TokenGrant: Sendable, Equatable {
  /// The application's own authority (RFC 6749 §4.4).
  case clientCredentials
  /// A code that a browser brought (RFC 6749 §4.1.3), with the sign-in's verifier (RFC 7636 §4.5).
  case authorizationCode(Secret, redirectURI: String, verifier: Secret)
  /// A device code that a person confirms elsewhere (RFC 8628 §3.4).
  case deviceCode(Secret)
  /// The refresh token of an earlier sign-in (RFC 6749 §6).
  case refreshToken(Secret)
  /// A token of a caller or of another server (RFC 7523 §2.1), with Entra's on-behalf-of if it is for us.
  case jwtBearer(Secret, isOnBehalfOf: Bool)
  /// A token for one of another kind or for another audience (RFC 8693 §2.1), and the actor's, which acts for it.
  case tokenExchange(Secret, ExchangeTerms, actor: Secret? = nil)
  /// A token of an agent identity, for its own user account (Entra's `user_fic`): a user name, or an object id.
  case userFederation(Secret, user: String)

  /// The `grant_type` parameter, also the label under which requests are counted.
  package var type: String {
    switch self {
    case .clientCredentials: "client_credentials"
    case .authorizationCode: "authorization_code"
    case .deviceCode: "urn:ietf:params:oauth:grant-type:device_code"
    case .refreshToken: "refresh_token"
    case .jwtBearer: "urn:ietf:params:oauth:grant-type:jwt-bearer"
    case .tokenExchange: "urn:ietf:params:oauth:grant-type:token-exchange"
    case .userFederation: "user_fic"
    }
  }

  /// True if a request of unknown fate may be sent again: not with a grant that the provider accepts once. A rotated
  /// refresh token may be used up, too; but the next caller would send it anyway, and providers with reuse detection
  /// forgive a second use within seconds.
  package var isRepeatable: Bool {
    switch self {
    case .clientCredentials, .refreshToken, .jwtBearer, .tokenExchange, .userFederation: true
    case .authorizationCode, .deviceCode: false
    }
  }

  /// True if it is for a person at a provider that identifies the person (`client_info`).
  var isForPerson: Bool {
    switch self {
    case .jwtBearer(_, let isOnBehalfOf): isOnBehalfOf
    case .userFederation, .authorizationCode, .deviceCode, .refreshToken: true
    case .clientCredentials, .tokenExchange: false
    }
  }
}
