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
    let authority = try Self.authority(text)
    let loop = try Self.loop()
    let trust = authority.url.scheme == .https ? try Self.trust(caFile) : nil
    let source = try credential?.source(at: authority)
    let fetcher = Fetcher(loop: loop, resolver: Resolver())
    self.init(
      Application(
        name: clientID, authority: authority, clientID: clientID,
        credential: source, capabilities: capabilities, trust: caFile ?? "",
        fetch: try source?.fetch(fetcher, provider: trust) ?? fetcher.bound(tls: trust)),
      cache: cache, surroundings: TokenBroker.Surroundings(now: { UnixTime(WallClock.now.seconds) }), loop: loop)
  }

  init(_ identity: ManagedIdentity, capabilities: [String]) throws(ClientApplicationError) {
    let loop = try Self.loop()
    let source = CredentialSource.managedIdentity(identity)
    self.init(
      Application(
        name: identity.id.name, authority: .managedIdentity(identity.host.source), clientID: identity.id.name,
        credential: source, capabilities: capabilities,
        fetch: try source.fetch(Fetcher(loop: loop, resolver: Resolver()), provider: nil)),
      cache: CacheStore.memory(),
      surroundings: TokenBroker.Surroundings(now: { UnixTime(WallClock.now.seconds) }), loop: loop)
  }

  var people: SignedInAccounts { SignedInAccounts(application, store: cache) }

  /// The rule for asking the provider although a token is cached.
  enum Renewal {
    case whenDue, forced
  }

  func acquire(
    _ subject: TokenSubject, _ scopes: ScopeSet, renewal: Renewal, claims: Claims?
  ) async throws(ClientApplicationError) -> AuthenticationResult {
    let subscription = TokenSubscription(application: application, subject: subject, scopes: scopes, challenge: claims)
    do throws(AcquisitionError) {
      let value =
        switch renewal {
        case .whenDue where claims == nil: try await broker.currentBearer(for: subscription)
        case .whenDue, .forced: try await broker.renewedBearer(for: subscription)
        }
      return AuthenticationResult(value)
    } catch {
      throw .acquisition(error)
    }
  }

  /// A token in exchange for a caller's.
  func acquire(
    _ grant: CallerGrant, _ token: Secret, _ scopes: ScopeSet, _ parameters: TokenParameters, _ claims: Claims?
  ) async throws(ClientApplicationError) -> AuthenticationResult {
    let assertion: CallerAssertion
    do throws(CryptoError) {
      assertion = try CallerAssertion(unverified: token)
    } catch {
      throw .signIn(.crypto(error))
    }
    var subscription = TokenSubscription(
      application: application, callersBy: grant, scopes: scopes, parameters: parameters
    ).onBehalf(of: assertion)
    if let claims { subscription = subscription.answering(.claims(claims)) }
    do throws(AcquisitionError) {
      return AuthenticationResult(try await broker.bearer(for: subscription))
    } catch {
      throw .acquisition(error)
    }
  }

  func signIn(
    _ scopes: [String], _ extraScopes: [String], _ claims: Claims?
  ) throws(ClientApplicationError) -> SignInRequest {
    var request = SignInRequest(
      application: application, scopes: try accountScopes(scopes), extraScopes: try Self.words(extraScopes))
    request.claims = claims
    return request
  }

  func accountScopes(_ words: [String]) throws(ClientApplicationError) -> ScopeSet {
    let scopes = try Self.words(words)
    do throws(AccountScopeError) {
      try application.authority.checkForAccount(scopes)
      return scopes
    } catch {
      throw .accountScopes(error)
    }
  }

  func applicationScopes(_ words: [String]) throws(ClientApplicationError) -> ScopeSet {
    let scopes = try Self.words(words)
    do throws(ScopeRuleError) {
      try application.authority.checkForApplication(scopes)
      return scopes
    } catch {
      throw .applicationScopes(error)
    }
  }

  private static func words(_ words: [String]) throws(ClientApplicationError) -> ScopeSet {
    do throws(ScopeSetError) {
      return try ScopeSet(words)
    } catch {
      throw .scope(error)
    }
  }

  private static func authority(_ text: String) throws(ClientApplicationError) -> Authority {
    do throws(AuthorityError) {
      return try Authority(text)
    } catch {
      throw .authority(error)
    }
  }

  private static func loop() throws(ClientApplicationError) -> EventLoop {
    do throws(SystemError) {
      return try EventLoop()
    } catch {
      throw .system(error)
    }
  }

  private static func trust(_ caFile: String?) throws(ClientApplicationError) -> TLSContext {
    do throws(TLSConfigurationError) {
      return try TLSContext.client(trustPath: caFile)
    } catch {
      throw .trust(error)
    }
  }
}
