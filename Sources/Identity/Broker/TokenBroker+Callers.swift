// What is particular about callers' tokens: there are as many as callers, so what is known of them is bounded; and what
// one caller meets must neither hold up the others nor reach the provider once for each of them.

internal import Bytes
internal import Tokens

/// The keys of callers in the order of their use, and what is counted about them. It names none.
struct CallerStates {
  private(set) var keys = RecencyMap<AcquisitionKey, Bool>(limit: CallerTokenCounts.usualLimit)
  /// Keys that had to go for others.
  private(set) var evictions: UInt64 = 0

  /// A key is used. Returns one that has to go for it.
  mutating func use(_ key: AcquisitionKey) -> AcquisitionKey? {
    if keys.use(key) != nil { return nil }
    let evicted = keys.keep(true, for: key)
    if evicted != nil { evictions += 1 }
    return evicted
  }

  mutating func forget(_ key: AcquisitionKey) { keys.remove(key) }

  /// Goes over to another bound; the keys that are too many then.
  mutating func change(limit: Int) -> [AcquisitionKey] {
    guard limit != keys.limit else { return [] }
    var next = RecencyMap<AcquisitionKey, Bool>(limit: limit)
    var evicted: [AcquisitionKey] = []
    while let oldest = keys.removeOldest() {
      if let gone = next.keep(true, for: oldest) { evicted.append(gone) }
    }
    evictions += UInt64(evicted.count)
    keys = next
    return evicted
  }
}

/// How many callers' tokens there are.
package struct CallerTokenCounts: Sendable, Hashable {
  /// Callers' tokens, and failures to get one, that are kept.
  package var held: Int
  /// Those that had to go for others.
  package var evictions: UInt64

  /// How many are kept where the configuration does not say.
  package static let usualLimit = 8192
}

extension TokenBroker {
  /// Goes over to another number of callers whose tokens are kept.
  package func keepCallers(atMost limit: Int) {
    for key in callers.change(limit: limit) { evictCaller(key) }
  }

  /// How many there are.
  package var callerCounts: CallerTokenCounts {
    CallerTokenCounts(held: callers.keys.count, evictions: callers.evictions)
  }

  /// Refuses a caller whose request would meet what has stopped all of them: the provider told the application to wait,
  /// or does not take it.
  func admitCaller(_ subscription: TokenSubscription) throws(AcquisitionError) {
    let now = surroundings.now()
    if states[subscription.key] != nil { keepCaller(subscription.key) }
    if let value = states[subscription.key]?.value, value.isUsable(at: now) { return }
    guard let route = states[subscription.routeKey], let until = route.throttle.pause(at: now),
      let failure = route.failure
    else { return }
    throw failure.error.retrying(after: max(until - now, 1))
  }

  /// A caller's key is used: it is the last to be evicted.
  func keepCaller(_ key: AcquisitionKey) {
    guard let oldest = callers.use(key) else { return }
    evictCaller(oldest)
  }

  /// What is in flight for it goes on, and those who wait for it get its answer.
  private func evictCaller(_ key: AcquisitionKey) {
    if states[key]?.flight == nil { states[key] = nil }
  }

  /// Has a state for a caller whose token an event loop holds and this broker has forgotten.
  func reviveCaller(_ subscription: TokenSubscription) {
    let key = subscription.key
    if states[key] == nil { states[key] = TokenState(subscription: subscription) }
    keepCaller(key)
  }

  /// After an acquisition for a caller: what is said of the application or the provider is remembered for all.
  func noteCaller(
    _ subscription: TokenSubscription, _ met: Result<BearerValue, AcquisitionFailure>,
    _ told: Result<BearerValue, AcquisitionError>
  ) {
    if states[subscription.key] != nil { keepCaller(subscription.key) }
    let route = subscription.routeKey
    switch (met, told) {
    case (.success, _): states[route]?.takeSuccessOfCaller()
    case (.failure(let failure), .failure(let error)):
      var state = states[route] ?? TokenState(subscription: TokenSubscription(routeOf: subscription))
      state.takeFailureOfCaller(
        failure, told: error, inTenant: subscription.key.authority != route.authority, now: surroundings.now())
      states[route] = state
    case (.failure, .success): break
    }
  }
}
