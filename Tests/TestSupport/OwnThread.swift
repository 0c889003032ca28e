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

/// Asks `condition` every 10 ms until it holds, and says whether it did before `limit` was over. The limit claims
/// nothing: it ends a test whose event never comes. Where other work keeps the threads, time passes without the
/// condition being asked or the event having a chance to come, so it is asked 500 times at least.
package func eventually(within limit: Duration = .seconds(60), _ condition: () async throws -> Bool) async throws
  -> Bool
{
  let deadline = ContinuousClock.now + limit
  var asked = 0
  while asked < 500 || ContinuousClock.now < deadline {
    if try await condition() { return true }
    asked += 1
    try await Task.sleep(for: .milliseconds(10))
  }
  return try await condition()
}
