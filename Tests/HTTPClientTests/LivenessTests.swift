import Bytes
import Platform
import Testing

@testable import HTTPClient

@Suite struct LivenessTests {
  private static let start = MonotonicTime(nanoseconds: 1_000_000_000)

  private static func at(_ second: UInt64) -> MonotonicTime { start + .seconds(second) }

  @Test func `asks after a silence, and gives up without an answer`() {
    var liveness = Liveness(at: Self.at(0))
    #expect(liveness.due == Self.at(30))
    #expect(liveness.action(at: Self.at(29)) == .wait)
    #expect(liveness.action(at: Self.at(30)) == .ask)
    #expect(liveness.due == Self.at(45))
    #expect(liveness.action(at: Self.at(44)) == .wait)
    #expect(liveness.action(at: Self.at(45)) == .giveUp)
  }

  @Test func `bytes of any kind are a sign of life`() {
    var liveness = Liveness(at: Self.at(0))
    liveness.heardSomething(at: Self.at(20))
    #expect(liveness.action(at: Self.at(49)) == .wait)
    #expect(liveness.action(at: Self.at(50)) == .ask)
    liveness.heardSomething(at: Self.at(51))
    #expect(liveness.action(at: Self.at(100)) == .wait)
  }

  @Test func `asks no more often than servers with gRPC allow`() {
    var liveness = Liveness(at: Self.at(0))
    #expect(liveness.action(at: Self.at(30)) == .ask)
    liveness.heardSomething(at: Self.at(31))
    #expect(liveness.due == Self.at(390))
    #expect(liveness.action(at: Self.at(389)) == .wait)
    #expect(liveness.action(at: Self.at(390)) == .ask)
  }

  @Test func `a connection that was idle is asked with its next request`() {
    var liveness = Liveness(at: Self.at(0))
    #expect(liveness.action(at: Self.at(50)) == .ask)
  }
}
