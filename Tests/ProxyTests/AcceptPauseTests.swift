// The records about a pause of accepting.

import Platform
import Testing

@testable import Proxy

@Suite struct AcceptPauseTests {
  private func time(_ seconds: UInt64) -> MonotonicTime { MonotonicTime(nanoseconds: seconds * 1_000_000_000) }

  @Test func `a pause is logged when it begins and when it is over, and not in between`() {
    var pause = AcceptPause()
    var logged: [String] = []
    // Beats of the housekeeping, and refused accepts in between.
    for (second, isRefused) in [
      (1, false), (1, true), (2, true), (5, true), (9, false), (9, true), (13, false), (14, false), (19, false),
      (20, true), (21, true), (40, false),
    ] as [(UInt64, Bool)] {
      if isRefused, pause.begins(at: time(second)) { logged.append("paused \(second)") }
      if !isRefused, pause.hasEnded(at: time(second)) { logged.append("resumed \(second)") }
    }
    #expect(logged == ["paused 1", "resumed 14", "paused 20", "resumed 40"])
  }
}
