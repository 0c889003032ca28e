// What is known of the way to each route's upstream: since when it fails, and how. One for all loops. An answer costs a
// request the load of a byte that is not written while all is well.

internal import Platform
internal import Synchronization

/// Whether the upstreams of a service's routes answer. Any loop may tell it.
final class UpstreamCondition: Sendable {
  /// A row of failures that no answer has ended.
  struct Failure: Hashable {
    /// Seconds since 1970 when the first one happened.
    var since: Int64
    /// What the last one was.
    var reason: String
    /// How many there were.
    var count: Int
  }

  // Allocated here, freed in deinit; what it points to are atomics.
  private nonisolated(unsafe) let areFailing: UnsafeMutablePointer<Atomic<Bool>>
  private let routeCount: Int
  private let failures: Locked<[Int: Failure]>

  init(routes: Int) {
    areFailing = .allocate(capacity: max(routes, 1))
    for index in 0..<routes { (areFailing + index).initialize(to: Atomic(false)) }
    routeCount = routes
    failures = Locked([:])
  }

  deinit {
    areFailing.deinitialize(count: routeCount)
    areFailing.deallocate()
  }

  /// What is wrong now; nil where the last that was heard of it was an answer, or nothing was.
  func failure(of route: Int) -> Failure? { failures.withLock { $0[route] } }

  /// The upstream could not be reached, or broke off. What a caller or the provider did does not count.
  func failed(_ route: Int, _ reason: String, now: Int64) {
    failures.withLock { failures in
      failures[route] = Failure(
        since: failures[route]?.since ?? now, reason: reason, count: (failures[route]?.count ?? 0) + 1)
      areFailing[route].store(true, ordering: .relaxed)
    }
  }

  /// The upstream answered, whatever it said. Not inlined: its caller would count a reference to keep the bytes alive.
  @inline(never)
  func answered(_ route: Int) {
    if areFailing[route].load(ordering: .relaxed) { recovered(route) }
  }

  @inline(never)
  private func recovered(_ route: Int) {
    failures.withLock { failures in
      failures[route] = nil
      areFailing[route].store(false, ordering: .relaxed)
    }
  }
}
