// The event that an exchange waits for, its time limit, and the fault of a wait that is too long.

import HTTP
import Telemetry
import Testing

@testable import Proxy

@Suite struct ExchangePauseTests {
  typealias Fixture = ExchangeFixture
  private typealias Head = ExchangeState.AnswerHead

  // MARK: Waiting

  @Test func `each wait has its limit, and says who is waited for`() {
    func wait(_ state: inout ExchangeState, at second: UInt64 = 1) -> ExchangeState.Pause {
      state.pause(moved: 0, at: Fixture.seconds(second))
    }
    // The head is out, content is withheld: the upstream's turn.
    var state = Fixture.begun(Fixture.terms(expectsContinue: true))
    _ = state.requestMoved(.needsSource, contentHasBegun: false, at: Fixture.seconds(1))
    state.headNeeds(.answer)
    #expect(wait(&state) == .wait(.init(needs: [.content, .answer], isForCaller: false, until: Fixture.seconds(21))))
    // A later look does not give the upstream more time.
    _ = state.requestMoved(.needsSource, contentHasBegun: false, at: Fixture.seconds(5))
    state.headNeeds(.answer)
    #expect(
      wait(&state, at: 5) == .wait(.init(needs: [.content, .answer], isForCaller: false, until: Fixture.seconds(21))))
    // It sends its content unasked: then the caller is waited for.
    _ = state.requestMoved(.needsSource, contentHasBegun: true, at: Fixture.seconds(6))
    #expect(wait(&state, at: 6) == .wait(.init(needs: .content, isForCaller: true, until: Fixture.seconds(16))))
    _ = state.requestMoved(.needsSink, contentHasBegun: true, at: Fixture.seconds(7))
    #expect(wait(&state, at: 7) == .wait(.init(needs: .upstreamRoom, isForCaller: false, until: Fixture.seconds(17))))
    _ = state.requestMoved(.finished, contentHasBegun: true, at: Fixture.seconds(8))
    state.headNeeds(.answer)
    #expect(wait(&state, at: 9) == .wait(.init(needs: .answer, isForCaller: false, until: Fixture.seconds(28))))
    _ = Fixture.apply(.answers, to: &state)
    _ = state.answerMoved(.needsSink, leavesBytes: false, callerHasPart: true)
    #expect(wait(&state, at: 10) == .wait(.init(needs: .callerRoom, isForCaller: true, until: Fixture.seconds(20))))
    _ = state.answerMoved(.tookItsTurn, leavesBytes: false, callerHasPart: true)
    #expect(wait(&state, at: 11) == .yield)
  }

  @Test(arguments: [
    (needs: ExchangeState.Needs.answer, isForCaller: false, ending: ExchangeState.Interruption.timedOut(.stalled)),
    (.callerRoom, true, .timedOut(nil)),
  ])
  func `an answer that stops is the fault of the one that was waited for`(
    needs: ExchangeState.Needs, isForCaller: Bool, ending: ExchangeState.Interruption
  ) {
    var state = Fixture.begun(Fixture.terms(.get, .none))
    _ = Fixture.apply(.sendsAll, to: &state)
    _ = Fixture.apply(.answers, to: &state)
    _ = state.answerMoved(isForCaller ? .needsSink : .needsSource, leavesBytes: false, callerHasPart: true)
    let pause = state.pause(moved: 0, at: Fixture.seconds(1))
    #expect(pause == .wait(.init(needs: needs, isForCaller: isForCaller, until: Fixture.seconds(11))))
    guard case .wait(let wait) = pause else { return }
    #expect(state.timedOut(wait, at: wait.until) == .interrupted(ending))
  }

  @Test(arguments: [false, true]) func `the time for the whole exchange ends every wait`(isAnswering: Bool) {
    var state = Fixture.begun(Fixture.terms(.get, .none, whole: Fixture.seconds(3)))
    _ = Fixture.apply(.sendsAll, to: &state)
    if isAnswering {
      _ = Fixture.apply(.answers, to: &state)
      _ = state.answerMoved(.tookItsTurn, leavesBytes: false, callerHasPart: true)
      #expect(state.pause(moved: 0, at: Fixture.seconds(1)) == .yield)
      _ = state.answerMoved(.tookItsTurn, leavesBytes: false, callerHasPart: true)
    }
    guard case .wait(let wait) = state.pause(moved: 0, at: Fixture.seconds(3)) else {
      Issue.record("there is nothing to wait for")
      return
    }
    #expect(wait.until == Fixture.seconds(3))
    #expect(
      state.timedOut(wait, at: Fixture.seconds(3))
        == (isAnswering ? .interrupted(.timedOut(nil)) : .failed(.exchangeTimedOut)))
  }

  @Test(arguments: [false, true]) func `a caller below the rate is let go, and nothing else is measured by it`(
    isAnswering: Bool
  ) {
    var terms = Fixture.terms()
    terms.callerRate = 100
    var state = Fixture.begun(terms)
    if isAnswering { _ = Fixture.apply(.answers, to: &state) }
    func pause(_ moved: UInt64, at second: UInt64) -> ExchangeState.Pause {
      if isAnswering {
        _ = state.answerMoved(.needsSink, leavesBytes: false, callerHasPart: true)
      } else {
        _ = state.requestMoved(.needsSource, contentHasBegun: true, at: Fixture.seconds(second))
      }
      return state.pause(moved: moved, at: Fixture.seconds(second))
    }
    _ = pause(0, at: 1)
    if case .finish = pause(1000, at: 11) { Issue.record("the rate was met") }
    #expect(pause(1999, at: 21) == .finish(isAnswering ? .interrupted(.callerTooSlow) : .failed(.contentTooSlow)))
  }

  @Test func `an interruption has its reason in the record`() {
    let rows: [(ExchangeState.Interruption, RequestOutcome, UpstreamFault?, Limit?)] = [
      (.callerLeft, .abortedByDownstream, nil, nil), (.callerTooSlow, .timedOut, nil, .callerRate),
      (.timedOut(.stalled), .timedOut, .stalled, .idle), (.timedOut(nil), .timedOut, nil, .idle),
      (.contentRefused, .answeredByProxy, nil, nil), (.upstreamBroke(.reset), .upstreamFailed, .reset, nil),
    ]
    for (interruption, outcome, fault, limit) in rows {
      #expect(interruption.outcome == outcome && interruption.fault == fault && interruption.limit == limit)
    }
  }
}
