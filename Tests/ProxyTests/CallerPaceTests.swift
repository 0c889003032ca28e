// The pace that a caller must keep, by the bytes it has moved at each instant.

import Bytes
import Platform
import Testing

@testable import Proxy

@Suite struct CallerPaceTests {
  /// A wait that begins: when, in milliseconds; whether the caller is waited for; bytes moved altogether.
  private typealias Wait = (at: UInt64, isCallers: Bool, bytes: UInt64)

  /// The first wait, of those, at which a caller is too slow for 100 bytes a second in windows of a second.
  private func firstTooSlow(_ waits: [Wait], rate: UInt64 = 100) -> Int? {
    var pace = CallerPace()
    return waits.firstIndex { wait in
      pace.isTooSlow(
        waitsForCaller: wait.isCallers, bytes: wait.bytes, rate: rate, window: .seconds(1),
        now: MonotonicTime(nanoseconds: 5_000_000_000 + wait.at * 1_000_000))
    }
  }

  @Test func `a caller that moves too little for a whole window is too slow`() {
    #expect(firstTooSlow([(0, true, 0), (500, true, 1), (999, true, 2), (1000, true, 3)]) == 3)
    #expect(firstTooSlow([(0, true, 0), (1000, true, 99)]) == 1)
    #expect(firstTooSlow([(0, true, 0), (1000, true, 100), (2000, true, 200)]) == nil)
    // One good window does not last for the next.
    #expect(firstTooSlow([(0, true, 0), (1000, true, 100_000), (2000, true, 100_001)]) == 2)
    // A window that became longer asks for more.
    #expect(firstTooSlow([(0, true, 0), (1900, true, 189)]) == 1)
    #expect(firstTooSlow([(0, true, 0), (1900, true, 190)]) == nil)
  }

  @Test func `time spent waiting for another party does not count`() {
    #expect(firstTooSlow([(0, false, 0), (60_000, false, 0), (120_000, false, 0)]) == nil)
    #expect(firstTooSlow([(0, true, 0), (900, false, 1), (60_000, true, 1), (60_099, true, 2)]) == nil)
    #expect(firstTooSlow([(0, true, 0), (900, false, 1), (60_000, true, 1), (60_100, true, 2)]) == 3)
  }

  @Test func `a caller is as slow if an upstream is slow now and then`() {
    let waits: [Wait] = (0..<30).map { (at: $0 * 100, isCallers: $0 % 3 != 2, bytes: $0) }
    #expect(firstTooSlow(waits) == 14)
    #expect(firstTooSlow(waits.map { ($0.at, $0.isCallers, $0.bytes * 8) }) == nil)
  }

  @Test func `no rate and no window is too large to reckon with`() {
    #expect(firstTooSlow([(0, true, 0), (31_622_400_000, true, .max)], rate: .max) == 1)
    #expect(firstTooSlow([(0, true, 0), (31_622_400_000, true, 1 << 40)]) == nil)
  }
}
