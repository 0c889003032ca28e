internal import Platform

/// Runs asynchronous work one after another, in the order of the calls. Cancelling a caller ends no work.
final class TaskQueue: Sendable {
  private struct State {
    var last: Task<Void, Never>?
    var unfinished = 0
  }

  private let state = Locked(State())

  /// True if all work has ended.
  var isIdle: Bool { state.withLock { $0.unfinished == 0 } }

  /// Runs `work` after all earlier work.
  func run<Answer: Sendable>(_ work: @escaping @Sendable () async -> Answer) async -> Answer {
    let task = state.withLock { state in
      let previous = state.last
      let task = Task {
        await previous?.value
        let answer = await work()
        self.state.withLock { $0.unfinished -= 1 }
        return answer
      }
      state.unfinished += 1
      state.last = Task { _ = await task.value }
      return task
    }
    return await task.value
  }

  /// Returns when all earlier work has ended.
  func settle() async { await state.withLock { $0.last }?.value }
}
