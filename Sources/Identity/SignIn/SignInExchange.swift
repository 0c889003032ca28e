// The common part of both ways to sign in: from the metadata to tokens, a verified ID token, and the cache.

internal import Bytes
internal import Tokens

struct SignInExchange {
  let request: SignInRequest
  let store: CacheStore
  let now: @Sendable () -> UnixTime
  let directory: ProviderDirectory

  /// Requests whose provider's metadata comes from `directory`, or is requested for this sign-in.
  init(
    request: SignInRequest, store: CacheStore, directory: ProviderDirectory? = nil,
    now: @escaping @Sendable () -> UnixTime
  ) {
    self.request = request
    self.store = store
    self.now = now
    self.directory = directory ?? ProviderDirectory(now: now, tenants: store.tenants)
  }

  private var application: Application { request.application }

  func metadata() async throws(SignInError) -> ProviderMetadata {
    var metadata = try await mapping(failure, awaiting: await directory.metadata(for: application))
    if !application.hasOfflineAccess { metadata.offlineAccess = .declined }
    return metadata
  }

  /// Requests tokens, once: a request whose answer is lost may have used the grant up.
  func redeem(
    _ grant: TokenGrant, scopes: ScopeSet, about account: RoutingHint? = nil, _ metadata: ProviderMetadata
  ) async throws(AcquisitionError) -> TokenReply {
    var reply = try await requests(metadata).tokens(
      for: grant, scopes: scopes, claims: request.mergedClaims, parameters: request.terms.parameters, about: account)
    // Some providers give one unasked.
    if !application.hasOfflineAccess { reply.refreshToken = nil }
    return reply
  }

  func requests(_ metadata: ProviderMetadata) -> ProviderRequests {
    directory.requests(of: application, metadata, sleep: TokenBroker.sleep)
  }

  /// Verifies the ID token. Nothing is kept yet, and never anything of an unexpected person.
  func prove(
    _ reply: TokenReply, _ grant: TokenGrant, nonce: String?, _ metadata: ProviderMetadata
  ) async throws(SignInError) -> ProvenSignIn {
    let claims = try await provenClaims(of: reply, nonce: nonce, metadata)
    guard let home = reply.identity.homeAccountID else { throw .withoutAccount }
    let (authority, terms) = (application.authority, request.terms)
    var issued = IssuedTokens(
      reply, clientID: application.clientID, environment: authority.environment, realm: metadata.realm,
      authority: authority.accountAuthority, grantType: grant.type, requested: terms.scopes,
      isolation: authority.isolation,
      authorized: authority.isStrictAboutScopes ? terms.scopes.union(terms.extraScopes).decorated : nil)
    issued.isPlain = terms.parameters.isEmpty
    let filing = SignInFiling(home: home, authority: authority, issued: issued, arrival: now())
    var document = await store.snapshot(of: filing.interest).document
    guard let account = filing.add(to: &document, at: filing.arrival) else { throw .withoutAccount }
    if let expected = request.expectedAccount, !account.isCalled(expected) { throw .otherAccount(account.name) }
    return ProvenSignIn(account: account, claims: claims, filing: filing, metadata: metadata)
  }

  func file(_ proven: ProvenSignIn) async throws(SignInError) -> AuthenticationResult {
    let (filing, expected, now) = (proven.filing, request.expectedAccount, now)
    let filed = try await mapping(
      SignInError.store,
      awaiting: await store.modify(about: filing.interest) { document -> CachedAccount? in
        var fuller = document
        let account = filing.add(to: &fuller, at: now())
        if let account, expected.map(account.isCalled) ?? true { document = fuller }
        return account
      })
    // A later process must find the tokens while the provider is down, too.
    await store.tenants.remember(proven.metadata, of: application.authority)
    guard let account = filed else { throw .withoutAccount }
    if let expected, !account.isCalled(expected) { throw .otherAccount(account.name) }
    let reply = filing.issued.reply
    return AuthenticationResult(
      accessToken: reply.accessToken, tokenType: reply.tokenType,
      scopes: reply.grantedScopes(requested: filing.issued.requested), expiresOn: filing.arrival + reply.expiresIn,
      tenantID: proven.claims.tenant, account: account, tokenSource: .identityProvider, idTokenClaims: proven.claims)
  }

  /// Asks the program if it wants to be asked, and stores everything.
  func finish(_ proven: ProvenSignIn) async throws(SignInError) -> AuthenticationResult {
    if case .program(let keeps) = request.confirmation, !(await keeps(proven.account)) {
      throw .notConfirmed(proven.account.name)
    }
    return try await file(proven)
  }

  private func provenClaims(
    of reply: TokenReply, nonce: String?, _ metadata: ProviderMetadata
  ) async throws(SignInError) -> JWTClaims {
    guard let text = reply.idToken else { throw .idToken(.absent) }
    let token = try mapping(SignInError.idToken, SignedJWT(text.revealed()))
    let keys = try await mapping(failure, awaiting: await SigningKeys.fetch(application, metadata, now: now()))
    var rule = IDTokenValidation(
      issuer: metadata.issuer, authority: application.authority, clientID: application.clientID, nonce: nonce,
      maxAge: nonce == nil ? nil : request.terms.maxAge)
    rule.mayLackNonce = metadata.supportsPKCE
    return try mapping(SignInError.idToken, rule.accept(token, now: now()) { keys.verdict($0, $1) })
  }

  /// The meaning of a failed request for the person who waits for it.
  func failure(_ error: AcquisitionError) -> SignInError {
    if case .token(let answer) = error.cause, let reply = answer.reply {
      switch answer.errorClass {
      case .declined: return .declined(reply)
      case .signInNeeded, .policy, .familyMismatch, .refreshTokenUnusable: return .refused(reply)
      case .configuration, .transient, .pending, .slowDown: break
      }
    }
    return .provider(error.told(to: application))
  }
}

extension AcquisitionError {
  /// The error for someone who signs in or out, and asks for nothing of a subscription.
  func told(to application: Application) -> AcquisitionError {
    told(to: TokenSubscription(application: application, scopes: .none).key, retryAfter: retryAfter ?? 1)
  }
}

/// The person who signed in, and the tokens to store.
struct ProvenSignIn: Sendable {
  let account: CachedAccount
  let claims: JWTClaims
  let filing: SignInFiling
  let metadata: ProviderMetadata
}

/// The entries of a sign-in in the cache.
struct SignInFiling: Sendable {
  /// The account's id.
  let home: String
  let authority: Authority
  /// The reply. The document decides the host of its entries.
  let issued: IssuedTokens
  let arrival: UnixTime

  /// The part of a cache that the person is in.
  var interest: CacheInterest { CacheInterest(.called(home), at: authority, clientID: issued.clientID) }

  /// Adds it to a document, at once or later; returns the account, or nil if nothing can be stored.
  func add(to document: inout CacheDocument, at current: UnixTime) -> CachedAccount? {
    var issued = issued
    issued.environment = document.environment(ofAccount: home, at: authority)
    guard document.add(issued, now: arrival, at: current) else { return nil }
    return document.accounts(authority: authority, clientID: issued.clientID, named: home)
      .first { $0.homeAccountID == home }
  }
}
