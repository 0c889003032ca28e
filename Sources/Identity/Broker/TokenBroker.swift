// The tokens of this process: one request in flight per key, the held tokens, the memory of failures. What to do is
// `AcquisitionPlan`'s decision, how is `TokenAcquisition`'s. Requests with a warm token never come here.

package import Bytes
internal import Platform
internal import Telemetry
package import Tokens

/// Obtains tokens and keeps them.
///
/// Isolation: everything below is this actor's. The event loops hold the published `BearerValue`s and enter only where
/// there is none, where it is not usable any more, or (without waiting) to have it renewed.
package actor TokenBroker {
  /// What the broker needs from outside; tests bring a manual clock.
  package struct Surroundings: Sendable {
    /// The wall clock.
    package var now: @Sendable () -> UnixTime
    /// Draws 0 up to 1.
    package var jitter: @Sendable () -> Double
    /// Waits for seconds, or until the task is cancelled.
    package var sleep: @Sendable (Int64) async -> Void
    /// How long callers wait for a token that has arrived to be filed; nil is until it is, which programs need that end
    /// right after.
    package var filingPatience: Duration?
    /// Waits as long as a caller waits for a request, or until the task is cancelled.
    package var patience: @Sendable () async -> Void
    /// Hears of every acquisition that went to a provider.
    package var observe: @Sendable (TokenEvent) -> Void
    /// Takes every new token, to hand it to the event loops; nil where the one before must not be used any more.
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
  /// The requests in flight for tokens in the place of refused ones.
  var replacementFlights: [AcquisitionKey: Task<Result<BearerValue, AcquisitionError>, Never>] = [:]
  private(set) var turns: [String: Task<Void, Never>] = [:]
  /// The callers' keys among `states`, which are bounded.
  var callers = CallerStates()
  /// The first request that waits for what is in flight: its record names that one.
  private(set) var waiting: [AcquisitionKey: RequestScope] = [:]

  /// A broker that keeps what it obtains in `store` and serves what it finds there.
  package init(_ surroundings: Surroundings, store: CacheStore = CacheStore.memory()) {
    self.surroundings = surroundings
    self.store = store
    directory = ProviderDirectory(now: surroundings.now, tenants: store.tenants)
  }

  /// Waits for seconds, or until the task is cancelled.
  package static let sleep: @Sendable (Int64) async -> Void = { seconds in
    do {
      try await Task.sleep(for: .seconds(seconds))
    } catch {
      // Cancelled: the wait is over, and the caller looks at its own task next.
    }
  }

  /// A usable token: the held one at once, the cache's, or the provider's.
  ///
  /// Callers of equal keys wait for the same request and get the same token or the same error, or a time-out where the
  /// provider is slow: the request goes on then, and what it brings is kept. Cancelling a caller does not end it
  /// either.
  package func bearer(for subscription: TokenSubscription) async throws(AcquisitionError) -> BearerValue {
    let key = subscription.key
    var now = surroundings.now()
    // By its index: the subscript would copy the whole state.
    if let index = states.index(forKey: key) {
      if let value = states.values[index].value, value.isUsable(at: now) {
        guard value.lifetime.freshness(at: now) == .aging else { return value }
      } else if let flight = states.values[index].flight, states.values[index].throttle.pause(at: now) == nil {
        return try await awaited(flight, subscription)
      }
    }
    if subscription.key.subject.isCaller { try admitCaller(subscription) }
    var state = await look(subscription)
    switch state.plan(at: surroundings.now()) {
    case .interactionRequired, .cacheUnavailable:
      // A person who has just signed in must not be told to sign in.
      await store.look()
      state = await look(subscription)
    case .useCached, .useCachedAndRefreshBehind, .request, .fail: break
    }
    now = surroundings.now()
    switch state.plan(at: now) {
    case .useCached:
      if let value = state.value { return value }
    case .useCachedAndRefreshBehind:
      if let value = state.value {
        if value.claimsRefresh(at: now) { _ = flight(for: subscription) }
        return value
      }
    case .fail(let until):
      if let failure = state.failure { throw failure.error.retrying(after: max(until - now, 1)) }
    case .interactionRequired(let reason):
      throw .interactionRequired(InteractionRequired(reason, key))
    case .cacheUnavailable:
      throw .cacheUnavailable(retryAfter: AcquisitionError.cachePause)
    case .request:
      break
    }
    return try await awaited(flight(for: subscription), subscription)
  }

  /// Has the record of a request in flight say which caller waits for it, where it says none yet.
  func note(_ scope: RequestScope?, waitingFor key: AcquisitionKey) {
    if waiting[key] == nil { waiting[key] = scope }
  }

  /// As `bearer`, after a look into the cache: for programs that ask now and then and do not follow it.
  package func currentBearer(for subscription: TokenSubscription) async throws(AcquisitionError) -> BearerValue {
    await look(subscription)
    return try await bearer(for: subscription)
  }

  /// A token from the provider, whatever is held (MSAL's `force_refresh`). Callers at the same time share one request,
  /// and where the provider wants to be left alone, that is respected.
  package func renewedBearer(for subscription: TokenSubscription) async throws(AcquisitionError) -> BearerValue {
    let state = await look(subscription)
    let now = surroundings.now()
    if let reason = state.grant.reason { throw .interactionRequired(InteractionRequired(reason, subscription.key)) }
    if case .unknown = state.grant { throw .cacheUnavailable(retryAfter: AcquisitionError.cachePause) }
    if let until = state.throttle.pause(at: now), let failure = state.failure {
      throw failure.error.retrying(after: max(until - now, 1))
    }
    return try await result(of: flight(for: subscription), subscription)
  }

  /// How every key stands that was ever asked for, by application and scopes. Callers are counted, and not named.
  package func statuses() -> [TokenStatus] { statuses { !$0.subject.isCaller } }

  private func statuses(where isWanted: (AcquisitionKey) -> Bool) -> [TokenStatus] {
    states.values.filter { isWanted($0.subscription.key) }.map(\.status)
      .sorted { ($0.application, $0.scopes.description) < ($1.application, $1.scopes.description) }
  }

  /// How one subscription stands. Where no request has asked for it yet, the cache is read; no provider is asked.
  package func status(of subscription: TokenSubscription) async -> TokenStatus {
    if subscription.key.subject.isAccount { return await look(subscription).status }
    return (states[subscription.key] ?? TokenState(subscription: subscription)).status
  }

  /// How the keys of these subscriptions stand. Where no request has asked for it yet, the cache is read; no provider
  /// is asked.
  package func statuses(of subscriptions: [TokenSubscription]) async -> [TokenStatus] {
    for subscription in subscriptions where subscription.key.subject.isAccount { await look(subscription) }
    let keys = Set(subscriptions.map(\.key))
    return statuses { keys.contains($0) && !$0.subject.isCaller }
  }

  /// Goes over to another configuration: what these subscriptions want is kept, with the application as it is now; the
  /// rest is forgotten. Requests in flight go on.
  package func follow(_ subscriptions: [TokenSubscription]) {
    let wanted = Dictionary(subscriptions.map { ($0.key, $0) }) { first, _ in first }
    for (key, state) in states where state.flight == nil || wanted[key] != nil {
      if let subscription = wanted[key] {
        states[key]?.subscription = subscription
      } else if state.subscription.key.subject.isCaller, wanted[state.subscription.routeKey] != nil {
        continue
      } else {
        callers.forget(key)
        states[key] = nil
      }
    }
    for (key, state) in states where state.isOfFormerCredential { surroundings.publish(key, state.value) }
  }

  /// What the provider of a subscription says of itself, asked once and kept as for token requests.
  package func discover(for subscription: TokenSubscription) async throws(AcquisitionError) -> ProviderMetadata {
    do throws(AcquisitionFailure) {
      return try await directory.metadata(for: subscription.application)
    } catch {
      throw error.error(for: subscription.key, retryAfter: 1)
    }
  }

  /// What the token of another issuer says that proves a subscription's application, unverified: a provider compares it
  /// with what is registered. nil where there is no such token, or it says nothing.
  package func proofClaims(for subscription: TokenSubscription) async throws(AcquisitionError) -> JWTClaims? {
    do throws(AcquisitionFailure) {
      return try await subscription.application.handedOutClaims(
        directory.surroundings(now: surroundings.now, sleep: surroundings.sleep))
    } catch {
      throw error.error(for: subscription.key, retryAfter: 1)
    }
  }

  // MARK: The cache

  /// Brings a state up to what the cache holds, and tells the loops what changed for them.
  @discardableResult
  func look(_ subscription: TokenSubscription) async -> TokenState {
    let key = subscription.key
    if key.subject.isCaller { return states[key] ?? TokenState(subscription: subscription) }
    let realm = await directory.knownRealm(for: subscription.application)
    let cached = await store.lookup(
      for: key, of: subscription.application, realm: realm, now: surroundings.now())
    // No suspension from here on: what was read is written.
    var state = states[key] ?? TokenState(subscription: subscription)
    let change = state.take(cached, now: surroundings.now(), jitter: surroundings.jitter)
    states[key] = state
    switch change {
    case .none: break
    case .adopted(let value): surroundings.publish(key, value)
    case .withdrawn: surroundings.publish(key, nil)
    }
    return state
  }

  // MARK: Requests

  /// The request in flight for a key, started where there is none.
  func flight(
    for subscription: TokenSubscription
  ) -> Task<Result<BearerValue, AcquisitionError>, Never> {
    let key = subscription.key
    if let flight = states[key]?.flight { return flight }
    // Taken now: another process's token may be adopted before the task begins, and is the answer then.
    let held = states[key]?.value
    let flight = Task { await self.acquire(subscription, for: .supply(replacing: held)) }
    states[key, default: TokenState(subscription: subscription)].flight = flight
    if key.subject.isCaller { keepCaller(key) }
    return flight
  }

  /// What a token is requested for.
  enum Purpose: Sendable {
    /// For all callers, in the place of the held token, if there is one.
    case supply(replacing: BearerValue?)
    /// For those whose token an API refused.
    case replacement(TokenRejection, of: BearerValue)
  }

  /// One request from lock to filed token: what it brings is kept, published and reported.
  func acquire(
    _ subscription: TokenSubscription, for purpose: Purpose
  ) async -> Result<BearerValue, AcquisitionError> {
    let key = subscription.key
    let start = ContinuousClock.now
    var (rejection, held, refused): (TokenRejection?, BearerValue?, BearerValue?)
    switch purpose {
    case .supply(let value): held = value
    case .replacement(let asked, let value): (rejection, refused) = (asked, value)
    }
    let wanted = rejection.map(subscription.answering) ?? subscription
    // Asked now: once the new token is filed, a look into the cache may take it before this does.
    let isOfChangedCredential = rejection == nil && states[key]?.isOfFormerCredential ?? false
    let turn = wanted.key.turn(of: states[key]?.account)
    var acquisition = TokenAcquisition(
      subscription: wanted, directory: directory, store: store, now: surroundings.now, jitter: surroundings.jitter,
      sleep: surroundings.sleep, held: held)
    acquisition.refused = refused
    let report = await report(of: acquisition, turn)
    // No suspension until the state is written back. A reload may have dropped one that only a replacement is for.
    var state = states[key] ?? (rejection == nil ? TokenState(subscription: subscription) : nil)
    let now = surroundings.now()
    let result: Result<BearerValue, AcquisitionError>
    let outcome: TokenEvent.Outcome
    switch report.result {
    case .success(var value):
      if let rejection { state?.replacements.keep(value, for: rejection, now: now) }
      // A provider that gave the added scopes alone has not given what the subscription's other requests need.
      if rejection == nil || key.scopes.isCovered(by: value.scopes) {
        value = state?.take(value) ?? value
        // A loop has each caller's tokens from its own requests.
        if !key.subject.isCaller { surroundings.publish(key, value) }
      }
      outcome = .obtained(value.lifetime, granted: value.scopes)
      result = .success(value)
    case .failure(let failure):
      let servedUntil = state?.value.flatMap { $0.isUsable(at: now) ? $0.lifetime.expiresAt : nil }
      var told = failure.error(for: wanted.key, retryAfter: 1)
      // A provider that is down is down for everything; what a person has to bring, this part of the API alone
      // requires.
      if rejection == nil || failure.errorClass == .transient,
        let taken = state?.take(failure, offered: report.offered, now: now)
      {
        told = taken
      }
      outcome = .failed(told, failure.errorClass, servedUntil: servedUntil)
      result = .failure(told)
    }
    var scope = RequestScope.current
    if rejection == nil {
      state?.flight = nil
      scope = waiting.removeValue(forKey: key) ?? scope
    } else {
      replacementFlights[wanted.key] = nil
    }
    states[key] = state
    if key.subject.isCaller { noteCaller(subscription, report.result, result) }
    if report.wasSent {
      let event = TokenEvent(
        key: subscription.routeKey, application: subscription.application.name, authority: key.authority,
        scopes: wanted.key.scopes,
        grantType: subscription.grantType, duration: ContinuousClock.now - start, outcome: outcome,
        isOfChangedCredential: isOfChangedCredential)
      RequestScope.$current.withValue(scope) { surroundings.observe(event) }
    }
    // A sign-out between the filing and here has been told already, when this token was not held yet.
    if key.subject.isAccount { await look(subscription) }
    return result
  }

  /// What an acquisition brings, after all others of its turn. Its callers have it before it is filed, where that takes
  /// long; the turn lasts until it is.
  func report(of acquisition: TokenAcquisition, _ turn: String) async -> TokenAcquisition.Report {
    guard let patience = surroundings.filingPatience else {
      return await inTurn(turn) { await acquisition.run(lock: turn) }
    }
    return await withCheckedContinuation { continuation in
      let waiting = Locked<CheckedContinuation<TokenAcquisition.Report, Never>?>(continuation)
      let answer: @Sendable (TokenAcquisition.Report) -> Void = { report in
        waiting.withLock { waiting in
          defer { waiting = nil }
          return waiting
        }?.resume(returning: report)
      }
      var eager = acquisition
      eager.patience = patience
      eager.serve = answer
      Task { [eager] in answer(await self.inTurn(turn) { await eager.run(lock: turn) }) }
    }
  }

  /// Returns when everything that arrived is filed, or cannot be.
  package func settle() async {
    for turn in turns.values { await turn.value }
  }

  /// Runs `work` after all other work of one name. Some providers take the second use of one refresh token for theft.
  func inTurn<Answer: Sendable>(
    _ name: String, _ work: @escaping @Sendable () async -> Answer
  ) async -> Answer {
    let previous = turns[name]
    let task = Task {
      await previous?.value
      return await work()
    }
    let end = Task { _ = await task.value }
    turns[name] = end
    let answer = await task.value
    if turns[name] == end { turns[name] = nil }
    return answer
  }
}

extension AcquisitionKey {
  /// What requests must not overlap with: others with the same refresh tokens, whatever their scopes; for an
  /// application's own token, the same request of another process.
  func turn(of account: CachedAccount?) -> String {
    // Services of managed identities want few requests at a time.
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
