// The life of an exchange as tables: every pair of what the caller does and what the upstream does, and its one result.

import HTTP
import Platform
import Telemetry
import Testing

@testable import Proxy

@Suite struct ExchangeStateTests {
  typealias Fixture = ExchangeFixture
  private typealias Head = ExchangeState.AnswerHead

  private static let callerFirst: [Fixture.Caller: [Fixture.Upstream: Fixture.Outcome]] = {
    let stalled = Fixture.Outcome.finish(.failed(.upstreamStalled))
    let contentStalled = Fixture.Outcome.finish(.failed(.contentStalled))
    let closed = Fixture.Outcome.finish(.failed(.upstreamClosed))
    let nonsense = Fixture.Outcome.finish(.failed(.upstreamMalformed(.statusLine)))
    let cut = Fixture.Outcome.finish(.interrupted(.upstreamBroke(.cutShort)))
    func completed(_ upstream: Bool, _ caller: Bool) -> Fixture.Outcome {
      .finish(.completed(reusesUpstream: upstream, keepsCaller: caller))
    }
    /// Rows for a caller that is still to send content.
    func unfinished(_ waiting: Fixture.Outcome) -> [Fixture.Upstream: Fixture.Outcome] {
      [
        .staysSilent: waiting, .continues: contentStalled, .answers: completed(false, false),
        .answersAndCloses: completed(false, false), .refusesTheToken: .hold, .closes: closed, .closesOnceSeen: closed,
        .sendsNonsense: nonsense, .breaksOff: cut, .takesNoContent: stalled,
      ]
    }
    func always(_ ending: ExchangeState.Ending) -> [Fixture.Upstream: Fixture.Outcome] {
      Dictionary(uniqueKeysWithValues: Fixture.Upstream.allCases.map { ($0, Fixture.Outcome.finish(ending)) })
    }
    return [
      .sendsAll: [
        .staysSilent: stalled, .continues: stalled, .answers: completed(true, true),
        .answersAndCloses: completed(false, true), .refusesTheToken: .hold, .closes: closed, .closesOnceSeen: closed,
        .sendsNonsense: nonsense, .breaksOff: cut, .takesNoContent: stalled,
      ],
      .waitsForContinue: unfinished(stalled),
      .keepsSending: unfinished(contentStalled),
      .stalls: unfinished(contentStalled),
      .endsItsDirection: always(.failed(.contentCut)),
      .resets: always(.interrupted(.callerLeft)),
      .hangsUp: always(.interrupted(.callerLeft)),
      .sendsTooMuch: always(.failed(.tooLarge)),
      .breaksTheCoding: always(.failed(.content)),
    ]
  }()

  @Test(arguments: Fixture.Caller.allCases, Fixture.Upstream.allCases)
  func `each order of caller's and upstream's events has one outcome`(
    caller: Fixture.Caller, upstream: Fixture.Upstream
  )
    throws
  {
    var state = Fixture.begun(Fixture.terms(expectsContinue: caller == .waitsForContinue))
    var action = Fixture.apply(caller, to: &state)
    if action == .move { action = Fixture.apply(upstream, to: &state) }
    // The caller goes on as it began if it has not ended.
    if action == .forward { action = Fixture.apply(caller == .waitsForContinue ? .stalls : caller, to: &state) }
    let expected = try #require(Self.callerFirst[caller]?[upstream])
    #expect(Fixture.end(&state, after: action) == expected)
  }

  /// Early answers: the upstream answers while content is still to come.
  private static let upstreamFirst: [Fixture.Caller: Fixture.Outcome] = [
    // The upstream's connection is clean only if all of the request has gone out on it.
    .sendsAll: .finish(.completed(reusesUpstream: true, keepsCaller: false)),
    .waitsForContinue: .finish(.completed(reusesUpstream: false, keepsCaller: false)),
    .keepsSending: .finish(.completed(reusesUpstream: false, keepsCaller: false)),
    .stalls: .finish(.completed(reusesUpstream: false, keepsCaller: false)),
    .endsItsDirection: .finish(.completed(reusesUpstream: false, keepsCaller: false)),
    .resets: .finish(.interrupted(.callerLeft)),
    .hangsUp: .finish(.interrupted(.callerLeft)),
    .sendsTooMuch: .finish(.interrupted(.contentRefused)),
    .breaksTheCoding: .finish(.interrupted(.contentRefused)),
  ]

  @Test(arguments: Fixture.Caller.allCases)
  func `an answer that comes before the request is complete goes on beside it`(caller: Fixture.Caller) throws {
    var state = Fixture.begun(Fixture.terms(expectsContinue: caller == .waitsForContinue))
    let plan = ResponsePlan(framing: .fixed(5), version: .http11, isEnding: true)
    #expect(Fixture.apply(.answers, to: &state) == .answer(plan))
    #expect(state.movesAnswer && state.movesRequest)
    let action = Fixture.apply(caller, to: &state)
    #expect(Fixture.end(&state, after: action) == Self.upstreamFirst[caller])
  }

