// Owns the tokens of this process: one request in flight per key, the held tokens, the memory of failures. What to do is
// `AcquisitionPlan`'s decision, how is `TokenAcquisition`'s. Requests with a warm token never come here.

public import Tokens

/// Obtains tokens and keeps them.
///
/// Isolation: everything below is this actor's. The event loops hold the published `BearerValue`s and enter only where
/// there is none, where it is not usable any more, or (without waiting) to have it renewed.
public actor TokenBroker {
  /// What the broker needs from outside; tests bring a manual clock.
  public struct Surroundings: Sendable {
    /// The wall clock.
    public var now: @Sendable () -> UnixTime
    /// Draws 0 up to 1.
    public var jitter: @Sendable () -> Double
    /// Waits for seconds, or until the task is cancelled.
    public var sleep: @Sendable (Int64) async -> Void
    /// Hears of every acquisition that went to a provider.
    public var observe: @Sendable (TokenEvent) -> Void
    /// Takes every new token, to hand it to the event loops.
    public var publish: @Sendable (AcquisitionKey, BearerValue) -> Void

    /// Surroundings with a clock, the system's randomness and real waiting.
    public init(
      now: @escaping @Sendable () -> UnixTime,
      jitter: @escaping @Sendable () -> Double = { Double.random(in: 0..<1) },
      sleep: @escaping @Sendable (Int64) async -> Void = TokenBroker.sleep,
      observe: @escaping @Sendable (TokenEvent) -> Void = { _ in },
      publish: @escaping @Sendable (AcquisitionKey, BearerValue) -> Void = { _, _ in }
    ) {
      self.now = now
      self.jitter = jitter
      self.sleep = sleep
      self.observe = observe
      self.publish = publish
    }
  }

  private let surroundings: Surroundings
  private let directory: ProviderDirectory
  private var slots: [AcquisitionKey: TokenSlot] = [:]

  /// A broker that holds nothing yet.
  public init(_ surroundings: Surroundings) {
    self.surroundings = surroundings
    directory = ProviderDirectory(now: surroundings.now)
  }

  /// Waits for seconds, or until the task is cancelled.
  public static let sleep: @Sendable (Int64) async -> Void = { seconds in
    do {
      try await Task.sleep(for: .seconds(seconds))
    } catch {
      // Cancelled: the wait is over, and whoever asked for it looks at its own task next.
    }
  }

  /// A usable token: the held one at once, or the provider's.
  ///
  /// Callers of equal keys wait for the same request and get the same token or the same error. The wait is bounded by the
  /// `Fetch` time limit: metadata and token, and one repetition of what failed quickly. Cancelling a caller does not end it.
  public func bearer(for subscription: TokenSubscription) async throws(AcquisitionError) -> BearerValue {
    let now = surroundings.now()
    let slot = slots[subscription.key] ?? TokenSlot(subscription: subscription)
    switch slot.plan(at: now) {
    case .useCached:
      if let value = slot.value { return value }
    case .useCachedAndRefreshBehind:
      if let value = slot.value {
        if value.claimsRefresh(at: now) { _ = flight(for: subscription) }
        return value
      }
    case .fail(let until):
      if let failure = slot.failure { throw failure.error.retrying(after: max(until - now, 1)) }
    case .request:
      break
    }
    return try await flight(for: subscription).value.get()
  }

  /// Has a token renewed without anybody waiting: what a loop calls when `BearerValue.claimsRefresh` told it to.
  public nonisolated func refreshBehind(_ subscription: TokenSubscription) {
    Task { await self.refresh(subscription) }
  }

  /// Keeps a token at hand for every subscription until the task is cancelled: obtains it at the start, renews it when due,
  /// and tries again after failures, so that a proxy without traffic becomes and stays ready by itself.
  public nonisolated func keepReady(_ subscriptions: [TokenSubscription]) async {
    await withDiscardingTaskGroup { group in
      for subscription in subscriptions {
        group.addTask { await self.keepReady(subscription) }
      }
    }
  }

  /// How every key stands that was ever asked for, by application and scopes.
  public func statuses() -> [TokenStatus] {
    slots.values.map { slot in
      TokenStatus(
        application: slot.subscription.application.name, scopes: slot.subscription.key.scopes,
        expiresAt: slot.value?.lifetime.expiresAt, failure: slot.failure)
    }.sorted { ($0.application, $0.scopes.description) < ($1.application, $1.scopes.description) }
  }

  /// The request in flight for a key, started where there is none.
  private func flight(
    for subscription: TokenSubscription
  ) -> Task<Result<BearerValue, AcquisitionError>, Never> {
    let key = subscription.key
    if let flight = slots[key]?.flight { return flight }
    let flight = Task { await self.acquire(subscription) }
    slots[key, default: TokenSlot(subscription: subscription)].flight = flight
    return flight
  }

  private func acquire(_ subscription: TokenSubscription) async -> Result<BearerValue, AcquisitionError> {
    let acquisition = TokenAcquisition(
      subscription: subscription, directory: directory, now: surroundings.now, jitter: surroundings.jitter,
      sleep: surroundings.sleep)
    let start = ContinuousClock.now
    var slot: TokenSlot
    let result: Result<BearerValue, AcquisitionError>
    let outcome: TokenEvent.Outcome
    do throws(AcquisitionFailure) {
      let value = try await acquisition.run()
      slot = slots[subscription.key] ?? TokenSlot(subscription: subscription)
      slot.take(value)
      surroundings.publish(subscription.key, value)
      outcome = .obtained(value.lifetime, granted: value.scopes)
      result = .success(value)
    } catch {
      slot = slots[subscription.key] ?? TokenSlot(subscription: subscription)
      let now = surroundings.now()
      let told = slot.take(error, now: now)
      let held = slot.value.flatMap { $0.isUsable(at: now) ? $0.lifetime.expiresAt : nil }
      outcome = .failed(told, error.errorClass, servedUntil: held)
      result = .failure(told)
    }
    slot.flight = nil
    slots[subscription.key] = slot
    surroundings.observe(
      TokenEvent(
        application: subscription.application.name, authority: subscription.key.authority,
        scopes: subscription.key.scopes, grant: subscription.grant, duration: ContinuousClock.now - start,
        outcome: outcome))
    return result
  }

  /// Renews where the plan agrees, and waits for it; says when to look again.
  @discardableResult
  private func refresh(_ subscription: TokenSubscription) async -> UnixTime {
    let key = subscription.key
    let now = surroundings.now()
    switch (slots[key] ?? TokenSlot(subscription: subscription)).plan(at: now) {
    case .useCachedAndRefreshBehind, .request:
      _ = await flight(for: subscription).value
    case .useCached, .fail:
      // Claimed by a loop whose clock is ahead of this one: nothing is sent, so the claim goes back.
      slots[key]?.letRefreshBeClaimed()
    }
    guard let slot = slots[key] else { return now }
    return slot.throttle.pause(at: surroundings.now()) ?? slot.value?.lifetime.refreshAt ?? now
  }

  private nonisolated func keepReady(_ subscription: TokenSubscription) async {
    while !Task.isCancelled {
      let due = await refresh(subscription)
      // Short naps: the wall clock may be set, and the machine may sleep.
      await surroundings.sleep(min(max(due - surroundings.now(), 1), 60))
    }
  }
}
