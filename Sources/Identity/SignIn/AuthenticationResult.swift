public import Bytes
public import Tokens

/// The result of an acquisition: the token and its facts, in MSAL's words. The refresh token stays in the cache.
public struct AuthenticationResult: Sendable {
  /// The access token; `revealed()` shows it.
  public let accessToken: Secret
  /// `Bearer`, as the provider spells it.
  public let tokenType: String
  /// The granted scopes; may be fewer than requested.
  public let scopes: ScopeSet
  /// The end of the access token.
  public let expiresOn: UnixTime
  /// The tenant signed in to, which need not be the person's home; nil if the provider has none.
  public let tenantID: String?
  /// Its owner; nil for an application's own.
  public let account: CachedAccount?
  /// The source of the token.
  public let tokenSource: TokenOrigin.Source
  /// The ID token's claims, proven; nil if the token came without a sign-in.
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
