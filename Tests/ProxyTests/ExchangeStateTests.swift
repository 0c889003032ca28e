// The life of an exchange as tables: every pair of what the caller does and what the upstream does, and exactly what
// comes of it.

import Bytes
import HTTP
import HTTPClient
import Platform
import Routing
import Telemetry
import Testing

@testable import Proxy

@Suite struct ExchangeStateTests {
  private typealias Action = ExchangeState.Action
  private typealias Head = ExchangeState.AnswerHead

  private static let seconds: @Sendable (UInt64) -> MonotonicTime = { MonotonicTime(nanoseconds: 0) + .seconds($0) }

  private static func terms(
    _ method: RequestMethod = .post, _ framing: BodyFraming = .fixed(10), expectsContinue: Bool = false,
    webSocket: Bool = false, credential: RequestCredential.Owner = .proxy, whole: MonotonicTime = .distantFuture
  ) -> ExchangeState.Terms {
    ExchangeState.Terms(
      method: method, framing: framing, expectsContinue: expectsContinue, asksForWebSocket: webSocket,
      credential: credential, responseHead: .seconds(20), idle: .seconds(10), whole: whole)
  }

  /// An exchange whose first attempt has a connection.
  private static func begun(_ terms: ExchangeState.Terms, isReused: Bool = false) -> ExchangeState {
    var state = ExchangeState(terms)
    _ = state.begin()
    state.connected(isReused: isReused, contentHasBegun: false)
    return state
  }

  // MARK: Every pair

  /// What the caller does with a request that has ten bytes of content.
  enum Caller: String, CaseIterable, Sendable {
    case sendsAll, waitsForContinue, keepsSending, stalls, endsItsDirection, resets, hangsUp, sendsTooMuch
    case breaksTheCoding
  }

  /// What the upstream does.
  enum Upstream: String, CaseIterable, Sendable {
    case staysSilent, continues, answers, answersAndCloses, refusesTheToken, closes, closesOnceSeen, sendsNonsense
    case breaksOff, takesNoContent
  }

  /// Reports what the caller does; nil where that is nothing more.
  private static func apply(_ caller: Caller, to state: inout ExchangeState) -> Action {
    guard state.movesRequest || caller == .hangsUp else { return .move }
    let step: BodyPump.Step
    switch caller {
    case .sendsAll: step = .finished
    case .waitsForContinue, .keepsSending, .stalls: step = .needsSource
    case .endsItsDirection: step = .failed(.sourceEnded)
    case .resets: step = .failed(.source(.reset))
    case .sendsTooMuch: step = .failed(.tooLarge)
    case .breaksTheCoding: step = .failed(.content(.chunk(.size)))
    case .hangsUp: return state.callerLeft()
    }
    return state.requestMoved(step, contentHasBegun: caller != .waitsForContinue, at: seconds(1))
  }

  private static func apply(_ upstream: Upstream, to state: inout ExchangeState) -> Action {
    switch upstream {
    case .staysSilent:
      state.headNeeds(.answer)
      return .move
    case .continues:
      state.answerArrives()
      return state.interimArrived(status: 100)
    case .answers, .answersAndCloses:
      state.answerArrives()
      return state.headArrived(
        Head(status: 200, framing: .fixed(5), persistence: upstream == .answers ? .keepAlive : .close),
        callerMustEnd: false)
    case .refusesTheToken:
      state.answerArrives()
      return state.headArrived(Head(status: 401, framing: .fixed(0)), callerMustEnd: false)
    case .closes: return state.upstreamEnded()
    case .closesOnceSeen:
      state.answerArrives()
      return state.upstreamEnded()
    case .sendsNonsense:
      state.answerArrives()
      return state.answerRefused(.statusLine)
    case .breaksOff:
      state.answerArrives()
      _ = state.headArrived(Head(status: 200, framing: .fixed(5)), callerMustEnd: false)
      return state.answerMoved(.failed(.sourceEnded), leavesBytes: false, callerHasPart: true)
    case .takesNoContent:
      guard state.movesRequest else { return .move }
      return state.requestMoved(.failed(.sink(.reset)), contentHasBegun: true, at: seconds(1))
    }
  }

  /// What is told next where both have had their say: the end of an answer, or of the time.
  private static func end(_ state: inout ExchangeState, after action: Action) -> Action {
    switch action {
    case .finish, .retry, .hold: return action
    default:
      if state.movesAnswer, !state.awaitsHead {
        let end = state.answerMoved(.finished, leavesBytes: false, callerHasPart: true)
        if end != .endTowardsCaller { return end }
      }
      let pause = state.pause(moved: 0, at: seconds(1))
      guard case .wait(let wait) = pause else { return action }
      return state.timedOut(wait, at: wait.until)
    }
  }

