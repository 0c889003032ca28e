internal import Bytes
internal import HTTP
internal import HTTPClient
internal import Tokens

/// The state of one key, a pure machine: a demand has a step (`TokenStep.swift`), and lookups, replies and failures are
/// events that change it. `TokenBroker` carries the steps out.
struct TokenState {
  /// The subscription. Its application may be replaced by another of the same key with another route to the provider.
  var subscription: TokenSubscription
  private(set) var held = HeldToken.none
  /// The account and the grant for a new token, as of the last look into the cache.
  private(set) var account: CachedAccount?
  private(set) var grant: AvailableGrant
  private(set) var trouble: Trouble
  /// The rejections of its tokens that were answered recently, and the tokens that answered them.
  var rejected = RejectedTokens()
  /// The request in flight that renews the held token.
  var flight: TokenFlight?

  /// The token that serves, expired or not.
  enum HeldToken {
    case none
    case current(BearerValue)
    /// A token of a credential that has been replaced since, while the new one has obtained none.
    case former(BearerValue)
  }

  /// The failures since the last success.
  struct Trouble {
    /// The time before which no request is sent.
    fileprivate(set) var throttle: Throttle
    /// The failure and its beginning; nil after a success.
    fileprivate(set) var failure: TokenStatus.Failure?
    /// The refresh tokens that the last failure is about.
    fileprivate var refused: [Secret] = []
  }

  init(subscription: TokenSubscription) {
    self.subscription = subscription.withoutAssertion
    trouble = Trouble(throttle: Throttle())
    switch subscription.key.subject {
    case .application, .agentUser: grant = .clientCredentials
    case .account: grant = .nothing(.noAccount)
    case .caller(let digest, _):
      grant = .assertion
      if digest != nil { trouble.throttle = Throttle(.caller) }
    }
  }

  var value: BearerValue? {
    switch held {
    case .none: nil
    case .current(let value), .former(let value): value
    }
  }

  /// True if the held token was obtained with a credential that has been replaced since.
  var isOfFormerCredential: Bool {
    if case .former = held { true } else { false }
  }

  /// True if requests have failed since the last success.
  var hasFailed: Bool { trouble.throttle.failures > 0 }

  /// The held token, if a request may carry it.
  func usable(at now: UnixTime) -> BearerValue? { value.flatMap { $0.isUsable(at: now) ? $0 : nil } }

  var status: TokenStatus {
    TokenStatus(
      application: subscription.application.name, subject: subscription.key.subject, agent: subscription.key.agent,
      scopes: subscription.key.scopes,
      account: account, expiresAt: value?.lifetime.expiresAt, failure: trouble.failure, isRefreshing: flight != nil,
      isOfFormerCredential: isOfFormerCredential)
  }

  // MARK: The cache

  /// Updates from the cache. A token whose account is gone, or is another one, is withdrawn. Failures are forgotten if
  /// they were about other refresh tokens, or about a missing account: a person has signed in.
  mutating func take(_ cached: CacheLookup, now: UnixTime, jitter: () -> Double) {
    (grant, account) = (cached.grant, cached.account)
    if subscription.key.subject.isAccount {
      let home = cached.account?.homeAccountID
      if let value, value.origin.account?.homeAccountID != home {
        value.withdraw()
        held = .none
      }
      rejected.withdraw(notOf: home)
    }
    if subscription.readsCache, let found = cached.accessToken {
      let lifetime = found.lifetime(jitter: jitter())
      if isNews(found, lifetime, now: now), subscription.canUse(found.secret) {
        take(BearerValue(found, lifetime: lifetime, key: subscription.key, account: cached.account))
      }
    }
    if let error = missingGrant {
      remember(error, now: now, until: now)
    } else if let failure = trouble.failure, isFree || failure.error.isAboutCache {
      recover()
      letRefreshBeClaimed()
    }
  }

  /// The failure that the last look into the cache implies; nil if a token can be requested.
  var missingGrant: AcquisitionError? { missingGrant(for: subscription.key) }

  /// The same for a token that answers a rejection.
  func missingGrant(for key: AcquisitionKey) -> AcquisitionError? {
    if let reason = grant.reason { return AcquisitionError(reason, key, retryAfter: 1) }
    if case .unknown = grant { return AcquisitionError(.cacheUnread, retryAfter: AcquisitionError.cachePause) }
    return nil
  }

  /// True if the cache's token replaces the held one. Of two of the same second and for the same scopes it is the
  /// cache's: the held one was there too, and has been replaced.
  ///
  /// A newer token for more scopes may mean for a person that they have signed in again. For an application it means
  /// only that another route's token replaced this one in the cache: the held one serves until it is due.
  private func isNews(_ found: HeldAccessToken, _ lifetime: TokenLifetime, now: UnixTime) -> Bool {
    guard lifetime.freshness(at: now) != .expired else { return false }
    guard let value = usable(at: now) else { return true }
    let isForSameScopes = found.scopeSet?.decorated == value.scopes.decorated
    if lifetime.isNewer(than: value.lifetime) {
      return isForSameScopes || subscription.key.subject != .application || value.lifetime.freshness(at: now) == .aging
    }
    return lifetime.obtainedAt == value.lifetime.obtainedAt && isForSameScopes && found.secret != value.token
  }

  /// True if the last failure was not about the present grant.
  private var isFree: Bool {
    guard case .refreshTokens(let tokens) = grant else { return false }
    return tokens.contains { !trouble.refused.contains($0.secret) }
  }

  // MARK: Tokens

  /// Takes over the token of the former credential.
  mutating func inherit(_ former: BearerValue) {
    if case .none = held { held = .former(former) }
  }

