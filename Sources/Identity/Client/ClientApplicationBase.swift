internal import Bytes
internal import HTTP
internal import HTTPClient
internal import Platform
internal import Tokens

/// The parts of a `PublicClientApplication` or a `ConfidentialClientApplication`: those of the proxy, with an event
/// loop of its own for the few requests to its provider. It has no public members.
public struct ClientApplicationBase: Sendable {
  @Boxed private(set) var application: Application
  let cache: CacheStore
  let surroundings: TokenBroker.Surroundings
  let broker: TokenBroker
  let loop: EventLoop

  init(_ application: Application, cache: CacheStore, surroundings: TokenBroker.Surroundings, loop: EventLoop) {
    self.application = application
    self.cache = cache
    self.surroundings = surroundings
    self.loop = loop
    broker = TokenBroker(surroundings, store: cache)
  }

  init(
    clientID: String, credential: ApplicationCredential?, authority text: String, capabilities: [String],
    caFile: String?,
    cache: CacheStore
  ) throws(ClientApplicationError) {
    let authority = try mapping(ClientApplicationError.authority, Authority(text))
    let loop = try mapping(ClientApplicationError.system, EventLoop())
    let trust =
      authority.url.scheme == .https
      ? try mapping(ClientApplicationError.trust, TLSContext.client(trustPath: caFile)) : nil
    let source = try credential?.source(at: authority)
    let fetcher = Fetcher(loop: loop, resolver: Resolver())
    self.init(
      Application(
        name: clientID, authority: authority, clientID: clientID,
        credential: source, capabilities: capabilities, trust: caFile ?? "",
        fetch: try source?.fetch(fetcher, provider: trust) ?? fetcher.bound(tls: trust)),
      cache: cache, surroundings: TokenBroker.Surroundings(now: { .now }), loop: loop)
  }

  init(_ identity: ManagedIdentity, capabilities: [String]) throws(ClientApplicationError) {
    let loop = try mapping(ClientApplicationError.system, EventLoop())
    let source = CredentialSource.managedIdentity(identity)
    self.init(
      Application(
        name: identity.id.name, authority: .managedIdentity(identity.host.source), clientID: identity.id.name,
        credential: source, capabilities: capabilities,
        fetch: try source.fetch(Fetcher(loop: loop, resolver: Resolver()), provider: nil)),
      cache: CacheStore.memory(),
      surroundings: TokenBroker.Surroundings(now: { .now }), loop: loop)
  }

  var people: SignedInAccounts { SignedInAccounts(application, store: cache) }

  /// A token of this application. A forced one, and one with claims, is the provider's.
  func acquire(
    _ subject: TokenSubject, _ scopes: ScopeSet, isForced: Bool, claims: Claims?
  ) async throws(ClientApplicationError) -> AuthenticationResult {
    let subscription = TokenSubscription(application: application, subject: subject, scopes: scopes, challenge: claims)
    return AuthenticationResult(
      try await mapping(
        ClientApplicationError.acquisition,
        awaiting: isForced || claims != nil
          ? await broker.renewedBearer(for: subscription) : await broker.currentBearer(for: subscription)))
  }

  /// A token in exchange for a caller's.
  func acquire(
    _ grant: CallerGrant, _ token: Secret, _ scopes: ScopeSet, _ parameters: TokenParameters, _ claims: Claims?
  ) async throws(ClientApplicationError) -> AuthenticationResult {
    let assertion = try mapping({ ClientApplicationError.signIn(.crypto($0)) }, CallerAssertion(unverified: token))
    var subscription = TokenSubscription(
      application: application, subject: .caller(nil, grant), scopes: scopes, parameters: parameters
    ).onBehalf(of: assertion)
    if let claims { subscription = subscription.answering(.claims(claims)) }
    return AuthenticationResult(
      try await mapping(ClientApplicationError.acquisition, awaiting: await broker.bearer(for: subscription)))
  }

  func signIn(
    _ scopes: [String], _ extraScopes: [String], _ claims: Claims?
  ) throws(ClientApplicationError) -> SignInRequest {
    var request = SignInRequest(
      application: application, scopes: try accountScopes(scopes), extraScopes: try Self.words(extraScopes))
    request.terms.claims = claims
    return request
  }

  func accountScopes(_ words: [String]) throws(ClientApplicationError) -> ScopeSet {
    let scopes = try Self.words(words)
    try mapping(ClientApplicationError.accountScopes, application.authority.checkForAccount(scopes))
    return scopes
  }

  func applicationScopes(_ words: [String]) throws(ClientApplicationError) -> ScopeSet {
    let scopes = try Self.words(words)
    try mapping(ClientApplicationError.applicationScopes, application.authority.checkForApplication(scopes))
    return scopes
  }

  private static func words(_ words: [String]) throws(ClientApplicationError) -> ScopeSet {
    try mapping(ClientApplicationError.scope, ScopeSet(words))
  }
}
