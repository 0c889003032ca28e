// The broker's reaction to tokens that an API refused: one new token for all callers, one request per rejection, and no
// more if that does not help. `ChallengePlan` decides if a refusal is a rejection of the token.

package import Tokens

extension TokenBroker {
  /// A replacement for a token that an API refused; nil if there is none: the same was tried a moment ago, or requests
  /// to the provider pause.
  ///
  /// Callers with the same rejection share one request. Later ones get the token that it brought, even if another
  /// rejection has brought another token since. The new token replaces the refused one, for this subscription and in
  /// the cache. Until then the refused one stays in use: other parts of the API may accept it.
  package func bearer(
    answering rejection: TokenRejection, about refused: BearerValue, for subscription: TokenSubscription
  ) async throws(AcquisitionError) -> BearerValue? {
    let wanted = subscription.answering(rejection)
    if rejection == .invalidToken { states[subscription.key]?.replacements.forget(refused) }
    if let value = replacement(for: refused, rejection, subscription) { return value }
    if let answer = replacementFlights[wanted.key] { return try await other(than: refused, answer, subscription) }
    if subscription.key.subject.isCaller {
      reviveCaller(subscription)
    } else {
      // Another process may have been faster.
      await store.look()
    }
    let state = await look(subscription)
    // No suspension from here on: later callers find the request in flight.
    if let value = replacement(for: refused, rejection, subscription) { return value }
    if let answer = replacementFlights[wanted.key] { return try await other(than: refused, answer, subscription) }
    let now = surroundings.now()
    if let flight = state.flight, rejection == .invalidToken {
      return try await other(than: refused, flight, subscription)
    }
    guard state.throttle.pause(at: now) == nil, states[subscription.key]?.rejections.admits(rejection, now: now) == true
    else { return nil }
    if let reason = state.grant.reason { throw .interactionRequired(InteractionRequired(reason, wanted.key)) }
    if case .unknown = state.grant { throw .cacheUnavailable(retryAfter: AcquisitionError.cachePause) }
    if rejection == .invalidToken {
      return try await other(than: refused, flight(for: subscription), subscription)
    }
    let answer = Task { await self.acquire(subscription, for: .replacement(rejection, of: refused)) }
    replacementFlights[wanted.key] = answer
    return try await other(than: refused, answer, subscription)
  }

  /// The token that a request brings; nil if that is the refused one again, which a service may keep until its end. The
  /// API would refuse it once more.
  private func other(
    than refused: BearerValue, _ flight: Task<Result<BearerValue, AcquisitionError>, Never>,
    _ subscription: TokenSubscription
  ) async throws(AcquisitionError) -> BearerValue? {
    let value = try await result(of: flight, subscription)
    return value.token == refused.token ? nil : value
  }

  /// The token that the same rejection brought a moment ago; or the held one, if it is not the refused one and the
  /// rejection does not apply to it.
  private func replacement(
    for refused: BearerValue, _ rejection: TokenRejection, _ subscription: TokenSubscription
  ) -> BearerValue? {
    let now = surroundings.now()
    let isOnItsWay = replacementFlights[subscription.answering(rejection).key] != nil
    if let state = states[subscription.key], state.rejections.knows(rejection, now: now),
      let value = state.replacements.token(for: rejection, besides: refused, now: now)
    {
      return value
    }
    guard let state = states[subscription.key], let held = state.value, held.isUsable(at: now), held.id != refused.id,
      held.token != refused.token
    else { return nil }
    switch rejection {
    case .invalidToken: return held
    // While a token for this rejection is on its way, a token from another rejection cannot be used.
    case .claims: return state.rejections.knows(rejection, now: now) && !isOnItsWay ? held : nil
    case .scopes(let wanted): return wanted.isCovered(by: held.scopes) ? held : nil
    }
  }
}
