// The time for which a caller that is still sending is read after its last answer.

import Bytes
import Platform
import Testing

@testable import Proxy

@Suite struct LingeringTests {
  /// The second, of those in which so many KiB arrive, at which reading ends; and what is waited for after the last.
  private func run(_ kibibytes: [Int], each step: UInt64 = 1) -> (ended: Int?, deadline: UInt64?) {
    let start = MonotonicTime(nanoseconds: 7_000_000_000)
    var lingering = Lingering(at: start)
    var deadline: MonotonicTime?
    for (index, count) in kibibytes.enumerated() {
      lingering.received(count * 1024)
      deadline = lingering.deadline(at: start + .seconds(UInt64(index) * step))
      if deadline == nil { return (index, nil) }
    }
    return (nil, deadline.map { ($0.nanoseconds - start.nanoseconds) / 1_000_000_000 })
  }

  @Test func `a caller that goes on sending is read for as long as it is fast enough`() {
    #expect(run([0]) == (nil, 5))
    #expect(run([0, 0, 0, 0, 0]) == (nil, 5))
    #expect(run([0, 0, 0, 0, 0, 0]) == (5, nil))
    #expect(run([20, 0, 0, 0, 0, 0]) == (nil, 10))
    #expect(run([4, 4, 4, 4, 4, 0]) == (nil, 10))
    #expect(run([4, 4, 4, 4, 3, 0]) == (5, nil))
    // One good window does not last for the next.
    #expect(run([2000, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]) == (10, nil))
    #expect(run(Array(repeating: 1000, count: 300)) == (nil, 300))
  }

  @Test func `however fast it is, there is an end`() {
    #expect(run(Array(repeating: 1_000_000, count: 302)) == (300, nil))
  }
}
