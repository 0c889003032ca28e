// Runs blocking calls of the test's scenery off the cooperative pool, which has as many threads as the machine has
// cores.

import Dispatch

/// Runs `work`, which may block, on a Dispatch thread and waits for it without holding a thread of the cooperative
/// pool.
package func onOwnThread<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
  try await withCheckedThrowingContinuation { continuation in
    // A queue of its own has a thread at once; the global ones wait a second for another while theirs are blocked.
    DispatchQueue(label: "own thread").async { continuation.resume(with: Result(catching: work)) }
  }
}

/// Asks `condition` until it holds, and says whether it did before `limit` was over: every 10 ms at first, then after a
/// tenth of the time that has passed, and every 100 ms at last, since many conditions start a curl. The limit claims
/// nothing: it ends a test whose event never comes. If other work keeps the threads, time passes without the
/// condition being asked or the event having a chance to come, so it is asked 50 times at least.
package func eventually(within limit: Duration = .seconds(60), _ condition: () async throws -> Bool) async throws
  -> Bool
{
  let began = ContinuousClock.now
  var asked = 0
  while asked < 50 || began.duration(to: .now) < limit {
    if try await condition() { return true }
    asked += 1
    try await Task.sleep(for: min(max(began.duration(to: .now) / 10, .milliseconds(10)), .milliseconds(100)))
  }
  return try await condition()
}
