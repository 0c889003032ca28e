package import Bytes
internal import Platform
internal import Telemetry
package import Tokens

/// Obtains the tokens of this process and keeps them: one request in flight per key, the memory of failures.
/// `AcquisitionPlan` decides, `TokenAcquisition` acts.
///
/// Isolation: everything below is this actor's. The event loops hold the published `BearerValue`s and enter only if
/// there is none, if it is no longer usable, or (without waiting) to have it renewed.
package actor TokenBroker {
  /// The broker's dependencies; tests bring a manual clock.
  package struct Surroundings: Sendable {
    /// The wall clock.
    package var now: @Sendable () -> UnixTime
    /// Draws 0 up to 1.
    package var jitter: @Sendable () -> Double
    /// Waits for seconds, or until the task is cancelled.
    package var sleep: @Sendable (Int64) async -> Void
    /// Waits for an instant of the wall clock, or until the task is cancelled.
    package var wait: @Sendable (UnixTime) async -> Void
    /// Time that callers wait until a token is stored; nil: until it is, for programs that end right after.
    package var filingPatience: Duration?
    /// Waits as long as a caller waits for a request, or until the task is cancelled.
    package var patience: @Sendable () async -> Void
    /// Receives every acquisition that went to a provider.
    package var observe: @Sendable (TokenEvent) -> Void
    /// Receives every new token for the event loops; nil if the one before must no longer be used.
    package var publish: @Sendable (AcquisitionKey, BearerValue?) -> Void

    /// Surroundings with a clock, the system's randomness and real waiting.
    package init(
      now: @escaping @Sendable () -> UnixTime,
      jitter: @escaping @Sendable () -> Double = { Double.random(in: 0..<1) },
      sleep: @escaping @Sendable (Int64) async -> Void = TokenBroker.sleep, filingPatience: Duration? = nil,
      patience: @escaping @Sendable () async -> Void = TokenBroker.patience,
      observe: @escaping @Sendable (TokenEvent) -> Void = { _ in },
      publish: @escaping @Sendable (AcquisitionKey, BearerValue?) -> Void = { _, _ in }
    ) {
      self.now = now
      self.jitter = jitter
      self.sleep = sleep
      wait = { instant in
        let start = now()
        // Short waits: the wall clock may be set, and the machine may sleep.
        repeat {
          await sleep(min(max(instant - now(), 1), 60))
        } while (start..<max(instant, start)).contains(now()) && !Task.isCancelled
      }
      self.filingPatience = filingPatience
      self.patience = patience
      self.observe = observe
      self.publish = publish
    }
  }

  let surroundings: Surroundings
  let store: CacheStore
  let directory: ProviderDirectory
  var states: [AcquisitionKey: TokenState] = [:]
  /// The requests in flight for tokens that replace refused ones.
  var replacementFlights: [AcquisitionKey: TokenFlight] = [:]
  /// The applications whose provider has asked for a pause.
  var paces: [ApplicationName: ApplicationPace] = [:]
  private(set) var turns: [String: TaskQueue] = [:]
  /// The callers' keys among `states`, which are bounded.
  var callers = RecencyMap<AcquisitionKey, Bool>(limit: CallerTokenCounts.usualLimit)
  /// Callers' tokens that were evicted for others.
  var evictions: UInt64 = 0
  /// The first request that waits for each acquisition in flight: the record names it.
  private(set) var waiting: [AcquisitionKey: RequestScope] = [:]

  /// A broker that stores tokens in `store` and serves those it finds there.
  package init(_ surroundings: Surroundings, store: CacheStore = CacheStore.memory()) {
    self.surroundings = surroundings
    self.store = store
    directory = ProviderDirectory(now: surroundings.now, tenants: store.tenants)
  }

  /// Waits for seconds, or until the task is cancelled.
  package static let sleep: @Sendable (Int64) async -> Void = { await StoreSurroundings.sleep(.seconds($0)) }

  /// A usable token: the held one at once, the cache's, or the provider's.
  ///
  /// Callers of equal keys wait for the same request and get the same token or the same error, or a time-out if the
  /// provider is slow: the request then continues, and its result is kept. Cancelling a caller does not end it either.
  package func bearer(for subscription: TokenSubscription) async throws(AcquisitionError) -> BearerValue {
    let key = subscription.key
    // By its index: the subscript would copy the whole state.
    if let index = states.index(forKey: key),
      let step = states.values[index].stepInHand(at: surroundings.now())
    {
      return try await carryOut(step, subscription)
    }
    if key.subject.isCaller { try admitCaller(subscription) }
    var state = await look(subscription)
    if state.missingGrant != nil, case .refuse = state.step(at: surroundings.now()) {
      // A person who has just signed in must not be told to sign in.
      await store.look()
      state = await look(subscription)
    }
    return try await carryOut(state.step(at: surroundings.now()), subscription)
  }

  private func carryOut(
    _ step: TokenStep, _ subscription: TokenSubscription
  ) async throws(AcquisitionError) -> BearerValue {
    switch step {
    case .serve(let value): return value
    case .serveAndRenew(let value):
      if value.claimsRefresh(at: surroundings.now()) { _ = flight(for: subscription) }
      return value
    case .wait:
      let flight = flight(for: subscription)
      note(RequestScope.current, waitingFor: subscription.key)
      return try await result(of: flight, subscription)
    case .refuse(let error): throw error
    }
  }

  /// Names the caller that waits for a request in flight in its record, unless one is named already.
  func note(_ scope: RequestScope?, waitingFor key: AcquisitionKey) {
    if waiting[key] == nil { waiting[key] = scope }
  }

  /// As `bearer`, after a look into the cache: for programs that ask rarely and do not follow it.
  package func currentBearer(for subscription: TokenSubscription) async throws(AcquisitionError) -> BearerValue {
    await look(subscription)
    return try await bearer(for: subscription)
  }

  /// As `bearer`, but a token that ends within seconds is renewed first, if that is possible.
  package func bearer(
    for subscription: TokenSubscription, leastLife: Int64
  ) async throws(AcquisitionError) -> BearerValue {
    let value = try await bearer(for: subscription)
    guard !value.lifetime.lives(leastLife, at: surroundings.now()) else { return value }
    do throws(AcquisitionError) { return try await renewedBearer(for: subscription) } catch { return value }
  }

  /// A new token from the provider (MSAL's `force_refresh`), one for simultaneous callers, and none in a pause.
  package func renewedBearer(for subscription: TokenSubscription) async throws(AcquisitionError) -> BearerValue {
    try await carryOut(await look(subscription).forcedStep(at: surroundings.now()), subscription)
  }

  /// The status of one subscription. If no request has asked for it yet, the cache is read; no provider is asked.
  package func status(of subscription: TokenSubscription) async -> TokenStatus {
    if subscription.key.subject.isAccount { return await look(subscription).status }
    return (states[subscription.key] ?? TokenState(subscription: subscription)).status
  }

  /// The status of these subscriptions, by application and scopes; nil: of all. If no request has asked for one yet,
  /// the cache is read; no provider is asked. Callers are counted, and not named.
  package func statuses(of subscriptions: [TokenSubscription]? = nil) async -> [TokenStatus] {
    for subscription in subscriptions ?? [] where subscription.key.subject.isAccount { await look(subscription) }
    let keys = subscriptions.map { Set($0.map(\.key)) } ?? Set(states.keys)
    return keys.filter { !$0.subject.isCaller }.compactMap { states[$0]?.status }
      .sorted { ($0.application, $0.scopes.description) < ($1.application, $1.scopes.description) }
  }

  /// Changes to another configuration: keeps the states of these subscriptions. Requests in flight continue.
  package func follow(_ subscriptions: [TokenSubscription]) {
    let wanted = Dictionary(subscriptions.map { ($0.key, $0) }) { first, _ in first }
    for (key, state) in states where state.flight == nil || wanted[key] != nil {
      if let subscription = wanted[key] {
        states[key]?.subscription = subscription
      } else if state.subscription.key.subject.isCaller, wanted[state.subscription.routeKey] != nil {
        continue
      } else {
        callers.remove(key)
        states[key] = nil
      }
    }
    for (key, state) in states where state.isOfFormerCredential { surroundings.publish(key, state.value) }
  }

  /// The metadata of a subscription's provider, fetched once and kept as for token requests.
  package func discover(for subscription: TokenSubscription) async throws(AcquisitionError) -> ProviderMetadata {
    try await mapping(
      { (error: AcquisitionError) in error.told(to: subscription.key, retryAfter: 1) },
      awaiting: await directory.metadata(for: subscription.application))
  }

  /// The claims of another issuer's token that proves a subscription's application, unverified: a provider compares
  /// them with the registration. nil if there is no such token, or it has no claims.
  package func proofClaims(for subscription: TokenSubscription) async throws(AcquisitionError) -> JWTClaims? {
    try await mapping(
      { (error: AcquisitionError) in error.told(to: subscription.key, retryAfter: 1) },
      awaiting: await subscription.application.handedOutClaims(directory.surroundings(sleep: surroundings.sleep)))
  }

  // MARK: The cache

  /// Updates a state from the cache, and publishes the changes to the loops.
  @discardableResult
  func look(_ subscription: TokenSubscription) async -> TokenState {
    let key = subscription.key
    if key.subject.isCaller { return states[key] ?? TokenState(subscription: subscription) }
    let realm = await directory.knownRealm(for: subscription.application)
    let cached = await store.lookup(
      for: key, of: subscription.application, realm: realm, now: surroundings.now())
    // No suspension from here on: what was read is written.
    var state = states[key] ?? TokenState(subscription: subscription)
    state.take(cached, now: surroundings.now(), jitter: surroundings.jitter)
    keep(state, for: key)
    return state
  }

  /// Keeps a changed state, and publishes the token that serves from now on, unless it is a caller's.
  private func keep(_ state: TokenState, for key: AcquisitionKey) {
    let former = states.updateValue(state, forKey: key)?.value
    if state.value !== former, !key.subject.isCaller { surroundings.publish(key, state.value) }
  }

  // MARK: Requests

  /// The request in flight for a key, started if there is none.
  func flight(for subscription: TokenSubscription) -> TokenFlight {
    let key = subscription.key
    if let flight = states[key]?.flight { return flight }
    // Now: another process's token may be adopted before the task begins, and is then the answer.
    let purpose = TokenAcquisition.Purpose.supply(
      replacing: states[key]?.value, hasFailed: states[key]?.hasFailed ?? false)
    let flight = Task { await self.acquire(subscription, for: purpose) }
    states[key, default: TokenState(subscription: subscription)].flight = flight
    if key.subject.isCaller { keepCaller(key) }
    return flight
  }

  /// One request from lock to stored token: its result is kept, published and reported.
  func acquire(
    _ subscription: TokenSubscription, for purpose: TokenAcquisition.Purpose
  ) async -> Result<BearerValue, AcquisitionError> {
    let key = subscription.key
    let start = store.surroundings.now()
    let isSupply = if case .supply = purpose { true } else { false }
    let acquisition = TokenAcquisition(self, for: subscription, purpose)
    let wanted = acquisition.key
    // Now: once the new token is stored, a look into the cache may take it before this does.
    let isOfChangedCredential = isSupply && states[key]?.isOfFormerCredential ?? false
    let report = await report(of: acquisition, wanted.turn(of: states[key]?.account))
    // No suspension until the state is written back. A reload may have dropped one that only a replacement is for.
    let now = surroundings.now()
    let isKept = isSupply || states[key] != nil
    var state = states[key] ?? TokenState(subscription: subscription)
    let result = state.end(purpose, with: report, for: wanted, now: now, jitter: surroundings.jitter())
    var scope = RequestScope.current
    if isSupply {
      state.flight = nil
      scope = waiting.removeValue(forKey: key) ?? scope
    } else {
      replacementFlights[wanted] = nil
    }
    if isKept { keep(state, for: key) }
    if key.subject.isCaller { noteCaller(subscription, report.result, result) }
    if report.wasSent {
      let event = TokenEvent(
        key: subscription.routeKey, application: subscription.application.name, authority: key.authority,
        scopes: wanted.scopes, grantType: subscription.grantType,
        duration: store.surroundings.duration(since: start),
        outcome: report.outcome(result, servedUntil: state.usable(at: now)?.lifetime.expiresAt),
        isOfChangedCredential: isOfChangedCredential)
      RequestScope.$current.withValue(scope) { surroundings.observe(event) }
    }
    // A sign-out between storing and here has been reported already, when this token was not held yet.
    if key.subject.isAccount { await look(subscription) }
    return result
  }

  /// The result of an acquisition in its turn, which lasts until the token is stored: callers may get it before.
  func report(of acquisition: TokenAcquisition, _ turn: String) async -> TokenAcquisition.Report {
    guard let patience = surroundings.filingPatience else {
      return await inTurn(turn) { await acquisition.run(lock: turn) }
    }
    return await FirstAnswer.wait { answer in
      var eager = acquisition
      eager.patience = patience
      eager.serve = answer.give
      Task { [eager] in answer.give(await self.inTurn(turn) { await eager.run(lock: turn) }) }
    }
  }

  /// Returns when every received token is stored, or cannot be.
  package func settle() async {
    for turn in turns.values { await turn.settle() }
  }

  /// Runs `work` after all other work of one name. Providers with refresh-token reuse detection may revoke the session.
  func inTurn<Answer: Sendable>(
    _ name: String, _ work: @escaping @Sendable () async -> Answer
  ) async -> Answer {
    let queue = turns[name] ?? TaskQueue()
    turns[name] = queue
    let answer = await queue.run(work)
    if queue.isIdle { turns[name] = nil }
    return answer
  }
}

extension AcquisitionKey {
  /// The name of requests that must not overlap: those with the same refresh tokens, whatever their scopes; for an
  /// application's own token, the same request of another process.
  func turn(of account: CachedAccount?) -> String {
    // Services of managed identities allow few requests at a time.
    if authority.isManagedIdentity { return "\(authority)" }
    let start = "\(authority) \(clientID)"
    return switch subject {
    case .application: "\(start) \(scopes) \(parameters) \(claims?.text ?? "")"
    case .account: "\(start) \(account?.homeAccountID ?? "")"
    case .agentUser(let user): "\(start) \(user) \(scopes) \(parameters) \(claims?.text ?? "")"
    case .caller(let digest, let grant):
      "\(start) \(grant) \(digest.map { Base64URL.encode($0.bytes) } ?? "") \(scopes) \(parameters) "
        + (claims?.text ?? "")
    }
  }
}
