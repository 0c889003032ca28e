// What the broker does without a request: it renews what loops claim, keeps the tokens at hand that need no person, and
// looks at what others leave in the cache.

internal import Tokens

extension TokenBroker {
  /// Has a token renewed without a caller that waits: what a loop calls when `BearerValue.claimsRefresh` told it to.
  package nonisolated func refreshBehind(_ subscription: TokenSubscription) {
    Task { await self.refresh(subscription) }
  }

  /// Keeps a token at hand for every application's own subscription, and those of agents' users, until the task is
  /// cancelled: obtains it at the start, renews it when due, and tries again after failures, so that a proxy without
  /// traffic becomes and stays ready by itself. People's tokens are renewed while they are used, and not otherwise.
  package nonisolated func keepReady(_ subscriptions: [TokenSubscription]) async {
    await withDiscardingTaskGroup { group in
      for subscription in subscriptions where subscription.key.subject.isUnattended {
        group.addTask { await self.keepReady(subscription) }
      }
    }
  }

  /// Follows the cache until the task is cancelled: what others obtain is served, and what they sign out is not, from
  /// then on.
  package func followCache() async {
    let changes = store.changes
    // What changed before the stream was there is looked at once.
    await lookAtAll()
    for await _ in changes { await lookAtAll() }
  }

  private func lookAtAll() async {
    for subscription in states.values.map(\.subscription) where !subscription.key.subject.isCaller {
      await look(subscription)
    }
  }

  /// Renews where the plan agrees, and waits for it; says when to look again.
  @discardableResult
  private func refresh(_ subscription: TokenSubscription) async -> UnixTime {
    let key = subscription.key
    switch await look(subscription).plan(at: surroundings.now()) {
    case .useCachedAndRefreshBehind, .request:
      _ = await flight(for: subscription).value
    case .useCached, .fail, .interactionRequired, .cacheUnavailable:
      // Claimed by a loop whose clock is ahead of this one, or renewed by another process: nothing is sent, so the
      // claim goes back.
      states[key]?.letRefreshBeClaimed()
    }
    let now = surroundings.now()
    guard let state = states[key] else { return now }
    return state.throttle.pause(at: now) ?? state.value?.lifetime.refreshAt ?? now
  }

  private nonisolated func keepReady(_ subscription: TokenSubscription) async {
    while !Task.isCancelled {
      let due = await refresh(subscription)
      // Short naps: the wall clock may be set, and the machine may sleep.
      await surroundings.sleep(min(max(due - surroundings.now(), 1), 60))
    }
  }
}
