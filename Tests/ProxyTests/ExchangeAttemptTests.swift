// The connection of an attempt, the rule for another attempt, and the action after a refused token.

import HTTP
import Platform
import Testing

@testable import Proxy

@Suite struct ExchangeAttemptTests {
  typealias Fixture = ExchangeFixture
  private typealias Head = ExchangeState.AnswerHead

  // MARK: Connections and attempts

  private static let sources: [(terms: ExchangeState.Terms, sources: ExchangeState.ConnectionSources)] = [
    (Fixture.terms(.get, .none), [.pool]), (Fixture.terms(.post, .fixed(1)), [.pool]),
    (Fixture.terms(.get, .none, webSocket: true), [.pool]),
    (Fixture.terms(.get, .none, credential: .none), [.pool]),
    (Fixture.terms(.get, .none, credential: .caller), [.pool, .callersOwn]),
    (Fixture.terms(.get, .none, webSocket: true, credential: .caller), [.pool, .callersOwn]),
  ]

  @Test(arguments: sources.indices) func `rules for the address of the first connection`(row: Int) {
    let (terms, sources) = Self.sources[row]
    #expect(ExchangeState(terms).begin() == sources)
  }

  @Test(
    arguments: [(RequestMethod.get, BodyFraming.none), (.put, .fixed(0)), (.post, .none), (.put, .fixed(1))],
    [true, false])
  func `a request goes out again on a fresh connection if the first was dead, once`(
    request: (method: RequestMethod, framing: BodyFraming), wasReused: Bool
  ) {
    let mayRepeat = RetryRule.survivesRepetition(method: request.method, framing: request.framing) && wasReused
    var state = Fixture.begun(Fixture.terms(request.method, request.framing), isReused: wasReused)
    _ = Fixture.apply(.sendsAll, to: &state)
    #expect(
      state.upstreamEnded(.mayBeProcessed, contentIsKept: false)
        == (mayRepeat ? .retry([]) : .finish(.failed(.upstreamClosed))))
    guard mayRepeat else { return }
    #expect(!state.movesRequest && !state.movesAnswer)
    state.connected(isReused: false, contentHasBegun: false)
    _ = Fixture.apply(.sendsAll, to: &state)
    #expect(state.upstreamEnded(.mayBeProcessed, contentIsKept: false) == .finish(.failed(.upstreamClosed)))
  }

  @Test func `nothing is repeated once a byte of an answer was there`() {
    var state = Fixture.begun(Fixture.terms(.get, .none), isReused: true)
    _ = Fixture.apply(.sendsAll, to: &state)
    state.answerArrives()
    #expect(state.upstreamEnded(.mayBeProcessed, contentIsKept: false) == .finish(.failed(.upstreamClosed)))
  }

  @Test(arguments: [true, false])
  func `a request that was not processed goes out again on fresh connections, three times, whatever its method`(
    contentIsKept: Bool
  ) {
    var state = Fixture.begun(Fixture.terms())
    #expect(Fixture.apply(.takesNoContent, to: &state) == .move)
    let ended = state.upstreamEnded(.notProcessed, contentIsKept: contentIsKept)
    #expect(ended == (contentIsKept ? .retry([]) : .finish(.failed(.upstreamClosed))))
    guard contentIsKept else { return }
    for retry in 1...3 {
      state.connected(isReused: false, contentHasBegun: true)
      #expect(state.movesRequest)
      if retry < 3 { #expect(state.upstreamEnded(.notProcessed, contentIsKept: true) == .retry([])) }
    }
    #expect(state.upstreamEnded(.notProcessed, contentIsKept: true) == .finish(.failed(.upstreamClosed)))
  }

  // MARK: Refusals

  private static let heads: [(head: Head, credential: RequestCredential.Owner, isHeld: Bool)] = [
    (Head(status: 401, framing: .none), .proxy, true), (Head(status: 403, framing: .none), .proxy, false),
    (Head(status: 403, framing: .none, hasChallenge: true), .proxy, true),
    (Head(status: 401, framing: .none, hasChallenge: true), .caller, false),
    (Head(status: 200, framing: .none, isUnauthenticated: true), .proxy, true),
    (Head(status: 200, framing: .none, isUnauthenticated: true), .caller, false),
    (Head(status: 401, framing: .none), .none, false), (Head(status: 200, framing: .none), .proxy, false),
    (Head(status: 407, framing: .none, hasChallenge: true), .proxy, false),
  ]

  @Test(arguments: heads.indices) func `only a refusal of our token is held`(row: Int) {
    let (head, credential, isHeld) = Self.heads[row]
    var state = Fixture.begun(Fixture.terms(credential: credential))
    _ = Fixture.apply(.sendsAll, to: &state)
    let plan = ResponsePlan(framing: .none, version: .http11, isEnding: false)
    #expect(state.headArrived(head, callerMustEnd: false) == (isHeld ? .hold : .answer(plan)))
    #expect(state.movesAnswer != isHeld)
  }

  @Test(arguments: [true, false]) func `a final refusal is passed on once, with the proxy's own challenge`(
    mustEnd: Bool
  ) {
    var state = Fixture.begun(Fixture.terms())
    _ = Fixture.apply(.sendsAll, to: &state)
    #expect(Fixture.apply(.refusesTheToken, to: &state) == .hold)
    let plan = ResponsePlan(framing: .fixed(0), version: .http11, isEnding: mustEnd)
    #expect(state.refusalSettled(.none, callerMustEnd: mustEnd) == .answer(plan))
    #expect(
      state.answerMoved(.finished, leavesBytes: false, callerHasPart: true)
        == .finish(.completed(reusesUpstream: true, keepsCaller: !mustEnd)))
  }

  @Test(arguments: [(RequestMethod.get, BodyFraming.none, true), (.post, .none, false), (.put, .fixed(3), false)])
  func `a replay takes a pooled connection only if it could be repeated, and a second refusal is held again`(
    method: RequestMethod, framing: BodyFraming, mayBePooled: Bool
  ) {
    var state = Fixture.begun(Fixture.terms(method, framing), isReused: true)
    _ = Fixture.apply(.sendsAll, to: &state)
    #expect(Fixture.apply(.refusesTheToken, to: &state) == .hold)
    #expect(!state.isReplay)
    #expect(
      state.refusalSettled(.token, callerMustEnd: false) == .drop(.fixed(0), then: .replay(mayBePooled ? .pool : [])))
    #expect(state.isReplay)
    state.connected(isReused: mayBePooled, contentHasBegun: true)
    _ = Fixture.apply(.sendsAll, to: &state)
    if mayBePooled {
      // Dead: the replay goes on a fresh connection, and stays a replay.
      #expect(state.upstreamEnded(.mayBeProcessed, contentIsKept: false) == .retry([]))
      state.connected(isReused: false, contentHasBegun: true)
      #expect(state.isReplay)
      _ = Fixture.apply(.sendsAll, to: &state)
    }
    #expect(Fixture.apply(.refusesTheToken, to: &state) == .hold)
  }

  @Test
  func `a refusal before the content is complete leaves a connection that is not clean, and content that goes on`() {
    var state = Fixture.begun(Fixture.terms())
    #expect(Fixture.apply(.keepsSending, to: &state) == .move)
    #expect(Fixture.apply(.refusesTheToken, to: &state) == .hold)
    #expect(!state.movesRequest)
    #expect(state.refusalSettled(.token, callerMustEnd: false) == .drop(nil, then: .replay([])))
    state.connected(isReused: false, contentHasBegun: true)
    #expect(state.movesRequest)
  }

  private static let remedies:
    [(remedy: ExchangeState.Remedy, isSent: Bool, mustEnd: Bool, ExchangeState.RefusalAction)] =
      [
        (.none, true, false, .answer(ResponsePlan(framing: .fixed(0), version: .http11))),
        (.none, true, true, .answer(ResponsePlan(framing: .fixed(0), version: .http11, isEnding: true))),
        (.none, false, false, .answer(ResponsePlan(framing: .fixed(0), version: .http11, isRead: false))),
        (.token, true, true, .drop(.fixed(0), then: .replay([]))),
        (.token, false, false, .drop(nil, then: .replay([]))),
        (.problem, true, false, .drop(.fixed(0), then: .problem)),
        (.problem, false, true, .drop(nil, then: .problem)),
        (.signInPage, true, false, .drop(.fixed(0), then: .signInPage(keepsCaller: true))),
        (.signInPage, true, true, .drop(.fixed(0), then: .signInPage(keepsCaller: false))),
        (.signInPage, false, false, .drop(nil, then: .signInPage(keepsCaller: false))),
      ]

  @Test(arguments: remedies.indices) func `a held refusal has four ends`(row: Int) {
    let (remedy, isSent, mustEnd, action) = Self.remedies[row]
    var state = Fixture.begun(Fixture.terms())
    _ = Fixture.apply(isSent ? .sendsAll : .keepsSending, to: &state)
    #expect(Fixture.apply(.refusesTheToken, to: &state) == .hold)
    #expect(state.refusalSettled(remedy, callerMustEnd: mustEnd) == action)
    #expect(state.movesAnswer == (remedy == .none))
  }
}
