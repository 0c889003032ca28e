// The choice of what readiness means.

/// What `/readyz` waits for.
package enum ReadinessRule: String, Sendable, Hashable, CaseIterable {
  /// Nothing: a process that has started is ready.
  case started
  /// Every route with a token of an application's own has had one, once. A provider that goes down later keeps no
  /// caller away: callers are told.
  case tokens
  /// Every route with a token has had one, once: someone has signed in for each route of a person, too. Only where
  /// people do not sign in through this proxy: it gets no requests before.
  case people
}
