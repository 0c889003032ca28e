// Interim answers, answers that an HTTP/1.0 caller gets, and tunnels.

import HTTP
import Platform
import Telemetry
import Testing

@testable import Proxy

@Suite struct ExchangeTunnelTests {
  typealias Fixture = ExchangeFixture
  private typealias Head = ExchangeState.AnswerHead

  // MARK: Interim answers

  @Test func `interim answers are forwarded to HTTP/1.1, dropped for HTTP/1.0, and bounded`() {
    var state = Fixture.begun(Fixture.terms(.get, .none))
    for _ in 0..<ExchangeState.interimLimit { #expect(state.interimArrived(status: 103) == .forward) }
    #expect(state.interimArrived(status: 103) == .finish(.failed(.upstreamMalformed(.interimAnswers))))
    var old = Fixture.terms(.get, .none)
    old.request.version = .http10
    state = Fixture.begun(old)
    #expect(state.interimArrived(status: 103) == .drop)
  }

  @Test func `an HTTP/1.0 caller gets the end of its connection if it could not tell the end of the content`() {
    var terms = Fixture.terms(.get, .none)
    terms.request.version = .http10
    var state = Fixture.begun(terms)
    _ = Fixture.apply(.sendsAll, to: &state)
    let plan = ResponsePlan(framing: .chunked, version: .http10, isEnding: false)
    #expect(plan.closes && !plan.writesChunks)
    #expect(state.headArrived(Head(status: 200, framing: .chunked), callerMustEnd: false) == .answer(plan))
    #expect(
      state.answerMoved(.finished, leavesBytes: false, callerHasPart: true)
        == .finish(.completed(reusesUpstream: true, keepsCaller: false)))
  }

  @Test func `a connection on which more arrived than the answer is not used again`() {
    var state = Fixture.begun(Fixture.terms(.get, .none))
    _ = Fixture.apply(.sendsAll, to: &state)
    _ = Fixture.apply(.answers, to: &state)
    #expect(
      state.answerMoved(.finished, leavesBytes: true, callerHasPart: true)
        == .finish(.completed(reusesUpstream: false, keepsCaller: true)))
  }

  // MARK: Tunnels

  private static func tunnel() -> ExchangeState {
    var state = Fixture.begun(Fixture.terms(.get, .none, webSocket: true))
    _ = Fixture.apply(.sendsAll, to: &state)
    #expect(state.switchArrived(isAgreed: true) == nil)
    #expect(state.isTunnel && state.movesRequest && state.movesAnswer)
    // The caller is moved before anything is waited for.
    #expect(state.pause(moved: 0, at: Fixture.seconds(1)) == .yield)
    return state
  }

  @Test(arguments: [(asked: false, agreed: true), (asked: true, agreed: false), (asked: false, agreed: false)])
  func `a switch takes a caller that asked and an upstream that agrees`(asked: Bool, agreed: Bool) {
    var state = Fixture.begun(Fixture.terms(.get, .none, webSocket: asked))
    #expect(state.switchArrived(isAgreed: agreed) == .failed(.upstreamMalformed(.unaskedSwitch)))
  }

  @Test func `each direction of a tunnel ends by itself, and the tunnel with the second`() {
    let over = ExchangeState.Ending.completed(reusesUpstream: false, keepsCaller: false)
    var state = Self.tunnel()
    #expect(state.requestMoved(.finished, contentHasBegun: true, at: Fixture.seconds(1)) == .endDirection)
    #expect(!state.movesRequest && state.movesAnswer)
    #expect(state.answerMoved(.finished, leavesBytes: false, callerHasPart: true) == .finish(over))
    state = Self.tunnel()
    #expect(state.answerMoved(.finished, leavesBytes: false, callerHasPart: true) == .endDirection)
    #expect(state.movesRequest && !state.movesAnswer)
    #expect(state.requestMoved(.finished, contentHasBegun: true, at: Fixture.seconds(1)) == .finish(over))
  }

  @Test func `behind the end of the upstream's direction either side may break off`() {
    let over = ExchangeState.Ending.completed(reusesUpstream: false, keepsCaller: false)
    for failure in [BodyPump.Failure.sink(.reset), .source(.reset)] {
      var state = Self.tunnel()
      _ = state.answerMoved(.finished, leavesBytes: false, callerHasPart: true)
      #expect(state.requestMoved(.failed(failure), contentHasBegun: true, at: Fixture.seconds(1)) == .finish(over))
    }
    var state = Self.tunnel()
    #expect(state.callerLeft() == .interrupted(.callerLeft))
    state = Self.tunnel()
    _ = state.answerMoved(.finished, leavesBytes: false, callerHasPart: true)
    #expect(state.callerLeft() == over)
  }

  @Test func `a silent tunnel, and one that is cut off, says so to the sides that still listen`() {
    var state = Self.tunnel()
    #expect(state.cutOff() == .goingAway(tellsUpstream: true, tellsCaller: true))
    state = Self.tunnel()
    _ = state.requestMoved(.finished, contentHasBegun: true, at: Fixture.seconds(1))
    guard case .wait(let wait) = state.pause(moved: 0, at: Fixture.seconds(1)) else {
      Issue.record("there is nothing to wait for")
      return
    }
    #expect(wait.until == Fixture.seconds(11))
    #expect(state.timedOut(wait, at: wait.until) == .goingAway(tellsUpstream: false, tellsCaller: true))
  }

  @Test func `a side of a tunnel that breaks ends it`() {
    var state = Self.tunnel()
    #expect(
      state.requestMoved(.failed(.sink(.reset)), contentHasBegun: true, at: Fixture.seconds(1))
        == .finish(.interrupted(.upstreamBroke(.reset))))
    state = Self.tunnel()
    #expect(
      state.answerMoved(.failed(.sink(.reset)), leavesBytes: false, callerHasPart: true)
        == .finish(.interrupted(.callerLeft)))
  }
}
