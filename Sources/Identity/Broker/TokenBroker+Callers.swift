// The rules for callers' tokens: there are as many as callers, so their states are bounded; and one caller's failure
// must neither delay the others nor reach the provider once for each of them.

internal import Bytes
internal import Tokens

package struct CallerTokenCounts: Sendable, Hashable {
  /// Callers' tokens, and failures to get one, that are kept.
  package var held: Int
  /// Those that were evicted for others.
  package var evictions: UInt64

  /// The bound if the configuration sets none.
  package static let usualLimit = 8192
}

extension TokenBroker {
  /// Changes the number of callers whose tokens are kept.
  package func keepCallers(atMost limit: Int) {
    callers.limit = max(limit, 1)
    while callers.count > callers.limit, let oldest = callers.removeOldest() { evictCaller(oldest) }
  }

  package var callerCounts: CallerTokenCounts { CallerTokenCounts(held: callers.count, evictions: evictions) }

  /// Refuses a caller whose request would meet a failure that applies to all of them.
  func admitCaller(_ subscription: TokenSubscription) throws(AcquisitionError) {
    let now = surroundings.now()
    if states[subscription.key] != nil { keepCaller(subscription.key) }
    if states[subscription.key]?.usable(at: now) != nil { return }
    if let failure = states[subscription.routeKey]?.pausedFailure(at: now) { throw failure }
  }

  /// Marks a caller's key as used: it is the last to be evicted.
  func keepCaller(_ key: AcquisitionKey) {
    if callers.use(key) == nil, let oldest = callers.keep(true, for: key) { evictCaller(oldest) }
  }

  /// A request in flight for it continues, and its waiters get the answer.
  private func evictCaller(_ key: AcquisitionKey) {
    evictions += 1
    if states[key]?.flight == nil { states[key] = nil }
  }

  /// Makes a state for a caller whose token an event loop holds and this broker has forgotten.
  func reviveCaller(_ subscription: TokenSubscription) {
    let key = subscription.key
    if states[key] == nil { states[key] = TokenState(subscription: subscription) }
    keepCaller(key)
  }

  /// Remembers for all callers what one caller's acquisition shows about the application or the provider.
  func noteCaller(
    _ subscription: TokenSubscription, _ met: Result<BearerValue, AcquisitionError>,
    _ told: Result<BearerValue, AcquisitionError>
  ) {
    if states[subscription.key] != nil { keepCaller(subscription.key) }
    let route = subscription.routeKey
    switch (met, told) {
    case (.success, _): states[route]?.recover()
    case (.failure(let failure), .failure(let error)):
      var state = states[route] ?? TokenState(subscription: TokenSubscription(routeOf: subscription))
      state.takeFailureOfCaller(
        failure, told: error, inTenant: subscription.key.authority != route.authority, now: surroundings.now(),
        jitter: surroundings.jitter())
      states[route] = state
    case (.failure, .success): break
    }
  }
}