  private static let callerFirst: [Caller: [Upstream: Action]] = {
    let stalled = Action.finish(.failed(.upstreamStalled))
    let contentStalled = Action.finish(.failed(.contentStalled))
    let closed = Action.finish(.failed(.upstreamClosed))
    let nonsense = Action.finish(.failed(.upstreamMalformed(.statusLine)))
    let cut = Action.finish(.interrupted(.upstreamBroke(.cutShort)))
    func completed(_ upstream: Bool, _ caller: Bool) -> Action {
      .finish(.completed(reusesUpstream: upstream, keepsCaller: caller))
    }
    /// Rows for a caller that is still to send content.
    func unfinished(_ waiting: Action) -> [Upstream: Action] {
      [
        .staysSilent: waiting, .continues: contentStalled, .answers: completed(false, false),
        .answersAndCloses: completed(false, false), .refusesTheToken: .hold, .closes: closed, .closesOnceSeen: closed,
        .sendsNonsense: nonsense, .breaksOff: cut, .takesNoContent: stalled,
      ]
    }
    func always(_ ending: ExchangeState.Ending) -> [Upstream: Action] {
      Dictionary(uniqueKeysWithValues: Upstream.allCases.map { ($0, Action.finish(ending)) })
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

  @Test(arguments: Caller.allCases, Upstream.allCases)
  func `what the caller does and then the upstream has one outcome`(caller: Caller, upstream: Upstream) throws {
    var state = Self.begun(Self.terms(expectsContinue: caller == .waitsForContinue))
    var action = Self.apply(caller, to: &state)
    if action == .move { action = Self.apply(upstream, to: &state) }
    // The caller goes on as it began where it has not ended.
    if action == .forwardInterim { action = Self.apply(caller == .waitsForContinue ? .stalls : caller, to: &state) }
    let expected = try #require(Self.callerFirst[caller]?[upstream])
    #expect(Self.end(&state, after: action) == expected)
  }

  /// Early answers: the upstream answers while content is still to come.
  private static let upstreamFirst: [Caller: Action] = [
    // The upstream's connection is clean only where all of the request has gone out on it.
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

  @Test(arguments: Caller.allCases)
  func `an answer that comes before the request is complete goes on beside it`(caller: Caller) throws {
    var state = Self.begun(Self.terms(expectsContinue: caller == .waitsForContinue))
    let plan = ResponsePlan(framing: .fixed(5), version: .http11, closes: true)
    #expect(Self.apply(.answers, to: &state) == .answer(plan))
    #expect(state.movesAnswer && state.movesRequest)
    let action = Self.apply(caller, to: &state)
    #expect(Self.end(&state, after: action) == Self.upstreamFirst[caller])
  }

  /// An exchange whose upstream has answered and goes on reading.
  private static func delivering(persistence: Persistence = .keepAlive, leavesBytes: Bool = false) -> ExchangeState {
    var state = begun(terms())
    _ = apply(.keepsSending, to: &state)
    state.answerArrives()
    let head = Head(status: 200, framing: .fixed(5), persistence: persistence)
    #expect(
      state.headArrived(head, callerMustEnd: false)
        == .answer(ResponsePlan(framing: .fixed(5), version: .http11, closes: true)))
    #expect(state.answerMoved(.finished, leavesBytes: leavesBytes, callerHasPart: true) == .endTowardsCaller)
    #expect(state.movesRequest && !state.movesAnswer && !state.awaitsHead)
    return state
  }

  @Test func `an upstream that answers early and goes on reading gets the rest`() {
    var state = Self.delivering()
    #expect(state.requestMoved(.needsSource, contentHasBegun: true, at: Self.seconds(2)) == .move)
    #expect(
      state.pause(moved: 0, at: Self.seconds(2))
        == .wait(.init(needs: .content, isForCaller: true, until: Self.seconds(12))))
    #expect(Self.apply(.sendsAll, to: &state) == .finish(.completed(reusesUpstream: true, keepsCaller: false)))
    state = Self.delivering(leavesBytes: true)
    #expect(Self.apply(.sendsAll, to: &state) == .finish(.delivered))
    state = Self.delivering(persistence: .close)
    #expect(Self.apply(.sendsAll, to: &state) == .finish(.delivered))
  }

  @Test(arguments: [
    Caller.endsItsDirection, .resets, .hangsUp, .sendsTooMuch, .breaksTheCoding, .stalls, .keepsSending,
  ])
  func `whatever becomes of the rest, the answer was delivered`(caller: Caller) {
    var state = Self.delivering()
    let action = Self.apply(caller, to: &state)
    #expect(Self.end(&state, after: action) == .finish(.delivered))
    state = Self.delivering()
    #expect(Self.apply(.takesNoContent, to: &state) == .finish(.delivered))
  }

  @Test(arguments: [
    (413, Persistence.close, false), (302, .close, false), (413, .keepAlive, true), (200, .close, true),
  ])
  func `an upstream that turns a request down and closes is sent no more of it`(
    status: Int, persistence: Persistence, movesOn: Bool
  ) {
    for caller in [Caller.keepsSending, .waitsForContinue] {
      var state = Self.begun(Self.terms(expectsContinue: caller == .waitsForContinue))
      _ = Self.apply(caller, to: &state)
      state.answerArrives()
      let head = Head(status: status, framing: .fixed(5), persistence: persistence)
      _ = state.headArrived(head, callerMustEnd: false)
      #expect(state.movesRequest == movesOn && state.movesAnswer)
    }
  }

  @Test(arguments: [
    (ContentError.chunk(.size), UpstreamFault.chunkedCoding), (.trailer(.tooLarge), .trailers),
  ])
  func `content that is broken from its beginning is no answer where the caller has nothing of it`(
    error: ContentError, fault: UpstreamFault
  ) {
    for callerHasPart in [true, false] {
      var state = Self.begun(Self.terms(.get, .none))
      _ = Self.apply(.sendsAll, to: &state)
      state.answerArrives()
      _ = state.headArrived(Head(status: 200, framing: .chunked), callerMustEnd: false)
      #expect(
        state.answerMoved(.failed(.content(error)), leavesBytes: true, callerHasPart: callerHasPart)
          == .finish(callerHasPart ? .interrupted(.upstreamBroke(fault)) : .failed(.upstreamMalformed(fault))))
    }
  }

