// The heap of deadlines, compared with an array that is searched.

import TestSupport
import Testing

@testable import Platform

@Suite struct TimerQueueTests {
  /// Numbers that are the same on every run.
  private struct Sequence {
    var state: UInt64

    mutating func next(_ bound: Int) -> Int {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return Int((state >> 33) % UInt64(bound))
    }
  }

  @Test(arguments: [1, 2, 3, 4, 5, 6, 7, 8] as [UInt64])
  func `whatever is scheduled, moved and removed, each is due at its last deadline and not before`(
    seed: UInt64
  ) async throws {
    try await onLoop { loop in
      var numbers = Sequence(state: seed)
      var queue = TimerQueue()
      let waiters = (0..<40).map { _ in Waiter(loop) }
      // The array's contents: each waiter and its deadline.
      var expected: [Int: MonotonicTime] = [:]
      var now = MonotonicTime(nanoseconds: 0)
      for _ in 0..<5000 {
        let index = numbers.next(waiters.count)
        switch numbers.next(4) {
        case 0:
          queue.remove(waiters[index])
          waiters[index].deadline = .distantFuture
          expected[index] = nil
        case 1:
          now = MonotonicTime(nanoseconds: now.nanoseconds + UInt64(numbers.next(50)))
          // A due waiter leaves the queue; no task waits there, so none is woken.
          _ = queue.expire(now)
          for (index, deadline) in expected where deadline <= now {
            #expect(waiters[index].timerIndex < 0)
            waiters[index].deadline = .distantFuture
            expected[index] = nil
          }
        default:
          let deadline = MonotonicTime(nanoseconds: now.nanoseconds + UInt64(numbers.next(300)))
          waiters[index].deadline = deadline
          queue.schedule(waiters[index])
          expected[index] = deadline
        }
        for (index, deadline) in expected {
          #expect(waiters[index].timerIndex >= 0)
          // It may be looked at early, never late.
          #expect(waiters[index].timerKey <= deadline)
        }
        #expect(queue.next <= expected.values.min() ?? .distantFuture)
      }
    }
  }
}
