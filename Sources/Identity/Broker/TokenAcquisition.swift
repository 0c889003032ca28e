internal import Bytes
internal import Tokens

/// Gets one token from a provider, or from the cache if another process was faster. It remembers nothing; the broker
/// decides what callers are told and how long requests pause.
struct TokenAcquisition: Sendable {
  let broker: TokenBroker
  /// The subscription whose callers wait.
  let asking: TokenSubscription
  let purpose: Purpose
  /// The subscription of the token, which has what a rejection demands.
  let subscription: TokenSubscription
  /// Time that callers wait until a token is stored: another process may hold the cache's lock. nil: until it is.
  var patience: Duration?
  /// Receives the report early, if callers are served before the token is stored.
  var serve: @Sendable (Report) -> Void = { _ in }

  enum Purpose: Sendable {
    /// For all callers, replacing the held token, if there is one. A cached token counts only if it is newer.
    /// `hasFailed`: requests for it have failed since the last success.
    case supply(replacing: BearerValue?, hasFailed: Bool = false)
    /// For callers whose token an API refused.
    case replacement(TokenRejection, of: BearerValue)
  }

  init(_ broker: TokenBroker, for asking: TokenSubscription, _ purpose: Purpose) {
    (self.broker, self.asking, self.purpose) = (broker, asking, purpose)
    if case .replacement(let rejection, _) = purpose {
      subscription = asking.answering(rejection)
    } else {
      subscription = asking
    }
  }

  struct Report: Sendable {
    var result: Result<BearerValue, AcquisitionError>
    /// The refresh tokens that were available: a failure is about them.
    var offered: [Secret] = []
    /// True if a provider was asked for a token, or for its metadata.
    var wasSent = false
    /// The end of the pause of all requests of the application, if that is why it was not sent, or what it has brought.
    var pausedUntil: UnixTime?

    /// The end to record, with the result for the callers.
    func outcome(_ told: Result<BearerValue, AcquisitionError>, servedUntil: UnixTime?) -> TokenEvent.Outcome {
      switch (told, result) {
      case (.success(let value), _): .obtained(value.lifetime, granted: value.scopes)
      case (.failure(let error), .failure(let met)): .failed(error, met.errorClass, servedUntil: servedUntil)
      case (.failure, .success): preconditionFailure("an acquired token was told as a failure")
      }
    }
  }

  /// Time that one process waits for another's request before it makes its own.
  static let lockWait = TimeSpan.seconds(15)
  /// The same if the other's request may use a refresh token that is ours too: longer than several others, one after
  /// another, wait for their answers. The lease of a process that has died ends by itself.
  static let accountLockWait = TimeSpan.seconds(600)

  var key: AcquisitionKey { subscription.key }
  var store: CacheStore { broker.store }
  var directory: ProviderDirectory { broker.directory }
  var now: @Sendable () -> UnixTime { broker.surroundings.now }
  var jitter: @Sendable () -> Double { broker.surroundings.jitter }
  var sleep: @Sendable (Int64) async -> Void { broker.surroundings.sleep }

  private var held: BearerValue? {
    if case .supply(let held, _) = purpose { held } else { nil }
  }

  /// True if other proxies may obtain theirs at the same time: after a start, or at the end of an outage. While a
  /// shared cache is away each process has a token of its own, and on its return each group adopts its newest one.
  func isSpread(at now: UnixTime) -> Bool {
    guard case .supply(let held, let hasFailed) = purpose else { return false }
    return hasFailed || held?.isUsable(at: now) != true || subscription.isFiled && store.trouble != nil
  }

  private var refused: BearerValue? {
    if case .replacement(_, let refused) = purpose { refused } else { nil }
  }

  /// Gets the token. Only one process at a time does so for `lock`.
  func run(lock: String) async -> Report {
    // Other processes do not share tokens that are kept in memory only.
    guard subscription.isFiled else { return await attempt() }
    let wait = key.subject == .application ? Self.lockWait : Self.accountLockWait
    return await store.withRefreshLock(lock, within: wait) { await attempt() }
  }

  private func attempt() async -> Report {
    var report = Report(result: .failure(required(.noTokens)))
    report.result = await Result(awaiting: try await token(&report)).flatMap(usable)
    return report
  }

