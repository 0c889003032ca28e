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
    let key = subscription.key
    let wanted = subscription.answering(rejection).key
    if rejection == .invalidToken { states[key]?.rejected.forget(refused) }
    let isUnderWay = replacementFlights[wanted] != nil
    if let step = states[key]?.replacementInHand(
      for: refused, rejection, isUnderWay: isUnderWay, now: surroundings.now())
    {
      return try await carryOut(step, rejection, refused, subscription)
    }
    if isUnderWay { return try await carryOut(.wait, rejection, refused, subscription) }
    if key.subject.isCaller {
      reviveCaller(subscription)
    } else {
      // Another process may have been faster.
      await store.look()
    }
    await look(subscription)
    // No suspension from here on: later callers find the request in flight.
    let step = states[key]?.replacementStep(
      for: refused, rejection, isUnderWay: replacementFlights[wanted] != nil, now: surroundings.now())
    return try await carryOut(step ?? .noReplacement, rejection, refused, subscription)
  }

  /// True if the refused token answered the same rejection: without a person there is no other.
  package func isAnswer(
    _ refused: BearerValue, to rejection: TokenRejection, for subscription: TokenSubscription
  ) -> Bool {
    states[subscription.key]?.rejected.isAnswer(refused, to: rejection) ?? false
  }

  /// A service may return the refused token until its end. That is no replacement.
  private func carryOut(
    _ step: ReplacementStep, _ rejection: TokenRejection, _ refused: BearerValue, _ subscription: TokenSubscription
  ) async throws(AcquisitionError) -> BearerValue? {
    let value: BearerValue?
    switch step {
    case .serve(let value): return value
    case .noReplacement: return nil
    case .refuse(let error): throw error
    case .waitForRenewal: value = try await result(of: flight(for: subscription), subscription)
    case .wait:
      // If it takes too long, the held token is no answer: it need not have what the API demands.
      value = try await first(of: replacementFlight(for: rejection, refused, subscription))?.get()
    }
    return value?.token == refused.token ? nil : value
  }

  /// The request in flight that answers a rejection, started if there is none.
  private func replacementFlight(
    for rejection: TokenRejection, _ refused: BearerValue, _ subscription: TokenSubscription
  ) -> TokenFlight {
    let wanted = subscription.answering(rejection).key
    if let flight = replacementFlights[wanted] { return flight }
    let flight = Task { await self.acquire(subscription, for: .replacement(rejection, of: refused)) }
    replacementFlights[wanted] = flight
    return flight
  }
}
