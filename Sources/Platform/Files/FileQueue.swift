// Calls that may wait for a disk run here: a serial Dispatch queue, never a loop and never the threads of Swift's
// tasks.

internal import Dispatch
internal import Telemetry

/// A serial queue for blocking calls.
package final class FileQueue: Sendable {
  private let queue: DispatchQueue

  /// A queue; `name` appears in debuggers.
  package init(_ name: StaticString) {
    queue = DispatchQueue(label: "bearer-proxy.\(name)")
  }

  /// Runs `work` on the queue and waits for it without blocking a thread. Its log records belong to the waiting
  /// request.
  package func run<Result: Sendable>(_ work: @escaping @Sendable () -> Result) async -> Result {
    let scope = RequestScope.current
    return await withCheckedContinuation { continuation in
      queue.async { continuation.resume(returning: RequestScope.$current.withValue(scope) { work() }) }
    }
  }
}
