// The records about a pause of accepting.

import Platform
import Testing

@testable import Proxy

@Suite struct AcceptingSpellTests {
  private func time(_ seconds: UInt64) -> MonotonicTime { MonotonicTime(nanoseconds: seconds * 1_000_000_000) }

  @Test func `a spell is said when it begins and when it is over, and not in between`() {
    var spell = AcceptingSpell()
    var said: [String] = []
    // Beats of the housekeeping, and rests in between.
    for (second, rests) in [
      (1, false), (1, true), (2, true), (5, true), (9, false), (9, true), (13, false), (14, false), (19, false),
      (20, true),
      (21, true), (40, false),
    ] as [(UInt64, Bool)] {
      if rests, spell.rests(at: time(second)) { said.append("rests \(second)") }
      if !rests, spell.hasEnded(at: time(second)) { said.append("goes on \(second)") }
    }
    #expect(said == ["rests 1", "goes on 14", "rests 20", "goes on 40"])
  }
}
