// Renews tokens that loops claim, obtains the first of those that need no person, and follows the cache.

internal import Tokens

extension TokenBroker {
  /// Renews a token without a waiting caller: a loop calls it if `BearerValue.claimsRefresh` is true.
  package nonisolated func refreshBehind(_ subscription: TokenSubscription) {
    Task { await self.refresh(subscription) }
  }

  /// Obtains a first token for every subscription that needs neither person nor caller, until the task is cancelled: a
  /// proxy without traffic becomes ready. Only requests that use a token renew it.
  package nonisolated func keepReady(_ subscriptions: [TokenSubscription]) async {
    await withDiscardingTaskGroup { group in
      for subscription in subscriptions where subscription.key.subject.isUnattended {
        group.addTask { await self.keepReady(subscription) }
      }
    }
  }

  /// Follows what others obtain, and whom they sign out, until the task is cancelled.
  package func followCache() async {
    let changes = store.changes
    // Changes before the stream existed are read once.
    await lookAtAll()
    for await _ in changes { await lookAtAll() }
  }

  private func lookAtAll() async {
    for subscription in states.values.map(\.subscription) where !subscription.key.subject.isCaller {
      await look(subscription)
    }
  }

  /// Renews if the plan agrees; returns the time of the next attempt, nil if a current token is held.
  @discardableResult
  private func refresh(_ subscription: TokenSubscription) async -> UnixTime? {
    let key = subscription.key
    if await look(subscription).isRenewalDue(at: surroundings.now()) {
      _ = await flight(for: subscription).value
    } else {
      // Claimed by a loop whose clock is ahead of this one, or renewed by another process: nothing is sent, so the
      // claim is returned.
      states[key]?.letRefreshBeClaimed()
    }
    let now = surroundings.now()
    guard let state = states[key] else { return now }
    if case .current = state.held, state.usable(at: now) != nil { return nil }
    return state.trouble.throttle.pause(at: now) ?? state.value?.lifetime.refreshAt ?? now
  }

  private nonisolated func keepReady(_ subscription: TokenSubscription) async {
    while !Task.isCancelled, let next = await refresh(subscription) { await surroundings.wait(next) }
  }
}
