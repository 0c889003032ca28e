// An exchange as its tests see it: what callers and upstreams do, as events, and what the state answers, as one type.

import Bytes
import HTTP
import Platform
import Telemetry
import Testing

@testable import Proxy

enum ExchangeFixture {
  /// The answer of the state, whatever the event.
  enum Outcome: Equatable {
    case move
    /// A direction has ended.
    case end
    case forward
    case drop
    case hold
    case answer(ResponsePlan)
    case retry
    case finish(ExchangeState.Ending)

    init(_ action: ExchangeState.MoveAction) {
      self =
        switch action {
        case .move: .move
        case .endDirection: .end
        case .finish(let ending): .finish(ending)
        }
    }

    init(_ action: ExchangeState.InterimAction) {
      self =
        switch action {
        case .forward: .forward
        case .drop: .drop
        case .finish(let ending): .finish(ending)
        }
    }

    init(_ action: ExchangeState.HeadAction) {
      self =
        switch action {
        case .hold: .hold
        case .answer(let plan): .answer(plan)
        }
    }

    init(_ action: ExchangeState.UpstreamEndAction) {
      self =
        switch action {
        case .retry: .retry
        case .finish(let ending): .finish(ending)
        }
    }
  }

  typealias Head = ExchangeState.AnswerHead

  static let seconds: @Sendable (UInt64) -> MonotonicTime = { MonotonicTime(nanoseconds: 0) + .seconds($0) }

  static func terms(
    _ method: RequestMethod = .post, _ framing: BodyFraming = .fixed(10), expectsContinue: Bool = false,
    webSocket: Bool = false, credential: RequestCredential.Owner = .proxy, whole: MonotonicTime = .distantFuture
  ) -> ExchangeState.Terms {
    ExchangeState.Terms(
      request: AdmittedRequest(
        method: method, framing: framing, expectsContinue: expectsContinue, asksForWebSocket: webSocket),
      credential: credential, responseHead: .seconds(20), idle: .seconds(10), whole: whole)
  }

  /// An exchange whose first attempt has a connection.
  static func begun(_ terms: ExchangeState.Terms, isReused: Bool = false) -> ExchangeState {
    var state = ExchangeState(terms)
    _ = state.begin()
    state.connected(isReused: isReused, contentHasBegun: false)
    return state
  }

  /// The caller's steps with a request that has ten bytes of content.
  enum Caller: String, CaseIterable, Sendable {
    case sendsAll, waitsForContinue, keepsSending, stalls, endsItsDirection, resets, hangsUp, sendsTooMuch
    case breaksTheCoding
  }

  /// The upstream's steps.
  enum Upstream: String, CaseIterable, Sendable {
    case staysSilent, continues, answers, answersAndCloses, refusesTheToken, closes, closesOnceSeen, sendsNonsense
    case breaksOff, takesNoContent
  }

  /// Reports the caller's next step; nil if there is none.
  static func apply(_ caller: Caller, to state: inout ExchangeState) -> Outcome {
    guard state.movesRequest || caller == .hangsUp else { return .move }
    let step: BodyPump.Step
    switch caller {
    case .sendsAll: step = .finished
    case .waitsForContinue, .keepsSending, .stalls: step = .needsSource
    case .endsItsDirection: step = .failed(.sourceEnded)
    case .resets: step = .failed(.source(.reset))
    case .sendsTooMuch: step = .failed(.tooLarge)
    case .breaksTheCoding: step = .failed(.content(.chunk(.size)))
    case .hangsUp: return .finish(state.callerLeft())
    }
    return Outcome(state.requestMoved(step, contentHasBegun: caller != .waitsForContinue, at: seconds(1)))
  }

  static func apply(_ upstream: Upstream, to state: inout ExchangeState) -> Outcome {
    switch upstream {
    case .staysSilent:
      state.headNeeds(.answer)
      return .move
    case .continues:
      state.answerArrives()
      return Outcome(state.interimArrived(status: 100))
    case .answers, .answersAndCloses:
      state.answerArrives()
      return Outcome(
        state.headArrived(
          Head(status: 200, framing: .fixed(5), persistence: upstream == .answers ? .keepAlive : .close),
          callerMustEnd: false))
    case .refusesTheToken:
      state.answerArrives()
      return Outcome(state.headArrived(Head(status: 401, framing: .fixed(0)), callerMustEnd: false))
    case .closes: return Outcome(state.upstreamEnded(.mayBeProcessed, contentIsKept: false))
    case .closesOnceSeen:
      state.answerArrives()
      return Outcome(state.upstreamEnded(.mayBeProcessed, contentIsKept: false))
    case .sendsNonsense:
      state.answerArrives()
      return .finish(state.answerRefused(.statusLine))
    case .breaksOff:
      state.answerArrives()
      _ = state.headArrived(Head(status: 200, framing: .fixed(5)), callerMustEnd: false)
      return Outcome(state.answerMoved(.failed(.sourceEnded), leavesBytes: false, callerHasPart: true))
    case .takesNoContent:
      guard state.movesRequest else { return .move }
      return Outcome(state.requestMoved(.failed(.sink(.reset)), contentHasBegun: true, at: seconds(1)))
    }
  }

  /// The next event after both have finished: the end of an answer, or of the time.
  static func end(_ state: inout ExchangeState, after action: Outcome) -> Outcome {
    switch action {
    case .finish, .retry, .hold: return action
    case .move, .end, .forward, .drop, .answer:
      if state.movesAnswer, !state.awaitsHead {
        let end = Outcome(state.answerMoved(.finished, leavesBytes: false, callerHasPart: true))
        if end != .end { return end }
      }
      let pause = state.pause(moved: 0, at: seconds(1))
      guard case .wait(let wait) = pause else { return action }
      return .finish(state.timedOut(wait, at: wait.until))
    }
  }

}
