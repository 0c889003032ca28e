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

  /// The result of `work`, or nil if `limit` returns first: `work` goes on then.
  static func wait<Value>(
    for work: @escaping @Sendable () async -> Value, within limit: @escaping @Sendable () async -> Void
  ) async -> Value? where Answer == Value? {
    await wait { answer in
      let limit = Task {
        await limit()
        answer.give(nil)
      }
      Task {
        answer.give(await work())
        limit.cancel()
      }
    }
  }
}
