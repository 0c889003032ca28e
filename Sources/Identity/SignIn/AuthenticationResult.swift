public import Bytes
public import Tokens

/// What an acquisition returns: the token, and what is known of it, in MSAL's words. The refresh token stays in the
/// cache.
public struct AuthenticationResult: Sendable {
  /// The access token; `revealed()` shows it.
  public let accessToken: Secret
  /// `Bearer`, as the provider spells it.
  public let tokenType: String
  /// What was granted; may be less than was asked for.
  public let scopes: ScopeSet
  /// When the access token ends.
  public let expiresOn: UnixTime
  /// The tenant signed in to, which need not be the person's home; nil where the provider has none.
  public let tenantID: String?
  /// Whose it is; nil for an application's own.
  public let account: CachedAccount?
  /// Whether the provider was asked for it.
  public let tokenSource: TokenOrigin.Source
  /// The ID token's claims, proven; nil where the token came without a sign-in.
  public let idTokenClaims: JWTClaims?
}

extension AuthenticationResult {
  /// The result of silent acquisition.
  init(_ value: BearerValue) {
    self.init(
      accessToken: value.token, tokenType: "Bearer", scopes: value.scopes, expiresOn: value.lifetime.expiresAt,
      tenantID: value.origin.tenant, account: value.origin.account, tokenSource: value.origin.source,
      idTokenClaims: nil)
  }
}