  /// An exchange whose upstream has answered and goes on reading.
  private static func delivering(persistence: Persistence = .keepAlive, leavesBytes: Bool = false) -> ExchangeState {
    var state = Fixture.begun(Fixture.terms())
    _ = Fixture.apply(.keepsSending, to: &state)
    state.answerArrives()
    let head = Head(status: 200, framing: .fixed(5), persistence: persistence)
    #expect(
      state.headArrived(head, callerMustEnd: false)
        == .answer(ResponsePlan(framing: .fixed(5), version: .http11, isEnding: true)))
    #expect(state.answerMoved(.finished, leavesBytes: leavesBytes, callerHasPart: true) == .endDirection)
    #expect(state.movesRequest && !state.movesAnswer && !state.awaitsHead)
    return state
  }

  @Test func `an upstream that answers early and goes on reading gets the rest`() {
    var state = Self.delivering()
    #expect(state.requestMoved(.needsSource, contentHasBegun: true, at: Fixture.seconds(2)) == .move)
    #expect(
      state.pause(moved: 0, at: Fixture.seconds(2))
        == .wait(.init(needs: .content, isForCaller: true, until: Fixture.seconds(12))))
    #expect(Fixture.apply(.sendsAll, to: &state) == .finish(.completed(reusesUpstream: true, keepsCaller: false)))
    state = Self.delivering(leavesBytes: true)
    #expect(Fixture.apply(.sendsAll, to: &state) == .finish(.delivered))
    state = Self.delivering(persistence: .close)
    #expect(Fixture.apply(.sendsAll, to: &state) == .finish(.delivered))
  }

  @Test(arguments: [
    Fixture.Caller.endsItsDirection, .resets, .hangsUp, .sendsTooMuch, .breaksTheCoding, .stalls, .keepsSending,
  ])
  func `whatever becomes of the rest, the answer was delivered`(caller: Fixture.Caller) {
    var state = Self.delivering()
    let action = Fixture.apply(caller, to: &state)
    #expect(Fixture.end(&state, after: action) == .finish(.delivered))
    state = Self.delivering()
    #expect(Fixture.apply(.takesNoContent, to: &state) == .finish(.delivered))
  }

  @Test(arguments: [
    (413, Persistence.close, false), (302, .close, false), (413, .keepAlive, true), (200, .close, true),
  ])
  func `an upstream that turns a request down and closes is sent no more of it`(
    status: Int, persistence: Persistence, movesOn: Bool
  ) {
    for caller in [Fixture.Caller.keepsSending, .waitsForContinue] {
      var state = Fixture.begun(Fixture.terms(expectsContinue: caller == .waitsForContinue))
      _ = Fixture.apply(caller, to: &state)
      state.answerArrives()
      let head = Head(status: status, framing: .fixed(5), persistence: persistence)
      _ = state.headArrived(head, callerMustEnd: false)
      #expect(state.movesRequest == movesOn && state.movesAnswer)
    }
  }

  @Test(arguments: [(ContentError.chunk(.size), UpstreamFault.chunkedCoding), (.trailer(.tooLarge), .trailers)])
  func `content that is broken from its beginning is no answer if the caller has nothing of it`(
    error: ContentError, fault: UpstreamFault
  ) {
    for callerHasPart in [true, false] {
      var state = Fixture.begun(Fixture.terms(.get, .none))
      _ = Fixture.apply(.sendsAll, to: &state)
      state.answerArrives()
      _ = state.headArrived(Head(status: 200, framing: .chunked), callerMustEnd: false)
      #expect(
        state.answerMoved(.failed(.content(error)), leavesBytes: true, callerHasPart: callerHasPart)
          == .finish(callerHasPart ? .interrupted(.upstreamBroke(fault)) : .failed(.upstreamMalformed(fault))))
    }
  }

  @Test(arguments: [Fixture.Upstream.answers, .closes, .staysSilent, .refusesTheToken])
  func `an upstream that takes no more content may still answer`(then: Fixture.Upstream) {
    var state = Fixture.begun(Fixture.terms())
    #expect(Fixture.apply(.takesNoContent, to: &state) == .move)
    #expect(!state.movesRequest)
    let action = Fixture.apply(then, to: &state)
    let expected: [Fixture.Upstream: Fixture.Outcome] = [
      .answers: .finish(.completed(reusesUpstream: false, keepsCaller: false)),
      .closes: .finish(.failed(.upstreamClosed)), .staysSilent: .finish(.failed(.upstreamStalled)),
      .refusesTheToken: .hold,
    ]
    #expect(Fixture.end(&state, after: action) == expected[then])
  }
}
