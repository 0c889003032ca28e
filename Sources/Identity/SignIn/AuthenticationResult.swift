// Owns what a sign-in leaves in the hands of whoever asked for it. The cache holds the same, and the refresh token.

public import Tokens

/// A token and whose it is, in MSAL's words.
public struct AuthenticationResult: Sendable {
  /// The access token.
  public let accessToken: Secret
  /// `Bearer`.
  public let tokenType: String
  /// What was granted; may be less than was asked for.
  public let scopes: ScopeSet
  /// When the access token ends.
  public let expiresOn: UnixTime
  /// The tenant signed in to, which need not be the person's home; nil where the provider has none.
  public let tenantID: String?
  /// Who signed in.
  public let account: CachedAccount
  /// The ID token's claims, proven.
  public let idTokenClaims: JWTClaims
}