  @Test(arguments: [Upstream.answers, .closes, .staysSilent, .refusesTheToken])
  func `an upstream that takes no more content may still answer`(then: Upstream) {
    var state = Self.begun(Self.terms())
    #expect(Self.apply(.takesNoContent, to: &state) == .move)
    #expect(!state.movesRequest)
    let action = Self.apply(then, to: &state)
    let expected: [Upstream: Action] = [
      .answers: .finish(.completed(reusesUpstream: false, keepsCaller: false)),
      .closes: .finish(.failed(.upstreamClosed)), .staysSilent: .finish(.failed(.upstreamStalled)),
      .refusesTheToken: .hold,
    ]
    #expect(Self.end(&state, after: action) == expected[then])
  }

  // MARK: Connections and attempts

  private static let sources: [(terms: ExchangeState.Terms, sources: ExchangeState.ConnectionSources)] = [
    (terms(.get, .none), [.pool]), (terms(.post, .fixed(1)), [.pool]), (terms(.get, .none, webSocket: true), []),
    (terms(.get, .none, credential: .none), [.pool]), (terms(.get, .none, credential: .caller), [.pool, .callersOwn]),
    (terms(.get, .none, webSocket: true, credential: .caller), [.callersOwn]),
  ]

  @Test(arguments: sources.indices) func `where the first connection may come from`(row: Int) {
    let (terms, sources) = Self.sources[row]
    var state = ExchangeState(terms)
    #expect(state.begin() == .connect(sources))
  }

  @Test(
    arguments: [(RequestMethod.get, BodyFraming.none), (.put, .fixed(0)), (.post, .none), (.put, .fixed(1))],
    [
      true, false,
    ])
  func `a request goes out again on a fresh connection where the first was dead, once`(
    request: (method: RequestMethod, framing: BodyFraming), wasReused: Bool
  ) {
    let mayRepeat = RetryRule.survivesRepetition(method: request.method, framing: request.framing) && wasReused
    var state = Self.begun(Self.terms(request.method, request.framing), isReused: wasReused)
    _ = Self.apply(.sendsAll, to: &state)
    #expect(state.upstreamEnded() == (mayRepeat ? .retry : .finish(.failed(.upstreamClosed))))
    guard mayRepeat else { return }
    #expect(!state.movesRequest && !state.movesAnswer)
    state.connected(isReused: false, contentHasBegun: false)
    _ = Self.apply(.sendsAll, to: &state)
    #expect(state.upstreamEnded() == .finish(.failed(.upstreamClosed)))
  }

