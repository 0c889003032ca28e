internal import Platform

/// Runs asynchronous work one after another, in the order of the calls. Cancelling a caller ends no work.
final class TaskQueue: Sendable {
  private let last = Locked<Task<Void, Never>?>(nil)

  /// Runs `work` after all earlier work.
  func run<Answer: Sendable>(_ work: @escaping @Sendable () async -> Answer) async -> Answer {
    let task = last.withLock { last in
      let previous = last
      let task = Task {
        await previous?.value
        return await work()
      }
      last = Task { _ = await task.value }
      return task
    }
    return await task.value
  }
}
