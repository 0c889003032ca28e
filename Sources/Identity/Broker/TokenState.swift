internal import Bytes
internal import Tokens

/// The broker's state of one key, and its changes by the cache, a success or a failure.
struct TokenState {
  /// The subscription. Its application may be replaced by another of the same key with another route to the provider.
  var subscription: TokenSubscription
  /// The held token, expired or not.
  private(set) var value: BearerValue?
  /// True if the held token was obtained with a credential that has been replaced since, and the new one has obtained
  /// none.
  private(set) var isOfFormerCredential = false
  /// The grant for a new token, as of the last look into the cache.
  private(set) var grant: AvailableGrant
  /// The token's account, as of the last look into the cache.
  private(set) var account: CachedAccount?
  /// The time before which no request is sent.
  private(set) var throttle: Throttle
  /// The failure and its beginning; nil after a success.
  private(set) var failure: TokenStatus.Failure?
  /// The refresh tokens that the last failure is about.
  private var refused: [Secret] = []
  /// The rejections of its tokens that were answered recently.
  var rejections = RejectionBackoff()
  /// The tokens that answered them.
  var replacements = ReplacementTokens()
  var flight: Task<Result<BearerValue, AcquisitionError>, Never>?

  init(subscription: TokenSubscription) {
    self.subscription = subscription.withoutAssertion
    throttle = Throttle()
    switch subscription.key.subject {
    case .application, .agentUser: grant = .clientCredentials
    case .account: grant = .nothing(.noAccount)
    case .caller(let digest, _):
      grant = .assertion
      if digest != nil { throttle = Throttle(.caller) }
    }
  }

  var status: TokenStatus {
    TokenStatus(
      application: subscription.application.name, subject: subscription.key.subject, agent: subscription.key.agent,
      scopes: subscription.key.scopes,
      account: account, expiresAt: value?.lifetime.expiresAt, failure: failure, isRefreshing: flight != nil,
      isOfFormerCredential: isOfFormerCredential)
  }

  /// The step for a caller now.
  func plan(at now: UnixTime) -> AcquisitionPlan {
    AcquisitionPlan(held: value?.lifetime, grant: grant, throttle: throttle, now: now)
  }

  /// A change by a look into the cache.
  enum Change {
    /// Nothing that concerns the loops.
    case none
    /// There is a newer token.
    case adopted(BearerValue)
    /// The held token must not be used any more.
    case withdrawn
  }

  /// Updates from the cache.
  ///
  /// A token whose account is gone, or is another one, is withdrawn. Failures are forgotten if they were about other
  /// refresh tokens, or about a missing account: a person has signed in.
  mutating func take(_ cached: CacheLookup, now: UnixTime, jitter: () -> Double) -> Change {
    grant = cached.grant
    account = cached.account
    var change = Change.none
    if let old = value, subscription.key.subject.isAccount,
      old.origin.account?.homeAccountID != cached.account?.homeAccountID
    {
      old.withdraw()
      value = nil
      isOfFormerCredential = false
      change = .withdrawn
    }
    if subscription.key.subject.isAccount { replacements.withdraw(notOf: cached.account?.homeAccountID) }
    if subscription.readsCache, let found = cached.accessToken {
      let lifetime = found.lifetime(jitter: jitter())
      if isNews(found, lifetime, now: now), subscription.canUse(found.secret) {
        let new = BearerValue(found, lifetime: lifetime, key: subscription.key, account: cached.account)
        change = .adopted(take(new))
      }
    }
    if let reason = cached.grant.reason {
      remember(.interactionRequired(InteractionRequired(reason, subscription.key)), now: now, until: now)
    } else if case .unknown = cached.grant {
      remember(.cacheUnavailable(retryAfter: AcquisitionError.cachePause), now: now, until: now)
    } else if failure != nil, isFree || failure?.error.isAboutCache == true {
      throttle.succeeded()
      failure = nil
      letRefreshBeClaimed()
    }
    return change
  }

  /// True if the cache's token replaces the held one. Of two of the same second and for the same scopes it is the
  /// cache's: the held one was there too, and has been replaced.
  ///
  /// A newer token for more scopes may mean for a person that they have signed in again. For an application it means
  /// only that another route's token replaced this one in the cache: the held one serves until it is due.
  private func isNews(_ found: HeldAccessToken, _ lifetime: TokenLifetime, now: UnixTime) -> Bool {
    guard lifetime.freshness(at: now) != .expired else { return false }
    guard let value, value.isUsable(at: now) else { return true }
    let isForSameScopes = found.scopeSet?.decorated == value.scopes.decorated
    if lifetime.isNewer(than: value.lifetime) {
      return isForSameScopes || subscription.key.subject != .application || value.lifetime.freshness(at: now) == .aging
    }
    return lifetime.obtainedAt == value.lifetime.obtainedAt && isForSameScopes && found.secret != value.token
  }

