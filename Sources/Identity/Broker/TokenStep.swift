// The decision of a key's state for each kind of demand. Nothing here waits or sends.

internal import Bytes
internal import Tokens

/// The request in flight for a key; all who need its token share it. It ends even if they do not wait.
typealias TokenFlight = Task<Result<BearerValue, AcquisitionError>, Never>

/// The step for a caller that needs a token.
enum TokenStep {
  case serve(BearerValue)
  /// Serve, and let one caller start the renewal.
  case serveAndRenew(BearerValue)
  /// Wait for the request in flight, which is started if there is none.
  case wait
  case refuse(AcquisitionError)
}

/// The step for a caller whose token an API refused.
enum ReplacementStep {
  case serve(BearerValue)
  /// Wait for the request that renews the held token, which is started if there is none.
  case waitForRenewal
  /// Wait for the request that answers this rejection, which is started if there is none.
  case wait
  /// There is no replacement now: the same was tried a moment ago, or requests pause.
  case noReplacement
  case refuse(AcquisitionError)
}

extension TokenState {
  /// The step that needs no look into the cache; nil if it must be looked at.
  func stepInHand(at now: UnixTime) -> TokenStep? {
    if let value = usable(at: now) { return value.lifetime.freshness(at: now) == .aging ? nil : .serve(value) }
    return flight != nil && trouble.throttle.pause(at: now) == nil ? .wait : nil
  }

  /// The step after a look into the cache.
  func step(at now: UnixTime) -> TokenStep {
    switch (plan(at: now), value) {
    case (.useCached, let value?): .serve(value)
    case (.useCachedAndRefreshBehind, let value?): .serveAndRenew(value)
    case (.fail, _): pausedFailure(at: now).map { .refuse($0) } ?? .wait
    case (.interactionRequired, _), (.cacheUnavailable, _): missingGrant.map { .refuse($0) } ?? .wait
    case (.request, _), (.useCached, nil), (.useCachedAndRefreshBehind, nil): .wait
    }
  }

  /// The step for a caller that needs a new token from the provider, after a look into the cache.
  func forcedStep(at now: UnixTime) -> TokenStep {
    (missingGrant ?? pausedFailure(at: now)).map { .refuse($0) } ?? .wait
  }

  /// True if the held token is to be renewed now without a waiting caller, after a look into the cache.
  func isRenewalDue(at now: UnixTime) -> Bool {
    switch plan(at: now) {
    case .useCachedAndRefreshBehind, .request: true
    case .useCached, .fail, .interactionRequired, .cacheUnavailable: false
    }
  }

  private func plan(at now: UnixTime) -> AcquisitionPlan {
    AcquisitionPlan(held: value?.lifetime, grant: grant, throttle: trouble.throttle, now: now)
  }

  /// The step for a refused token that needs no look into the cache; nil if it must be looked at.
  /// - Parameter isUnderWay: true if a request that answers the rejection is in flight.
  func replacementInHand(
    for refused: BearerValue, _ rejection: TokenRejection, isUnderWay: Bool, now: UnixTime
  ) -> ReplacementStep? {
    if let value = rejected.answer(to: rejection, besides: refused, now: now) { return .serve(value) }
    if let value = usable(at: now), value.id != refused.id, value.token != refused.token,
      answers(rejection, with: value)
    {
      return .serve(value)
    }
    return isUnderWay ? .wait : nil
  }

  /// True if the rejection of another token does not apply to the held one.
  private func answers(_ rejection: TokenRejection, with value: BearerValue) -> Bool {
    switch rejection {
    case .invalidToken: true
    // The token that has the claims is kept with the rejection. The held one is from elsewhere.
    case .claims: false
    case .scopes(let wanted): wanted.isCovered(by: value.scopes)
    }
  }

  /// The step for a refused token after a look into the cache. The rejection is remembered if it leads to a request.
  mutating func replacementStep(
    for refused: BearerValue, _ rejection: TokenRejection, isUnderWay: Bool, now: UnixTime
  ) -> ReplacementStep {
    if let step = replacementInHand(for: refused, rejection, isUnderWay: isUnderWay, now: now) { return step }
    let isRenewal = rejection == .invalidToken
    if isRenewal, flight != nil { return .waitForRenewal }
    guard trouble.throttle.pause(at: now) == nil, rejected.admits(rejection, now: now) else {
      return missingSignIn(at: now).map { .refuse($0) } ?? .noReplacement
    }
    if let error = missingGrant(for: subscription.answering(rejection).key) { return .refuse(error) }
    return isRenewal ? .waitForRenewal : .wait
  }
}
