internal import Bytes
package import Platform

extension CacheStore {
  /// The changes that the end of the process would lose.
  package struct Loss: Sendable, Hashable {
    /// Changes that the place lacks.
    package var changes: Int
    /// The reason why they could not be written.
    package var reason: CacheStoreError
  }

  /// Changes that could not be written; nil if there are none.
  package var loss: Loss? {
    state.withLock { state in
      guard let reason = state.writeTrouble, !state.unwritten.isEmpty else { return nil }
      return Loss(changes: state.unwritten.count, reason: reason)
    }
  }

  /// Tries to write the missing changes until all are written, or the time is over, or the task is cancelled.
  package func writeEverything(until deadline: MonotonicTime) async {
    guard let backend else { return }
    while state.withLock({ $0.isWriting || !$0.waiting.isEmpty || !$0.unwritten.isEmpty }) {
      let now = surroundings.now()
      guard now < deadline, !Task.isCancelled else { return }
      if !backend.isPaused { startWriting() }
      await surroundings.sleep(min(Self.endPause, Duration(deadline - now)))
    }
  }

  private static let endPause = Duration.milliseconds(200)
}