  /// A token, if it can be used: if it is bound to a certificate, its users must show that.
  func usable(_ value: BearerValue) -> Result<BearerValue, AcquisitionError> {
    if subscription.canUse(value.token) { return .success(value) }
    let bound = TokenBinding.certificate(of: value.token) ?? ""
    return .failure(
      AcquisitionError(
        TokenFailure(
          .refused(
            TokenErrorReply(
              error: TokenErrorReply.boundElsewhere,
              description: "the token is bound to the certificate with x5t#S256 \(bound.printable(limit: 80))")),
          status: 200)))
  }

  private func token(_ report: inout Report) async throws(AcquisitionError) -> BearerValue {
    if let identity = subscription.application.managedIdentity {
      report.wasSent = true
      return try await token(of: identity)
    }
    switch key.subject {
    case .application, .account: break
    case .agentUser(let user):
      report.wasSent = true
      return try await token(ofAgentUser: user)
    case .caller(_, let grant): return try await token(by: grant, &report)
    }
    // If no account is signed in, or another process was faster, the provider is not needed.
    let realm = await directory.knownRealm(for: subscription.application)
    var cached = await lookUp(realm: realm, &report)
    if let found = adopted(cached) { return found }
    if let reason = cached.grant.reason { throw required(reason) }
    if case .unknown = cached.grant { throw AcquisitionError(.cacheUnread) }
    report.wasSent = true
    let metadata = try await metadata(of: subscription.application)
    if metadata.realm != realm {
      cached = await lookUp(realm: metadata.realm, &report)
      if let found = adopted(cached) {
        report.wasSent = false
        return found
      }
    }
    if let failure = await broker.refusal(of: asking) {
      (report.wasSent, report.pausedUntil) = (false, now() + (failure.retryAfter ?? 0))
      throw failure
    }
    let sent = now()
    do throws(AcquisitionError) {
      switch cached.grant {
      case .nothing(let reason): throw required(reason)
      case .unknown: throw AcquisitionError(.cacheUnread)
      case .assertion: throw unusableAssertion
      case .clientCredentials:
        let reply = try await requests(metadata).tokens(
          for: .clientCredentials, scopes: key.scopes, claims: key.claims, parameters: key.parameters,
          mayRepeat: { await broker.mayRepeat(asking, sent: sent) })
        // Before the token is stored and the lease ends: others that wait for theirs must know it.
        _ = await broker.pause(after: nil, to: asking, sent: sent)
        return await filed(reply, sent, metadata)
      case .refreshTokens(let tokens):
        guard let account = cached.account else { throw required(.noAccount) }
        return try await redeemed(tokens, account, metadata)
      }
    } catch {
      report.pausedUntil = await broker.pause(after: error, to: asking, sent: sent)
      throw error
    }
  }

  /// A managed identity's token. It is not stored: the machine gives it out again, and to no other machine.
  private func token(of identity: ManagedIdentity) async throws(AcquisitionError) -> BearerValue {
    let sent = now()
    let client = ManagedIdentityClient(
      identity: identity, fetch: subscription.application.fetch, now: now, sleep: sleep)
    let reply = try await client.token(
      for: key.scopes.resource ?? key.scopes.description, capabilities: subscription.application.capabilities,
      refused: refused?.token)
    let lifetime =
      held?.token == reply.accessToken
      ? TokenLifetime(ofSameToken: reply.expiresIn, now: sent)
      : TokenLifetime(
        expiresIn: reply.expiresIn, refreshIn: reply.refreshIn, isSpread: isSpread(at: sent), now: sent,
        jitter: jitter())
    return BearerValue(reply.accessToken, lifetime: lifetime, scopes: key.scopes, origin: TokenOrigin())
  }

  private func lookUp(realm: String?, _ report: inout Report) async -> CacheLookup {
    let cached = await store.lookup(for: key, of: subscription.application, realm: realm, now: now())
    report.offered = cached.grant.refreshTokens.map(\.secret)
    return cached
  }

  /// The cache's token, if it is newer than the one in hand.
  private func adopted(_ cached: CacheLookup) -> BearerValue? {
    guard subscription.readsCache, let token = cached.accessToken, subscription.canUse(token.secret) else {
      return nil
    }
    let lifetime = token.lifetime(jitter: jitter())
    if let held = held?.lifetime, held.freshness(at: now()) != .expired, !lifetime.isNewer(than: held) { return nil }
    return BearerValue(token, lifetime: lifetime, key: key, account: cached.account)
  }

