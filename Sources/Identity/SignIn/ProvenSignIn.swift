// Owns a sign-in that is believed and not yet kept: between the two, the person may be asked.

internal import Tokens

/// Who signed in, and what is to be filed.
struct ProvenSignIn: Sendable {
  let account: CachedAccount
  let claims: JWTClaims
  let filing: SignInFiling
  /// Where it was.
  let metadata: ProviderMetadata
}

/// What a sign-in leaves in the cache.
struct SignInFiling: Sendable {
  let reply: TokenReply
  /// The account's id.
  let home: String
  let application: Application
  let realm: String
  let grantType: String
  let requested: ScopeSet
  /// What the person agreed to, where the provider takes scopes strictly.
  let authorized: ScopeSet?
  /// When the reply came.
  let arrival: UnixTime

  /// Adds it to a document; whose it is, or nil where nothing can be filed.
  func add(to document: inout CacheDocument) -> CachedAccount? {
    let authority = application.authority
    let issued = IssuedTokens(
      reply, clientID: application.clientID, environment: document.environment(ofAccount: home, at: authority),
      realm: realm, authority: authority.accountAuthority, grantType: grantType, requested: requested,
      isolation: authority.isolation, authorized: authorized)
    guard document.add(issued, now: arrival) else { return nil }
    return document.accounts(authority: authority, clientID: application.clientID).first { $0.homeAccountID == home }
  }
}
