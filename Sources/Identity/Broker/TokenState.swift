internal import Bytes
internal import Tokens

/// What the broker knows of one key, and how the cache, a success or a failure changes it.
struct TokenState {
  /// Who wants it. The application may be replaced by another of the same key, which is reached in another way.
  var subscription: TokenSubscription
  /// The held token, expired or not.
  private(set) var value: BearerValue?
  /// Whether the held token was obtained with a credential that has been replaced since, and the new one has obtained
  /// none.
  private(set) var isOfFormerCredential = false
  /// What can be offered for a new one, as of the last look into the cache.
  private(set) var grant: AvailableGrant
  /// Whose token it is, as of the last look into the cache.
  private(set) var account: CachedAccount?
  /// When the next request may be sent.
  private(set) var throttle: Throttle
  /// What is wrong since when; nil after a success.
  private(set) var failure: TokenStatus.Failure?
  /// The refresh tokens that the last failure is about.
  private var refused: [Secret] = []
  /// The rejections about its tokens that were answered lately.
  var rejections = RejectionBackoff()
  /// What they were answered with.
  var replacements = ReplacementTokens()
  /// The request in flight.
  var flight: Task<Result<BearerValue, AcquisitionError>, Never>?

  /// Nothing known yet.
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

  /// What is told about it.
  var status: TokenStatus {
    TokenStatus(
      application: subscription.application.name, subject: subscription.key.subject, agent: subscription.key.agent,
      scopes: subscription.key.scopes,
      account: account, expiresAt: value?.lifetime.expiresAt, failure: failure, isRefreshing: flight != nil,
      isOfFormerCredential: isOfFormerCredential)
  }

  /// What to do for a caller now.
  func plan(at now: UnixTime) -> AcquisitionPlan {
    AcquisitionPlan(held: value?.lifetime, grant: grant, throttle: throttle, now: now)
  }

  /// What a look into the cache changed.
  enum Change {
    /// Nothing that the loops have to know.
    case none
    /// There is a newer token.
    case adopted(BearerValue)
    /// The held token must not be used any more.
    case withdrawn
  }

  /// Takes in what the cache holds now.
  ///
  /// A token whose account is gone, or is another one, is withdrawn. Failures are forgotten where they were about other
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

  /// Whether the cache's token is to be used in place of the held one. Of two of the same second and for the same
  /// scopes it is the cache's: the held one stood there too, and has been replaced.
  ///
  /// A token for more scopes that is newer may mean for a person that they have signed in again. For an application it
  /// means only that another route's token took the place of this one in the cache: the held one serves until it is
  /// due.
  private func isNews(_ found: HeldAccessToken, _ lifetime: TokenLifetime, now: UnixTime) -> Bool {
    guard lifetime.freshness(at: now) != .expired else { return false }
    guard let value, value.isUsable(at: now) else { return true }
    let isForSameScopes = found.scopeSet?.decorated == value.scopes.decorated
    if lifetime.isNewer(than: value.lifetime) {
      return isForSameScopes || subscription.key.subject != .application || value.lifetime.freshness(at: now) == .aging
    }
    return lifetime.obtainedAt == value.lifetime.obtainedAt && isForSameScopes && found.secret != value.token
  }

  /// Whether what failed last was not about what can be offered now.
  private var isFree: Bool {
    guard case .refreshTokens(let tokens) = grant else { return false }
    return tokens.contains { !refused.contains($0.secret) }
  }

  /// Takes over the token that was held under the credential before.
  mutating func inherit(_ former: BearerValue) {
    guard value == nil else { return }
    value = former
    isOfFormerCredential = true
  }

  /// Takes a new token in; says which one is held now. One that another process, or a request of before, has filed
  /// proves nothing of a changed credential, which has still to obtain one.
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

  /// Takes a failure in; says what callers are told. The held token stays, and may be claimed for renewal after the
  /// pause.
  /// - Parameter offered: the refresh tokens that there were.
  mutating func take(_ new: AcquisitionFailure, offered: [Secret], now: UnixTime) -> AcquisitionError {
    refused = offered
    // What no provider was asked about needs no pause: it is true until the cache changes.
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

  /// Takes in what one caller met, as far as it says something of the application or its provider: for the status of
  /// the route. What every caller would meet pauses the requests of all.
  /// `inTenant`: the caller's tenant was asked, and others have others.
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

  /// The provider has given some caller a token.
  mutating func takeSuccessOfCaller() {
    throttle.succeeded()
    failure = nil
  }

  private mutating func remember(_ error: AcquisitionError, now: UnixTime, until: UnixTime) {
    failure = TokenStatus.Failure(error: error, since: failure?.since ?? now, retryAt: until)
  }

  /// Lets a caller claim the held token's renewal once more, when it is due and no pause is on.
  func letRefreshBeClaimed() {
    guard let value else { return }
    value.releaseRefresh(at: max(value.lifetime.refreshAt, failure?.retryAt ?? value.lifetime.refreshAt))
  }
}

/// The newest token for each rejection, beside the subscription's own: parts of one API may require different claims,
/// which no single token has. When a rejection is answered again is `RejectionBackoff`'s.
struct ReplacementTokens {
  private var entries: [(rejection: TokenRejection, value: BearerValue)] = []

  /// How many there are.
  var count: Int { entries.count }

  /// Keeps a token for the next requests with the same rejection. Of more than `RejectionBackoff.limit` the oldest
  /// goes.
  mutating func keep(_ value: BearerValue, for rejection: TokenRejection, now: UnixTime) {
    entries.removeAll { $0.rejection == rejection || !$0.value.isUsable(at: now) }
    if entries.count >= RejectionBackoff.limit { entries.removeFirst() }
    entries.append((rejection, value))
  }

  /// The token that answered a rejection, where it is not the one that is refused now.
  func token(for rejection: TokenRejection, besides refused: BearerValue, now: UnixTime) -> BearerValue? {
    entries.first { $0.rejection == rejection }.map(\.value).flatMap { value in
      value.isUsable(at: now) && value.id != refused.id && value.token != refused.token ? value : nil
    }
  }

  /// Forgets a token that the API does not accept any more for any request.
  mutating func forget(_ refused: BearerValue) { entries.removeAll { $0.value.id == refused.id } }

  /// Ends the use of the tokens that are not of this account.
  mutating func withdraw(notOf homeAccountID: String?) {
    for entry in entries where entry.value.origin.account?.homeAccountID != homeAccountID { entry.value.withdraw() }
    entries.removeAll { $0.value.origin.account?.homeAccountID != homeAccountID }
  }
}
