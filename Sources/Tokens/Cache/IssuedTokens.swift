// What the cache has to know of a successful reply before it can file it.

/// Which product's accounts these are (`authority_type`).
package enum AccountAuthority: String, Sendable, Hashable {
  /// Entra, B2C, External ID and every OpenID Connect issuer.
  case standard = "MSSTS"
  /// Active Directory Federation Services.
  case federationServices = "ADFS"
}

/// A reply and the circumstances it was obtained in.
package struct IssuedTokens: Sendable {
  /// What the provider sent.
  package var reply: TokenReply
  /// The application.
  package var clientID: String
  /// The name to file them under: the authority's host, in lower case and without a port, or its issuer
  /// (`Authority.environments`).
  package var environment: String
  /// The tenant, as the token endpoint's path has it.
  package var realm: String
  /// Which product.
  package var authority: AccountAuthority
  /// The `grant_type` of the request.
  package var grantType: String
  /// What was asked for.
  package var requested: ScopeSet
  /// The name a person typed in, where the reply may not repeat it.
  package var usernameHint: String?
  /// Keeps the tokens apart from plain ones of the same host and tenant (`ext_cache_key`); nil for plain ones.
  package var isolation: String?
  /// What the person was asked for, where the provider grants exactly that or says what else; nil is `requested`.
  package var authorized: ScopeSet?
  /// Whether the access token is one for everybody who asks for its scopes. One that was requested with further
  /// parameters is not: a cache has no place that says with which.
  package var isPlain = true
  /// Whose account they were renewed for. The reply to a refresh may not say it again; nil is whom the reply names.
  package var renewedFor: String?
  /// Whether a person just signed in. A silent refresh never brings an account back that was removed meanwhile.
  package var isSignIn: Bool

  /// A reply and its circumstances.
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

  /// Whether the application asked for itself: the only tokens that may stand in a cache without an owner.
  var isApplicationOnly: Bool { grantType == TokenGrant.clientCredentials.type }
  /// The names under which the person's entries may stand.
  var environments: [String] { [environment] + (isolation.flatMap(CacheDocument.issuerHost).map { [$0] } ?? []) }
  var home: String? { renewedFor ?? reply.identity.homeAccountID }
  var target: String { reply.grantedScopes(requested: requested).description }
  /// What the refresh token is good for. A reply that names no scopes grants what was asked for (RFC 6749 §5.1).
  var refreshTarget: String { authorized.map { reply.grantedScopes(requested: $0).description } ?? target }
}