  /// True if the last failure was not about the present grant.
  private var isFree: Bool {
    guard case .refreshTokens(let tokens) = grant else { return false }
    return tokens.contains { !refused.contains($0.secret) }
  }

  /// Takes over the token of the former credential.
  mutating func inherit(_ former: BearerValue) {
    guard value == nil else { return }
    value = former
    isOfFormerCredential = true
  }

  /// Records a new token; returns the one that is held now. A token that another process, or an earlier request, has
  /// stored proves nothing of a changed credential, which must still obtain one.
  @discardableResult
  mutating func take(_ new: BearerValue) -> BearerValue {
    if isOfFormerCredential, new.origin.source == .cache {
      let due = new.dueNow
      value = due
      letRefreshBeClaimed()
      return due
    }
    value = new
    isOfFormerCredential = false
    throttle.succeeded()
    failure = nil
    refused = []
    return new
  }

  /// Records a failure; returns the callers' error. The held token stays, and may be claimed for renewal after the
  /// pause.
  /// - Parameter offered: the available refresh tokens.
  mutating func take(_ new: AcquisitionFailure, offered: [Secret], now: UnixTime) -> AcquisitionError {
    refused = offered
    // A failure without a request needs no pause: it holds until the cache changes.
    if !new.isLocal {
      throttle.failed(
        new.errorClass, retryAfter: new.retryAfter,
        mayPropagate: subscription.application.credential?.isHandedOut ?? false, now: now)
    }
    let until = throttle.pause(at: now) ?? now + 1
    let error = new.error(for: subscription.key, retryAfter: until - now)
    remember(error, now: now, until: until)
    letRefreshBeClaimed()
    return error
  }

  /// Records one caller's failure, as far as it concerns the application or its provider: for the status of the route.
  /// A failure that every caller would meet pauses the requests of all. `inTenant`: the caller's tenant was asked, and
  /// others have others.
  mutating func takeFailureOfCaller(
    _ new: AcquisitionFailure, told: AcquisitionError, inTenant: Bool, now: UnixTime
  ) {
    if told.isAssertionRefused { return }
    if new.isOfEveryCaller(inTenant: inTenant) {
      _ = take(new, offered: [], now: now)
    } else {
      remember(told, now: now, until: now + told.retryAfter)
    }
  }

  /// Records that the provider has given a caller a token.
  mutating func takeSuccessOfCaller() {
    throttle.succeeded()
    failure = nil
  }

  private mutating func remember(_ error: AcquisitionError, now: UnixTime, until: UnixTime) {
    failure = TokenStatus.Failure(error: error, since: failure?.since ?? now, retryAt: until)
  }

  /// Lets a caller claim the held token's renewal once more, when it is due and no pause is active.
  func letRefreshBeClaimed() {
    guard let value else { return }
    value.releaseRefresh(at: max(value.lifetime.refreshAt, failure?.retryAt ?? value.lifetime.refreshAt))
  }
}

/// The newest token for each rejection, beside the subscription's own: parts of one API may require different claims,
/// which no single token has. `RejectionBackoff` decides when a rejection is answered again.
struct ReplacementTokens {
  private var entries: [(rejection: TokenRejection, value: BearerValue)] = []

  var count: Int { entries.count }

  /// Keeps a token for the next requests with the same rejection. Of more than `RejectionBackoff.limit` the oldest
  /// goes.
  mutating func keep(_ value: BearerValue, for rejection: TokenRejection, now: UnixTime) {
    entries.removeAll { $0.rejection == rejection || !$0.value.isUsable(at: now) }
    if entries.count >= RejectionBackoff.limit { entries.removeFirst() }
    entries.append((rejection, value))
  }

  /// The token that answered a rejection, if it is not the one that is refused now.
  func token(for rejection: TokenRejection, besides refused: BearerValue, now: UnixTime) -> BearerValue? {
    entries.first { $0.rejection == rejection }.map(\.value).flatMap { value in
      value.isUsable(at: now) && value.id != refused.id && value.token != refused.token ? value : nil
    }
  }

  /// Forgets a token that the API no longer accepts for any request.
  mutating func forget(_ refused: BearerValue) { entries.removeAll { $0.value.id == refused.id } }

  /// Ends the use of the tokens of other accounts.
  mutating func withdraw(notOf homeAccountID: String?) {
    for entry in entries where entry.value.origin.account?.homeAccountID != homeAccountID { entry.value.withdraw() }
    entries.removeAll { $0.value.origin.account?.homeAccountID != homeAccountID }
  }
}
