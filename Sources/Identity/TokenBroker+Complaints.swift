// Owns what the broker does about tokens that an API refused: another one for everybody, one request per complaint, and an end to
// it where that does not help. Whether there is cause for complaint is `ChallengePlan`'s.

public import Tokens

extension TokenBroker {
  /// Another token than one that an API refused; nil where nothing is done about it: the same was tried a moment ago, or the provider
  /// wants to be left alone.
  ///
  /// Callers with one complaint share one request, and those who complain later get what that brought, also where another complaint
  /// has brought another token since. What arrives takes the refused token's place, for this subscription and in the cache. Until then, and where nothing arrives, the
  /// refused one stays: other parts of the API may well take it.
  public func bearer(
    answering complaint: Complaint, about refused: BearerValue, for subscription: TokenSubscription
  ) async throws(AcquisitionError) -> BearerValue? {
    let wish = subscription.answering(complaint)
    if complaint == .invalidToken { slots[subscription.key]?.answers.forget(refused) }
    if let value = replacement(for: refused, complaint, subscription) { return value }
    if let answer = answers[wish.key] { return try await result(of: answer, subscription) }
    // Another process may have been faster.
    await store.look()
    let slot = await look(subscription)
    // No suspension from here on: who comes meanwhile finds the request in flight.
    if let value = replacement(for: refused, complaint, subscription) { return value }
    if let answer = answers[wish.key] { return try await result(of: answer, subscription) }
    let now = surroundings.now()
    if let flight = slot.flight, complaint == .invalidToken { return try await result(of: flight, subscription) }
    guard slot.throttle.pause(at: now) == nil, slots[subscription.key]?.complaints.admits(complaint, now: now) == true
    else { return nil }
    if let reason = slot.means.reason { throw .interactionRequired(InteractionRequired(reason, wish.key)) }
    if case .unknown = slot.means { throw .cacheUnavailable(retryAfter: AcquisitionError.cachePause) }
    if complaint == .invalidToken { return try await result(of: flight(for: subscription), subscription) }
    let answer = Task { await self.answer(complaint, wish, for: subscription) }
    answers[wish.key] = answer
    return try await result(of: answer, subscription)
  }

  /// The token that the same complaint brought a moment ago; or the held one, where it is another one than the refused and the
  /// complaint is none about it.
  private func replacement(
    for refused: BearerValue, _ complaint: Complaint, _ subscription: TokenSubscription
  ) -> BearerValue? {
    let now = surroundings.now()
    let isOnItsWay = answers[subscription.answering(complaint).key] != nil
    if let slot = slots[subscription.key], slot.complaints.knows(complaint, now: now),
      let value = slot.answers.token(for: complaint, besides: refused, now: now)
    {
      return value
    }
    guard let slot = slots[subscription.key], let held = slot.value, held.isUsable(at: now), held.id != refused.id,
      held.token != refused.token
    else { return nil }
    switch complaint {
    case .invalidToken: return held
    // While theirs is on its way, one that another complaint has brought is none for them.
    case .claims: return slot.complaints.knows(complaint, now: now) && !isOnItsWay ? held : nil
    case .scopes(let wanted): return wanted.isCovered(by: held.scopes) ? held : nil
    }
  }

  private func answer(
    _ complaint: Complaint, _ wish: TokenSubscription, for subscription: TokenSubscription
  ) async -> Result<BearerValue, AcquisitionError> {
    let key = subscription.key
    let start = ContinuousClock.now
    let turn = wish.key.turn(of: slots[key]?.account)
    let acquisition = TokenAcquisition(
      subscription: wish, directory: directory, store: store, now: surroundings.now, jitter: surroundings.jitter,
      sleep: surroundings.sleep, held: nil)
    let report = await report(of: acquisition, turn)
    let result: Result<BearerValue, AcquisitionError>
    let outcome: TokenEvent.Outcome
    switch report.result {
    case .success(let value):
      slots[key]?.answers.keep(value, for: complaint, now: surroundings.now())
      // A provider that gave the added scopes alone has not given what everybody else on this subscription needs.
      if key.scopes.isCovered(by: value.scopes) {
        slots[key]?.take(value)
        surroundings.publish(key, value)
      }
      outcome = .obtained(value.lifetime, granted: value.scopes)
      result = .success(value)
    case .failure(let failure):
      let now = surroundings.now()
      let held = slots[key]?.value.flatMap { $0.isUsable(at: now) ? $0.lifetime.expiresAt : nil }
      var told = failure.error(for: wish.key, retryAfter: 1)
      // A provider that is down is down for everything; what a person has to bring is wanted by this part of the API alone.
      if failure.errorClass == .transient, let taken = slots[key]?.take(failure, offered: report.offered, now: now) {
        told = taken
      }
      outcome = .failed(told, failure.errorClass, servedUntil: held)
      result = .failure(told)
    }
    answers[wish.key] = nil
    if report.wasSent {
      surroundings.observe(
        TokenEvent(
          application: subscription.application.name, authority: key.authority, scopes: wish.key.scopes,
          grantType: subscription.grantType, duration: ContinuousClock.now - start, outcome: outcome))
    }
    // A sign-out meanwhile has been told already, when this token was not held yet.
    if key.subject != .application { await look(subscription) }
    return result
  }
}