  @Test func `nothing is repeated once a byte of an answer was there`() {
    var state = Self.begun(Self.terms(.get, .none), isReused: true)
    _ = Self.apply(.sendsAll, to: &state)
    state.answerArrives()
    #expect(state.upstreamEnded() == .finish(.failed(.upstreamClosed)))
  }

  // MARK: Refusals

  private static let heads: [(head: Head, credential: RequestCredential.Owner, isHeld: Bool)] = [
    (Head(status: 401, framing: .none), .proxy, true), (Head(status: 403, framing: .none), .proxy, false),
    (Head(status: 403, framing: .none, hasChallenge: true), .proxy, true),
    (Head(status: 401, framing: .none, hasChallenge: true), .caller, false),
    (Head(status: 401, framing: .none), .none, false), (Head(status: 200, framing: .none), .proxy, false),
    (Head(status: 407, framing: .none, hasChallenge: true), .proxy, false),
  ]

  @Test(arguments: heads.indices) func `only a refusal of our token is held`(row: Int) {
    let (head, credential, isHeld) = Self.heads[row]
    var state = Self.begun(Self.terms(credential: credential))
    _ = Self.apply(.sendsAll, to: &state)
    let plan = ResponsePlan(framing: .none, version: .http11, closes: false)
    #expect(state.headArrived(head, callerMustEnd: false) == (isHeld ? .hold : .answer(plan)))
    #expect(state.movesAnswer != isHeld)
  }

