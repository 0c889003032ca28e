// Limits the wait of callers for a request, which continues: its answer may hold the only valid refresh token.

internal import Bytes
internal import Tokens

extension TokenBroker {
  /// Time that a caller waits, in seconds.
  private static let patienceSeconds: Int64 = 10

  /// Waits as long as a caller of a proxy waits for a request.
  package static let patience: @Sendable () async -> Void = { await sleep(patienceSeconds) }

  /// Waits until the request is over: for programs that would end before its answer comes.
  package static let endlessPatience: @Sendable () async -> Void = { await sleep(24 * 3600) }

  /// The result of a request in flight, or a time-out after a caller's patience.
  func result(
    of flight: TokenFlight, _ subscription: TokenSubscription
  ) async throws(AcquisitionError) -> BearerValue {
    if let result = await first(of: flight) { return try result.get() }
    // It may have ended while this caller came back here.
    let key = subscription.key
    var state = states[key] ?? TokenState(subscription: subscription)
    let result = state.takeTimeOut(now: surroundings.now())
    if states[key] != nil { states[key] = state }
    return try result.get()
  }

  /// The result of a request, or nil if it takes longer than a caller waits.
  func first(of flight: TokenFlight) async -> Result<BearerValue, AcquisitionError>? {
    await FirstAnswer.wait(for: { await flight.value }, within: surroundings.patience)
  }

  /// True if the end of the process would lose a refresh token that a request brings, or is storing.
  package var mayBringRefreshToken: Bool {
    !replacementFlights.isEmpty
      || states.contains { key, state in
        key.subject.isAccount && (state.flight != nil || turns[key.turn(of: state.account)] != nil)
      }
  }
}
