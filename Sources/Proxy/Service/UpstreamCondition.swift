// The failures of each route's upstream, one memory for all loops. While all is well, an answer costs a request the
// load of a byte that is not written.

internal import Platform
internal import Synchronization

/// The failures of the upstreams of a service's routes. Any loop may record them.
final class UpstreamCondition: Sendable {
  /// Failures in a row that no answer has ended.
  struct Failure: Hashable {
    /// Seconds since 1970 when the first one happened.
    var since: Int64
    var reason: String
    var count: Int
  }

  // Allocated here, freed in deinit; it points to atomics.
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

  /// The present failure; nil if the upstream is healthy or unused.
  func failure(of route: Int) -> Failure? { failures.withLock { $0[route] } }

  /// Records that the upstream could not be reached, or broke off. Faults of a caller or the provider do not count.
  func failed(_ route: Int, _ reason: String, now: Int64) {
    failures.withLock { failures in
      failures[route] = Failure(
        since: failures[route]?.since ?? now, reason: reason, count: (failures[route]?.count ?? 0) + 1)
      areFailing[route].store(true, ordering: .relaxed)
    }
  }

  /// Records an answer, whatever it was. Not inlined: its caller would count a reference to keep the bytes alive.
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
