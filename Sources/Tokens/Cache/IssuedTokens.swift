internal import HTTP

/// The product of the accounts (`authority_type`).
package enum AccountAuthority: String, Sendable, Hashable {
  /// Entra, B2C, External ID and every OpenID Connect issuer.
  case standard = "MSSTS"
  /// Active Directory Federation Services.
  case federationServices = "ADFS"
}

/// A reply and its circumstances, as needed to store it.
package struct IssuedTokens: Sendable {
  package var reply: TokenReply
  package var clientID: String
  /// The name of its entries: the authority's host or its issuer (`Authority.environments`).
  package var environment: String
  /// The tenant in the token endpoint's path.
  package var realm: String
  package var authority: AccountAuthority
  /// The `grant_type` of the request.
  package var grantType: String
  package var requested: ScopeSet
  /// The name a person typed, if the reply does not repeat it.
  package var usernameHint: String?
  /// Separates the tokens from plain ones of the same host and tenant (`ext_cache_key`); nil for plain ones.
  package var isolation: String?
  /// The scopes that the person was asked for, if they are not `requested`.
  package var authorized: ScopeSet?
  /// True if the access token was requested without further parameters, which a cache cannot store.
  package var isPlain = true
  /// The account they were renewed for. The reply to a refresh may not repeat it; nil is the account in the reply.
  package var renewedFor: String?
  /// True if a person just signed in. A silent refresh never brings an account back that was removed meanwhile.
  package var isSignIn: Bool

  package init(
    _ reply: TokenReply, clientID: String, environment: String, realm: String, authority: AccountAuthority = .standard,
    grantType: String, requested: ScopeSet, usernameHint: String? = nil, isolation: String? = nil,
    authorized: ScopeSet? = nil, renewedFor: String? = nil, isSignIn: Bool = true
  ) {
    self.reply = reply
    self.clientID = clientID
    self.environment = environment
    self.realm = realm
    self.authority = authority
    self.grantType = grantType
    self.requested = requested
    self.usernameHint = usernameHint
    self.isolation = isolation
    self.authorized = authorized
    self.renewedFor = renewedFor
    self.isSignIn = isSignIn
  }

  /// True if the application requested them for itself: only such tokens may be in a cache without an owner.
  var isApplicationOnly: Bool { grantType == TokenGrant.clientCredentials.type }
  /// The names that the person's entries may have.
  var environments: [String] { [environment] + (isolation.flatMap { HTTPURL(ifValid: $0) }.map { [$0.host] } ?? []) }
  var home: String? { renewedFor ?? reply.identity.homeAccountID }
  var target: String { reply.grantedScopes(requested: requested).description }
  /// The scopes of the refresh token. A reply that names no scopes grants the requested ones (RFC 6749 §5.1).
  var refreshTarget: String { authorized.map { reply.grantedScopes(requested: $0).description } ?? target }
}
