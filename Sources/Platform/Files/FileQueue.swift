// Where calls run that may wait for a disk: a serial Dispatch queue, never a loop and never the threads of Swift's
// tasks.

internal import Dispatch
internal import Telemetry

/// A queue for blocking calls, one after the other in the order given.
package final class FileQueue: Sendable {
  private let queue: DispatchQueue

  /// A queue; `name` shows in debuggers.
  package init(_ name: StaticString) {
    queue = DispatchQueue(label: "bearer-proxy.\(name)")
  }

  /// Runs `work` on the queue and waits for it without holding a thread. What it logs is about the request that waits.
  package func run<Result: Sendable>(_ work: @escaping @Sendable () -> Result) async -> Result {
    let scope = RequestScope.current
    return await withCheckedContinuation { continuation in
      queue.async { continuation.resume(returning: RequestScope.$current.withValue(scope) { work() }) }
    }
  }
}