  /// Tries refresh tokens until one works. The first one's failure is reported.
  private func redeemed(
    _ tokens: [HeldRefreshToken], _ account: CachedAccount, _ metadata: ProviderMetadata
  ) async throws(AcquisitionError) -> BearerValue {
    var first: AcquisitionError?
    var mismatch: AcquisitionError?
    var tried: [Secret] = []
    let ordered =
      key.authority.isStrictAboutScopes ? HeldRefreshToken.ordered(tokens, for: key.scopes) : tokens
    for token in ordered where !tried.contains(token.secret) {
      tried.append(token.secret)
      do throws(AcquisitionError) {
        let sent = now()
        let reply = try await reply(redeeming: token, of: account, metadata)
        return try await filed(reply, sent, for: account, redeeming: token, metadata)
      } catch {
        guard error.isAboutRefreshToken, error.interactionRequired?.reason != .noAccount else { throw error }
        // The application is not in the family: no other token of it would do. The failure of its own token comes
        // first.
        if error.errorClass == .familyMismatch, token.clientID != subscription.application.clientID {
          mismatch = error
          break
        }
        if error.errorClass == .refreshTokenUnusable { await change { $0.drop(token) } }
        first = first ?? error
      }
    }
    throw first ?? mismatch ?? required(.noTokens)
  }

  private func reply(
    redeeming token: HeldRefreshToken, of account: CachedAccount, _ metadata: ProviderMetadata
  ) async throws(AcquisitionError) -> TokenReply {
    let hint = RoutingHint(homeAccountID: account.homeAccountID)
    var refusal = required(.noTokens)
    for scopes in token.scopesToRequest(key.scopes, at: key.authority) {
      do throws(AcquisitionError) {
        return try await reply(to: .refreshToken(token.secret), scopes: scopes, about: hint, metadata)
      } catch {
        guard key.authority.isStrictAboutScopes, case .token(let failure) = error.cause, failure.isAboutScopes else {
          throw error
        }
        // Another refresh token may be for these scopes, and else a sign-in that asks for them.
        refusal = required(.consentRequired, failure)
      }
    }
    throw refusal
  }

  func required(_ reason: InteractionReason, _ failure: TokenFailure? = nil) -> AcquisitionError {
    AcquisitionError(reason, key, reply: failure?.reply, retryAfter: failure?.retryAfter)
  }

  /// The failure of a caller's token that has ended, or names no tenant although one is needed.
  var unusableAssertion: AcquisitionError { AcquisitionError(.refused(AssertionRefused(.invalidToken, key))) }

  func reply(
    to grant: TokenGrant, scopes: ScopeSet, about account: RoutingHint? = nil, _ metadata: ProviderMetadata
  ) async throws(AcquisitionError) -> TokenReply {
    try await requests(metadata).tokens(
      for: grant, scopes: scopes, claims: key.claims, parameters: key.parameters, about: account)
  }

  func requests(_ metadata: ProviderMetadata) -> ProviderRequests {
    directory.requests(of: subscription.application, metadata, sleep: sleep)
  }

  /// The metadata of an application's provider, for a request that uses them now.
  func metadata(of application: Application) async throws(AcquisitionError) -> ProviderMetadata {
    try await repeatedOnce(sleep) { () async throws(AcquisitionError) in
      try await directory.metadata(for: application, answerLimit: ProviderRequests.usualAnswerLimit)
    }
  }
}

extension BearerValue {
  convenience init(
    _ token: HeldAccessToken, lifetime: TokenLifetime, key: AcquisitionKey, account: CachedAccount?
  ) {
    self.init(
      token.secret, lifetime: lifetime, scopes: token.scopeSet ?? key.scopes,
      origin: TokenOrigin(.cache, authority: key.authority, realm: token.realm, account: account))
  }
}

extension TokenLifetime {
  /// True if a token arrived after another one, or outlives it.
  func isNewer(than other: TokenLifetime) -> Bool {
    obtainedAt > other.obtainedAt || expiresAt > other.expiresAt
  }
}
