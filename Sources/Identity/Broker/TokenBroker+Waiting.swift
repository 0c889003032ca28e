// Limits the wait of callers for a request in flight, which continues without them: its answer may hold the only valid
// refresh token.

internal import Bytes
internal import HTTP
internal import HTTPClient
internal import Platform
internal import Telemetry
internal import Tokens

extension TokenBroker {
  /// Time that a caller waits, in seconds.
  private static let patienceSeconds: Int64 = 10

  /// Waits as long as a caller of a proxy waits for a request.
  package static let patience: @Sendable () async -> Void = { await sleep(patienceSeconds) }

  /// Waits until the request is over: for programs that would end before its answer comes.
  package static let endlessPatience: @Sendable () async -> Void = { await sleep(24 * 3600) }

  /// The result of a request in flight, for a caller of a proxy.
  func awaited(
    _ flight: Task<Result<BearerValue, AcquisitionError>, Never>, _ subscription: TokenSubscription
  ) async throws(AcquisitionError) -> BearerValue {
    note(RequestScope.current, waitingFor: subscription.key)
    return try await result(of: flight, subscription)
  }

  /// The result of a request in flight, or a time-out after a caller's patience. Then the provider counts as not
  /// answering: callers in the following pause get the failure at once.
  func result(
    of flight: Task<Result<BearerValue, AcquisitionError>, Never>, _ subscription: TokenSubscription
  ) async throws(AcquisitionError) -> BearerValue {
    let key = subscription.key
    if let result = await first(of: flight) { return try result.get() }
    // It may have ended while this caller came back here.
    let now = surroundings.now()
    if let value = states[key]?.value, value.isUsable(at: now) { return value }
    let failure = AcquisitionFailure.unreached(.timedOut(host: key.authority.url.host))
    guard let state = states[key], state.throttle.pause(at: now) == nil else {
      let pause = states[key]?.throttle.pause(at: now)
      throw failure.error(for: key, retryAfter: max((pause ?? now) - now, 1))
    }
    var failed = state
    let told = failed.take(failure, offered: state.grant.refreshTokens.map(\.secret), now: now)
    states[key] = failed
    throw told
  }

  /// The result of a request, or nil if it takes longer than a caller waits.
  private func first(
    of flight: Task<Result<BearerValue, AcquisitionError>, Never>
  ) async -> Result<BearerValue, AcquisitionError>? {
    await withCheckedContinuation { continuation in
      let waiting = Locked<CheckedContinuation<Result<BearerValue, AcquisitionError>?, Never>?>(continuation)
      let take = { @Sendable () -> CheckedContinuation<Result<BearerValue, AcquisitionError>?, Never>? in
        waiting.withLock { waiting in
          defer { waiting = nil }
          return waiting
        }
      }
      let limit = Task { [surroundings] in
        await surroundings.patience()
        take()?.resume(returning: nil)
      }
      Task {
        let result = await flight.value
        take()?.resume(returning: result)
        limit.cancel()
      }
    }
  }

  /// True if a request is in flight whose answer may replace a refresh token, or is not stored yet: the end of the
  /// process would lose it.
  package var mayBringRefreshToken: Bool {
    !replacementFlights.isEmpty
      || states.contains { key, state in
        key.subject.isAccount && (state.flight != nil || turns[key.turn(of: state.account)] != nil)
      }
  }
}
