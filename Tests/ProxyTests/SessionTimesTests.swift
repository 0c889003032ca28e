import Bytes
import Platform
import Routing
import Testing

@testable import Proxy

@Suite struct SessionTimesTests {
  private let limits = ServiceLimits(requestHead: .seconds(10), idle: .seconds(60), grace: .seconds(1))
  private func at(_ seconds: UInt64) -> MonotonicTime { MonotonicTime(nanoseconds: 0) + .seconds(seconds) }

  @Test func `an idle connection takes leave after its time`() {
    var times = SessionTimes(at: at(0))
    times.note(isUnused: true, isInHead: false, hasOutput: false, at: at(5))
    #expect(times.deadline(limits, isEnding: false) == at(60))
    let early = times.leaves(isEnding: false, mustEnd: false, isAnswered: false, limits, at: at(59))
    let due = times.leaves(isEnding: false, mustEnd: false, isAnswered: false, limits, at: at(60))
    #expect(early == nil && due == .announced(since: at(60)))
    #expect(times.deadline(limits, isEnding: false) == at(61))
    let again = times.leaves(isEnding: false, mustEnd: false, isAnswered: false, limits, at: at(60))
    let last = times.leaves(isEnding: false, mustEnd: false, isAnswered: true, limits, at: at(60))
    #expect(again == nil && last == .final)
    #expect(times.leaves(isEnding: true, mustEnd: true, isAnswered: true, limits, at: at(99)) == nil)
  }

  @Test func `a busy connection stays, until the process ends`() {
    var times = SessionTimes(at: at(0))
    times.note(isUnused: false, isInHead: false, hasOutput: false, at: at(1))
    #expect(times.deadline(limits, isEnding: false) == .distantFuture)
    let stays = times.leaves(isEnding: false, mustEnd: false, isAnswered: false, limits, at: at(1000))
    let ends = times.leaves(isEnding: true, mustEnd: false, isAnswered: false, limits, at: at(1000))
    #expect(stays == nil && ends == .announced(since: at(1000)))
    // A peer that answers no PING is given the grace.
    let last = times.leaves(isEnding: true, mustEnd: false, isAnswered: false, limits, at: at(1001))
    #expect(last == .final)
  }

  @Test func `a new connection is given the grace for its first request when the process ends`() {
    var times = SessionTimes(at: at(0))
    #expect(times.deadline(limits, isEnding: true) == at(1))
    let early = times.leaves(isEnding: true, mustEnd: false, isAnswered: false, limits, at: at(0))
    let due = times.leaves(isEnding: true, mustEnd: false, isAnswered: false, limits, at: at(1))
    #expect(early == nil && due == .announced(since: at(1)))
    var served = SessionTimes(at: at(0))
    served.note(isUnused: false, isInHead: false, hasOutput: false, at: at(0))
    served.note(isUnused: true, isInHead: false, hasOutput: false, at: at(0))
    let atOnce = served.leaves(isEnding: true, mustEnd: false, isAnswered: false, limits, at: at(0))
    #expect(atOnce == .announced(since: at(0)))
  }

  @Test func `a connection whose place is needed takes leave in one step`() {
    var times = SessionTimes(at: at(0))
    #expect(times.leaves(isEnding: true, mustEnd: true, isAnswered: false, limits, at: at(1)) == .final)
  }

  @Test func `a connection that has served all waits the grace for requests that their caller has not ended`() {
    var times = SessionTimes(at: at(0))
    let welcome = times.ends(isServed: true, isAwaited: false, limits, at: at(1))
    _ = times.leaves(isEnding: true, mustEnd: true, isAnswered: false, limits, at: at(1))
    let serving = times.ends(isServed: false, isAwaited: true, limits, at: at(2))
    let served = times.ends(isServed: true, isAwaited: true, limits, at: at(5))
    #expect(!welcome && !serving && !served && times.deadline(limits, isEnding: true) == at(6))
    let over = times.ends(isServed: true, isAwaited: false, limits, at: at(5))
    let late = times.ends(isServed: true, isAwaited: true, limits, at: at(6))
    #expect(over && late)
  }

  @Test func `a head that does not end, and bytes that are not read, end the connection`() {
    var times = SessionTimes(at: at(0))
    times.note(isUnused: false, isInHead: true, hasOutput: true, at: at(1))
    times.note(isUnused: false, isInHead: true, hasOutput: true, at: at(5))
    #expect(times.deadline(limits, isEnding: false) == at(11))
    #expect(!times.isStalled(limits, at: at(10)) && times.isStalled(limits, at: at(11)))
    times.note(isUnused: false, isInHead: false, hasOutput: true, at: at(10))
    #expect(!times.isStalled(limits, at: at(60)) && times.isStalled(limits, at: at(61)))
    times.moved()
    times.note(isUnused: false, isInHead: false, hasOutput: true, at: at(60))
    #expect(!times.isStalled(limits, at: at(119)) && times.isStalled(limits, at: at(120)))
  }
}
