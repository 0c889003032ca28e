internal import Platform

/// The first of several answers, for one that waits.
struct FirstAnswer<Answer: Sendable>: Sendable {
  private let waiting: Locked<CheckedContinuation<Answer, Never>?>

  /// Gives the answer; without effect if there was one already.
  func give(_ answer: Answer) {
    let continuation = waiting.withLock { waiting in
      defer { waiting = nil }
      return waiting
    }
    continuation?.resume(returning: answer)
  }

  /// Waits for the first answer of what `start` begins.
  static func wait(_ start: (FirstAnswer) -> Void) async -> Answer {
    await withCheckedContinuation { start(FirstAnswer(waiting: Locked($0))) }
  }
}
