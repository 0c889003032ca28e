// What the broker does about tokens that an API refused: one new token for all callers, one request per complaint, and
// no more where that does not help. Whether a refusal is a complaint about the token is `ChallengePlan`'s.

package import Tokens

extension TokenBroker {
  /// Another token than one that an API refused; nil where nothing is done about it: the same was tried a moment ago,
  /// or the provider wants to be left alone.
  ///
  /// Callers with one complaint share one request, and those who complain later get what that brought, also where
  /// another complaint has brought another token since. What arrives takes the refused token's place, for this
  /// subscription and in the cache. Until then, and where nothing arrives, the refused one stays: other parts of the
  /// API may well take it.
  package func bearer(
    answering complaint: Complaint, about refused: BearerValue, for subscription: TokenSubscription
  ) async throws(AcquisitionError) -> BearerValue? {
    let wanted = subscription.answering(complaint)
    if complaint == .invalidToken { states[subscription.key]?.replacements.forget(refused) }
    if let value = replacement(for: refused, complaint, subscription) { return value }
    if let answer = replacementFlights[wanted.key] { return try await result(of: answer, subscription) }
    // Another process may have been faster.
    await store.look()
    let state = await look(subscription)
    // No suspension from here on: who comes meanwhile finds the request in flight.
    if let value = replacement(for: refused, complaint, subscription) { return value }
    if let answer = replacementFlights[wanted.key] { return try await result(of: answer, subscription) }
    let now = surroundings.now()
    if let flight = state.flight, complaint == .invalidToken { return try await result(of: flight, subscription) }
    guard state.throttle.pause(at: now) == nil, states[subscription.key]?.complaints.admits(complaint, now: now) == true
    else { return nil }
    if let reason = state.means.reason { throw .interactionRequired(InteractionRequired(reason, wanted.key)) }
    if case .unknown = state.means { throw .cacheUnavailable(retryAfter: AcquisitionError.cachePause) }
    if complaint == .invalidToken { return try await result(of: flight(for: subscription), subscription) }
    let answer = Task { await self.acquire(subscription, for: .replacement(complaint)) }
    replacementFlights[wanted.key] = answer
    return try await result(of: answer, subscription)
  }

  /// The token that the same complaint brought a moment ago; or the held one, where it is another one than the refused
  /// and the complaint is none about it.
  private func replacement(
    for refused: BearerValue, _ complaint: Complaint, _ subscription: TokenSubscription
  ) -> BearerValue? {
    let now = surroundings.now()
    let isOnItsWay = replacementFlights[subscription.answering(complaint).key] != nil
    if let state = states[subscription.key], state.complaints.knows(complaint, now: now),
      let value = state.replacements.token(for: complaint, besides: refused, now: now)
    {
      return value
    }
    guard let state = states[subscription.key], let held = state.value, held.isUsable(at: now), held.id != refused.id,
      held.token != refused.token
    else { return nil }
    switch complaint {
    case .invalidToken: return held
    // While theirs is on its way, one that another complaint has brought is none for them.
    case .claims: return state.complaints.knows(complaint, now: now) && !isOnItsWay ? held : nil
    case .scopes(let wanted): return wanted.isCovered(by: held.scopes) ? held : nil
    }
  }
}