  @Test(arguments: [true, false]) func `a refusal that stands is passed on once, with what the caller has learnt since`(
    mustEnd: Bool
  ) {
    var state = Self.begun(Self.terms())
    _ = Self.apply(.sendsAll, to: &state)
    #expect(Self.apply(.refusesTheToken, to: &state) == .hold)
    #expect(state.wasSentBeforeRefusal)
    let plan = ResponsePlan(framing: .fixed(0), version: .http11, closes: mustEnd)
    #expect(state.refusalStands(callerMustEnd: mustEnd) == .answer(plan))
    #expect(
      state.answerMoved(.finished, leavesBytes: false, callerHasPart: true)
        == .finish(.completed(reusesUpstream: true, keepsCaller: !mustEnd)))
  }

  @Test(arguments: [(RequestMethod.get, BodyFraming.none, true), (.post, .none, false), (.put, .fixed(3), false)])
  func `a replay takes a pooled connection only where it could be repeated, and a second refusal is held again`(
    method: RequestMethod, framing: BodyFraming, mayBePooled: Bool
  ) {
    var state = Self.begun(Self.terms(method, framing), isReused: true)
    _ = Self.apply(.sendsAll, to: &state)
    #expect(Self.apply(.refusesTheToken, to: &state) == .hold)
    #expect(!state.isReplay)
    #expect(state.refusalAnswered() == .replay(mayBePooled ? .pool : []))
    #expect(state.isReplay)
    state.connected(isReused: mayBePooled, contentHasBegun: true)
    _ = Self.apply(.sendsAll, to: &state)
    if mayBePooled {
      // Dead: the replay goes on a fresh connection, and stays a replay.
      #expect(state.upstreamEnded() == .retry)
      state.connected(isReused: false, contentHasBegun: true)
      #expect(state.isReplay)
      _ = Self.apply(.sendsAll, to: &state)
    }
    #expect(Self.apply(.refusesTheToken, to: &state) == .hold)
  }

  @Test
  func `a refusal before the content is complete leaves a connection that is not clean, and content that goes on`() {
    var state = Self.begun(Self.terms())
    #expect(Self.apply(.keepsSending, to: &state) == .move)
    #expect(Self.apply(.refusesTheToken, to: &state) == .hold)
    #expect(!state.wasSentBeforeRefusal && !state.movesRequest)
    #expect(state.refusalAnswered() == .replay([]))
    state.connected(isReused: false, contentHasBegun: true)
    #expect(state.movesRequest)
  }

  // MARK: Interim answers

  @Test func `interim answers are forwarded to HTTP/1.1, dropped for HTTP/1.0, and bounded`() {
    var state = Self.begun(Self.terms(.get, .none))
    for _ in 0..<ExchangeState.interimLimit { #expect(state.interimArrived(status: 103) == .forwardInterim) }
    #expect(state.interimArrived(status: 103) == .finish(.failed(.upstreamMalformed(.interimAnswers))))
    var old = Self.terms(.get, .none)
    old.version = .http10
    state = Self.begun(old)
    #expect(state.interimArrived(status: 103) == .dropInterim)
  }

  @Test func `an HTTP/1.0 caller gets the end of its connection where it could not tell the end of the content`() {
    var terms = Self.terms(.get, .none)
    terms.version = .http10
    var state = Self.begun(terms)
    _ = Self.apply(.sendsAll, to: &state)
    let plan = ResponsePlan(framing: .chunked, version: .http10, closes: false)
    #expect(plan.closes && !plan.writesChunks)
    #expect(state.headArrived(Head(status: 200, framing: .chunked), callerMustEnd: false) == .answer(plan))
    #expect(
      state.answerMoved(.finished, leavesBytes: false, callerHasPart: true)
        == .finish(.completed(reusesUpstream: true, keepsCaller: false)))
  }

  @Test func `a connection on which more arrived than the answer is not used again`() {
    var state = Self.begun(Self.terms(.get, .none))
    _ = Self.apply(.sendsAll, to: &state)
    _ = Self.apply(.answers, to: &state)
    #expect(
      state.answerMoved(.finished, leavesBytes: true, callerHasPart: true)
        == .finish(.completed(reusesUpstream: false, keepsCaller: true)))
  }

  // MARK: Tunnels

  private static func tunnel() -> ExchangeState {
    var state = begun(terms(.get, .none, webSocket: true))
    _ = apply(.sendsAll, to: &state)
    #expect(state.switchArrived(isAgreed: true) == .switchProtocols)
    #expect(state.isTunnel && state.movesRequest && state.movesAnswer)
    // The caller is moved before anything is waited for.
    #expect(state.pause(moved: 0, at: seconds(1)) == .yield)
    return state
  }

  @Test(arguments: [(asked: false, agreed: true), (asked: true, agreed: false), (asked: false, agreed: false)])
  func `a switch takes a caller that asked and an upstream that agrees`(asked: Bool, agreed: Bool) {
    var state = Self.begun(Self.terms(.get, .none, webSocket: asked))
    #expect(state.switchArrived(isAgreed: agreed) == .finish(.failed(.upstreamMalformed(.unaskedSwitch))))
  }

  @Test func `each direction of a tunnel ends by itself, and the tunnel with the second`() {
    let over = Action.finish(.completed(reusesUpstream: false, keepsCaller: false))
    var state = Self.tunnel()
    #expect(state.requestMoved(.finished, contentHasBegun: true, at: Self.seconds(1)) == .endTowardsUpstream)
    #expect(!state.movesRequest && state.movesAnswer)
    #expect(state.answerMoved(.finished, leavesBytes: false, callerHasPart: true) == over)
    state = Self.tunnel()
    #expect(state.answerMoved(.finished, leavesBytes: false, callerHasPart: true) == .endTowardsCaller)
    #expect(state.movesRequest && !state.movesAnswer)
    #expect(state.requestMoved(.finished, contentHasBegun: true, at: Self.seconds(1)) == over)
  }

  @Test func `a silent tunnel, and one that is cut off, says so to the sides that still listen`() {
    var state = Self.tunnel()
    #expect(state.cutOff() == .finish(.goingAway(tellsUpstream: true, tellsCaller: true)))
    state = Self.tunnel()
    _ = state.requestMoved(.finished, contentHasBegun: true, at: Self.seconds(1))
    guard case .wait(let wait) = state.pause(moved: 0, at: Self.seconds(1)) else {
      Issue.record("there is nothing to wait for")
      return
    }
    #expect(wait.until == Self.seconds(11))
    #expect(state.timedOut(wait, at: wait.until) == .finish(.goingAway(tellsUpstream: false, tellsCaller: true)))
  }

  @Test func `a side of a tunnel that breaks ends it`() {
    var state = Self.tunnel()
    #expect(
      state.requestMoved(.failed(.sink(.reset)), contentHasBegun: true, at: Self.seconds(1))
        == .finish(.interrupted(.upstreamBroke(.reset))))
    state = Self.tunnel()
    #expect(
      state.answerMoved(.failed(.sink(.reset)), leavesBytes: false, callerHasPart: true)
        == .finish(.interrupted(.callerLeft)))
  }

  // MARK: Waiting

  @Test func `each wait has its limit, and says who is waited for`() {
    func wait(_ state: inout ExchangeState, at second: UInt64 = 1) -> ExchangeState.Pause {
      state.pause(moved: 0, at: Self.seconds(second))
    }
    // The head is out, content is withheld: the upstream's turn.
    var state = Self.begun(Self.terms(expectsContinue: true))
    _ = state.requestMoved(.needsSource, contentHasBegun: false, at: Self.seconds(1))
    state.headNeeds(.answer)
    #expect(
      wait(&state) == .wait(.init(needs: [.content, .answer], isForCaller: false, until: Self.seconds(21))))
    // A later look does not give the upstream more time.
    _ = state.requestMoved(.needsSource, contentHasBegun: false, at: Self.seconds(5))
    state.headNeeds(.answer)
    #expect(
      wait(&state, at: 5) == .wait(.init(needs: [.content, .answer], isForCaller: false, until: Self.seconds(21))))
    // It sends its content unasked: then the caller is waited for.
    _ = state.requestMoved(.needsSource, contentHasBegun: true, at: Self.seconds(6))
    #expect(wait(&state, at: 6) == .wait(.init(needs: .content, isForCaller: true, until: Self.seconds(16))))
    _ = state.requestMoved(.needsSink, contentHasBegun: true, at: Self.seconds(7))
    #expect(wait(&state, at: 7) == .wait(.init(needs: .upstreamRoom, isForCaller: false, until: Self.seconds(17))))
    _ = state.requestMoved(.finished, contentHasBegun: true, at: Self.seconds(8))
    state.headNeeds(.answer)
    #expect(wait(&state, at: 9) == .wait(.init(needs: .answer, isForCaller: false, until: Self.seconds(28))))
    _ = Self.apply(.answers, to: &state)
    _ = state.answerMoved(.needsSink, leavesBytes: false, callerHasPart: true)
    #expect(wait(&state, at: 10) == .wait(.init(needs: .callerRoom, isForCaller: true, until: Self.seconds(20))))
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
    var state = Self.begun(Self.terms(.get, .none))
    _ = Self.apply(.sendsAll, to: &state)
    _ = Self.apply(.answers, to: &state)
    _ = state.answerMoved(isForCaller ? .needsSink : .needsSource, leavesBytes: false, callerHasPart: true)
    let pause = state.pause(moved: 0, at: Self.seconds(1))
    #expect(pause == .wait(.init(needs: needs, isForCaller: isForCaller, until: Self.seconds(11))))
    guard case .wait(let wait) = pause else { return }
    #expect(state.timedOut(wait, at: wait.until) == .finish(.interrupted(ending)))
  }

  @Test(arguments: [false, true]) func `the time for the whole exchange ends every wait`(isAnswering: Bool) {
    var state = Self.begun(Self.terms(.get, .none, whole: Self.seconds(3)))
    _ = Self.apply(.sendsAll, to: &state)
    if isAnswering {
      _ = Self.apply(.answers, to: &state)
      _ = state.answerMoved(.tookItsTurn, leavesBytes: false, callerHasPart: true)
      #expect(state.pause(moved: 0, at: Self.seconds(1)) == .yield)
      _ = state.answerMoved(.tookItsTurn, leavesBytes: false, callerHasPart: true)
    }
    guard case .wait(let wait) = state.pause(moved: 0, at: Self.seconds(3)) else {
      Issue.record("there is nothing to wait for")
      return
    }
    #expect(wait.until == Self.seconds(3))
    #expect(
      state.timedOut(wait, at: Self.seconds(3))
        == .finish(isAnswering ? .interrupted(.timedOut(nil)) : .failed(.exchangeTimedOut)))
  }

  @Test(arguments: [false, true]) func `a caller below the rate is let go, and nothing else is measured by it`(
    isAnswering: Bool
  ) {
    var terms = Self.terms()
    terms.callerRate = 100
    var state = Self.begun(terms)
    if isAnswering { _ = Self.apply(.answers, to: &state) }
    func pause(_ moved: UInt64, at second: UInt64) -> ExchangeState.Pause {
      if isAnswering {
        _ = state.answerMoved(.needsSink, leavesBytes: false, callerHasPart: true)
      } else {
        _ = state.requestMoved(.needsSource, contentHasBegun: true, at: Self.seconds(second))
      }
      return state.pause(moved: moved, at: Self.seconds(second))
    }
    _ = pause(0, at: 1)
    if case .finish = pause(1000, at: 11) { Issue.record("the rate was met") }
    #expect(
      pause(1999, at: 21) == .finish(isAnswering ? .interrupted(.callerTooSlow) : .failed(.contentTooSlow)))
  }

  @Test func `what an interruption is recorded as`() {
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
