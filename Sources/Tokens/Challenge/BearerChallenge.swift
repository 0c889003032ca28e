/// A request of an API (RFC 6750 §3, RFC 9470 §3, RFC 9728 §5.1, and Microsoft's `claims` and `authorization_uri`).
package struct BearerChallenge: Sendable, Hashable {
  /// The `error` parameter.
  package enum Code: Sendable, Hashable {
    /// `insufficient_claims`: the token has to prove more (Microsoft).
    case insufficientClaims
    /// `invalid_token`: expired, revoked or malformed.
    case invalidToken
    /// `insufficient_scope`: the token may not do this.
    case insufficientScope
    /// `insufficient_user_authentication`: the person has to authenticate in another way, or anew (RFC 9470).
    case insufficientUserAuthentication
    /// Anything else, in lower case and at most 64 characters.
    case other(String)

    /// The code of a text, in any case.
    init(_ text: String) {
      switch text.lowercased() {
      case "insufficient_claims": self = .insufficientClaims
      case "invalid_token": self = .invalidToken
      case "insufficient_scope": self = .insufficientScope
      case "insufficient_user_authentication": self = .insufficientUserAuthentication
      case let other: self = .other(other)
      }
    }
  }

  /// The error; nil if the API names none.
  package var error: Code?
  /// The API's prose, one line, at most 300 characters. For logs.
  package var description: String?
  /// The protection space, at most 300 characters.
  package var realm: String?
  /// The address that the API names for sign-ins. It is shown and never contacted.
  package var authority: String?
  package var scopes = ScopeSet.none
  /// The claims a token has to prove.
  package var claims: Claims?
  /// The authentication contexts wanted, most wanted first (RFC 9470).
  package var authenticationContexts: [String] = []
  /// Seconds since the person's last sign-in at most (RFC 9470).
  package var maxAge: Int64?
  /// The address of the API's description (RFC 9728). Not fetched.
  package var resourceMetadata: String?

  /// True if two challenges ask for the same, whatever else they contain.
  func asksTheSame(as other: BearerChallenge) -> Bool {
    error == other.error && scopes == other.scopes && claims == other.claims
      && authenticationContexts == other.authenticationContexts && maxAge == other.maxAge
  }
}
