/// The condition of `/readyz`.
package enum ReadinessRule: String, Sendable, Hashable, CaseIterable {
  /// Nothing: a process that has started is ready.
  case started
  /// Every route with a token of an application's own has had one, once. A provider that fails later does not end
  /// readiness: callers get an error.
  case tokens
  /// Every route with a token has had one, once: for each route of a person, someone has signed in. Only if people do
  /// not sign in through this proxy: it gets no requests before.
  case people
}