  /// Records a new token; returns the one that is held now. A token that another process, or an earlier request, has
  /// stored proves nothing of a changed credential, which must still obtain one.
  @discardableResult
  mutating func take(_ new: BearerValue) -> BearerValue {
    if isOfFormerCredential, new.origin.source == .cache {
      let due = new.dueNow
      held = .former(due)
      letRefreshBeClaimed()
      return due
    }
    held = .current(new)
    recover()
    trouble.refused = []
    return new
  }

  /// Lets a caller claim the held token's renewal once more, when it is due and no pause is active.
  func letRefreshBeClaimed() {
    guard let value else { return }
    value.releaseRefresh(at: max(value.lifetime.refreshAt, trouble.failure?.retryAt ?? value.lifetime.refreshAt))
  }

  /// Records the end of an acquisition; returns its callers' result.
  /// - Parameter wanted: the key of the request, which a rejection widens.
  mutating func end(
    _ purpose: TokenAcquisition.Purpose, with report: TokenAcquisition.Report, for wanted: AcquisitionKey,
    now: UnixTime, jitter: Double
  ) -> Result<BearerValue, AcquisitionError> {
    switch (report.result, purpose) {
    case (.success(let value), .supply): return .success(take(value))
    case (.success(let value), .replacement(let rejection, _)):
      rejected.keep(value, for: rejection, now: now)
      // A provider that granted the added scopes alone has not granted those that the other requests need.
      return .success(subscription.key.scopes.isCovered(by: value.scopes) ? take(value) : value)
    case (.failure(let error), .replacement) where error.errorClass != .transient:
      // A requirement of a person applies to this part of the API alone; a provider that is down is down for all.
      return .failure(error.told(to: wanted, retryAfter: 1))
    case (.failure(let error), _):
      return .failure(
        take(error, offered: report.offered, pausedUntil: report.pausedUntil, now: now, jitter: jitter))
    }
  }

  // MARK: Failures

  /// Records a failure; returns the callers' error. The held token stays, to be renewed after the pause.
  /// - Parameters:
  ///   - offered: the available refresh tokens.
  ///   - pausedUntil: the end of the pause, if it is that of all requests of the application, or of an earlier one.
  mutating func take(
    _ new: AcquisitionError, offered: [Secret], pausedUntil: UnixTime? = nil, now: UnixTime, jitter: Double
  ) -> AcquisitionError {
    trouble.refused = offered
    if let pausedUntil {
      trouble.throttle.paused(until: pausedUntil, now: now)
    } else if !new.isLocal {
      // A failure without a request needs no pause: it holds until the cache changes.
      trouble.throttle.failed(
        new.errorClass, retryAfter: new.retryAfter,
        mayPropagate: subscription.application.credential?.isHandedOut ?? false,
        before: usable(at: now)?.lifetime.expiresAt, now: now, jitter: jitter)
    }
    let until = trouble.throttle.pause(at: now) ?? now + 1
    let error = new.told(to: subscription.key, retryAfter: until - now)
    remember(error, now: now, until: until)
    letRefreshBeClaimed()
    return error
  }

  /// Records a failure before its request is over; returns the end of the pause that it asks for.
  mutating func pause(after new: AcquisitionError, now: UnixTime, jitter: Double) -> UnixTime? {
    _ = take(new, offered: grant.refreshTokens.map(\.secret), now: now, jitter: jitter)
    return trouble.throttle.pause(at: now)
  }

  /// Records that a request takes longer than a caller waits: the provider counts as not answering, so that callers in
  /// the following pause get the failure at once. Returns the token, if one has arrived meanwhile.
  mutating func takeTimeOut(now: UnixTime) -> Result<BearerValue, AcquisitionError> {
    if let value = usable(at: now) { return .success(value) }
    if let failure = pausedFailure(at: now) { return .failure(failure) }
    let error = AcquisitionError(.unreached(.timedOut(host: subscription.key.authority.url.host)))
    return .failure(take(error, offered: grant.refreshTokens.map(\.secret), now: now, jitter: 0))
  }

  /// Records one caller's failure for the status of the route. One that every caller would meet pauses the requests of
  /// all. `inTenant`: the caller's tenant was asked, and others have others.
  mutating func takeFailureOfCaller(
    _ new: AcquisitionError, told: AcquisitionError, inTenant: Bool, now: UnixTime, jitter: Double
  ) {
    if told.assertionRefused != nil { return }
    if new.isOfEveryCaller(inTenant: inTenant) {
      _ = take(new, offered: [], now: now, jitter: jitter)
    } else {
      remember(told, now: now, until: now + (told.retryAfter ?? 1))
    }
  }

  /// The rule of every pause: nothing is sent before its end, and callers get the failure that began it, with the rest
  /// of the pause. nil if requests may be sent.
  func pausedFailure(at now: UnixTime) -> AcquisitionError? {
    guard let until = trouble.throttle.pause(at: now), let failure = trouble.failure else { return nil }
    return failure.error.retrying(after: max(until - now, 1))
  }

  /// The last failure, if only a person ends it: however long the pause is, no request would.
  func missingSignIn(at now: UnixTime) -> AcquisitionError? {
    guard let error = trouble.failure?.error, error.interactionRequired != nil else { return nil }
    return pausedFailure(at: now) ?? error.retrying(after: 1)
  }

  /// Forgets the failures: a token has arrived, for the route of a caller a caller's.
  mutating func recover() {
    trouble.throttle.succeeded()
    trouble.failure = nil
  }

  private mutating func remember(_ error: AcquisitionError, now: UnixTime, until: UnixTime) {
    trouble.failure = TokenStatus.Failure(error: error, since: trouble.failure?.since ?? now, retryAt: until)
  }
}
