// A random walk over the life of exchanges: every order of events that the relay can report, a hundred thousand times.
// A trap of the state would end the process.

import Bytes
import HTTP
import Platform
import Telemetry
import Testing

@testable import Proxy

@Suite struct ExchangeWalkTests {
  /// The ends of an exchange. The walk has to come across all of them.
  private static let endings: Set<String> = [
    "completed false false", "completed false true", "completed true false", "completed true true", "goingAway",
    "callerLeft", "callerTooSlow", "timedOut", "contentRefused", "upstreamBroke", "tooLarge", "content", "contentCut",
    "contentStalled", "contentTooSlow", "upstreamClosed", "upstreamMalformed", "upstreamStalled", "exchangeTimedOut",
    "problem", "signInPage false", "signInPage true",
  ]

  @Test func `no order of events reaches a trap, and each exchange ends as its events allow`() async {
    var random = SplitMix64(seed: 20_261_124)
    var (steps, seen) = (0, Set<String>())
    while steps < 300_000 {
      var walk = ExchangeWalk(random)
      seen.insert(walk.run())
      steps += walk.steps
      random = walk.random
      // Other tests run beside it.
      await Task.yield()
    }
    #expect(seen.symmetricDifference(Self.endings) == [])
  }
}

/// One exchange whose caller and upstream do anything.
private struct ExchangeWalk {
  private(set) var random: SplitMix64
  private(set) var steps = 0
  private let terms: ExchangeState.Terms
  private let bytesInSecond: UInt64
  private var state: ExchangeState
  private var now = MonotonicTime(nanoseconds: 0)

  // The history, kept apart from the state.
  private var ending: String?
  /// The request of the present attempt has been sent.
  private var isSent = false
  private var contentHasBegun = false
  private var bytesArrived = false
  private var wasReused = false
  private var retries = 0
  private var mustEnd = false
  private var leavesBytes = false
  private var head: ExchangeState.AnswerHead?
  private var isAnswered = false
  private var wasTunnel = false

  init(_ random: SplitMix64) {
    var random = random
    var terms = ExchangeState.Terms()
    terms.request.method = random.one(of: [.get, .post, .put])
    terms.request.framing = random.one(of: [.none, .none, .fixed(0), .fixed(10), .chunked])
    terms.request.version = random.one(of: [.http11, .http11, .http10])
    terms.request.persistence = random.one(of: [.keepAlive, .keepAlive, .close])
    terms.request.expectsContinue = random.isLucky(4)
    terms.request.asksForWebSocket = random.isLucky(4)
    terms.credential = random.one(of: [.proxy, .proxy, .caller, .none])
    if random.isLucky(3) { terms.whole = MonotonicTime(nanoseconds: 0) + .seconds(15) }
    if random.isLucky(3) { terms.callerRate = 1000 }
    (terms.idle, terms.responseHead) = (.seconds(10), .seconds(20))
    bytesInSecond = random.isLucky(2) ? 10 : 100_000
    (self.terms, self.random, state) = (terms, random, ExchangeState(terms))
  }

  /// Walks to the end of the exchange, which it names.
  mutating func run() -> String {
    connect(state.begin())
    while ending == nil, steps < 10_000 { turn() }
    #expect(ending != nil, "an exchange has no end")
    #expect(!state.movesRequest && !state.movesAnswer && !state.awaitsHead && !state.isTunnel)
    return ending ?? "none"
  }

  // MARK: Attempts

  private mutating func connect(_ sources: ExchangeState.ConnectionSources) {
    #expect(!state.movesRequest && !state.movesAnswer && !state.awaitsHead)
    if terms.credential != .caller { #expect(!sources.contains(.callersOwn)) }
    wasReused = !sources.isEmpty && random.isLucky(2)
    (isSent, bytesArrived, head) = (false, false, nil)
    state.connected(isReused: wasReused, contentHasBegun: contentHasBegun)
    #expect(state.movesRequest && state.movesAnswer && state.awaitsHead)
  }

  private mutating func end(_ ending: ExchangeState.Ending) {
    #expect(self.ending == nil)
    switch ending {
    case .completed(let reusesUpstream, let keepsCaller):
      #expect(isAnswered)
      if keepsCaller { #expect(isSent && terms.request.persistence == .keepAlive && !mustEnd && !wasTunnel) }
      if reusesUpstream { #expect(isSent && head?.persistence == .keepAlive && !leavesBytes && !wasTunnel) }
      self.ending = "completed \(reusesUpstream) \(keepsCaller)"
    case .goingAway:
      #expect(wasTunnel)
      self.ending = "goingAway"
    case .interrupted(let interruption):
      switch interruption {
      case .callerLeft: self.ending = "callerLeft"
      case .contentRefused: self.ending = "contentRefused"
      case .callerTooSlow: self.ending = "callerTooSlow"
      case .timedOut: self.ending = "timedOut"
      case .upstreamBroke: self.ending = "upstreamBroke"
      }
      if interruption != .callerLeft { #expect(isAnswered) }
    case .failed(let failure):
      // Once its answer has begun, a caller gets none of ours, unless the content is broken from its first byte.
      if case .upstreamMalformed = failure { self.ending = "upstreamMalformed" } else { self.ending = "\(failure)" }
      if self.ending != "upstreamMalformed" { #expect(!isAnswered) }
    }
  }

  // MARK: A turn

  /// The relay's steps: both directions, then a wait.
  private mutating func turn() {
    steps += 1
    if state.isTunnel, random.isLucky(30) { return end(state.cutOff()) }
    if state.movesRequest, !moveRequest() { return }
    if state.movesAnswer, !moveAnswer() { return }
    switch state.pause(moved: bytesInSecond * (now.nanoseconds / 1_000_000_000), at: now) {
    case .yield: break
    case .finish(let ending): end(ending)
    case .wait(let wait):
      #expect(wait.until <= terms.whole)
      if random.isLucky(15) {
        now = max(now, wait.until)
        end(state.timedOut(wait, at: now))
      } else if random.isLucky(30), !state.isDelivering {
        end(state.callerLeft())
      } else {
        now = min(now + .seconds(UInt64.random(in: 0...5, using: &random)), wait.until)
      }
    }
  }

  /// False: the attempt is over.
  private mutating func moveRequest() -> Bool {
    contentHasBegun = contentHasBegun || random.isLucky(3)
    let step = random.step(rare: [
      .failed(.sourceEnded), .failed(.source(.reset)), .failed(.sink(.reset)), .failed(.tooLarge),
      .failed(.content(.chunk(.size))),
    ])
    if case .finished = step { isSent = true }
    switch state.requestMoved(step, contentHasBegun: contentHasBegun, at: now) {
    case .move: return true
    case .endDirection:
      #expect(wasTunnel && state.movesAnswer)
      return true
    case .finish(let ending):
      end(ending)
      return false
    }
  }

  /// False: the attempt is over.
  private mutating func moveAnswer() -> Bool {
    while state.awaitsHead {
      switch random.below(24) {
      case 0..<8: return wait(.answer)
      case 8: return wait(.callerRoom)
      case 9..<14:
        bytesArrived = true
        state.answerArrives()
      case 14: end(state.answerRefused(.statusLine))
      case 15, 16: upstreamEnded()
      case 17: end(state.callerLeft())
      case 18, 19:
        switch state.interimArrived(status: random.one(of: [100, 103])) {
        case .forward: #expect(terms.request.version == .http11)
        case .drop: #expect(terms.request.version == .http10)
        case .finish(let ending): end(ending)
        }
        bytesArrived = true
      case 20:
        let isAgreed = random.isLucky(2)
        if let ending = state.switchArrived(isAgreed: isAgreed) {
          end(ending)
        } else {
          #expect(terms.request.asksForWebSocket && isAgreed && state.isTunnel)
          (wasTunnel, isAnswered) = (true, true)
        }
      default: headArrived()
      }
      if ending != nil || !state.movesAnswer { return false }
    }
    return moveContent()
  }

  private mutating func wait(_ needs: ExchangeState.Needs) -> Bool {
    state.headNeeds(needs)
    return true
  }

  private mutating func moveContent() -> Bool {
    leavesBytes = random.isLucky(4)
    let step = random.step(rare: [
      .failed(.sourceEnded), .failed(.source(.reset)), .failed(.sink(.reset)), .failed(.content(.chunk(.size))),
    ])
    switch state.answerMoved(step, leavesBytes: leavesBytes, callerHasPart: random.isLucky(2)) {
    case .move: return true
    case .endDirection:
      #expect(state.movesRequest && !state.movesAnswer)
      return true
    case .finish(let ending):
      end(ending)
      return false
    }
  }

  // MARK: Heads and refusals

  private mutating func upstreamEnded() {
    let (fate, isKept) = (random.one(of: ExchangeState.RequestFate.allCases), random.isLucky(2))
    switch state.upstreamEnded(fate, contentIsKept: isKept) {
    case .retry(let sources):
      #expect(!bytesArrived && sources == [])
      switch fate {
      case .notProcessed: #expect(isKept && retries < RetryRule.retriesOfUnprocessed)
      case .givenUp: Issue.record("a request that its upstream has given up was repeated")
      case .mayBeProcessed:
        #expect(
          wasReused && retries == 0
            && RetryRule.survivesRepetition(method: terms.request.method, framing: terms.request.framing))
      }
      retries += 1
      connect(sources)
    case .finish(let ending): end(ending)
    }
  }

  private mutating func headArrived() {
    let head = ExchangeState.AnswerHead(
      status: random.one(of: [200, 401, 401, 403, 413]),
      framing: random.one(of: [.none, .fixed(5), .chunked, .untilClose]),
      persistence: random.one(of: [.keepAlive, .keepAlive, .close]), hasChallenge: random.isLucky(2))
    (self.head, mustEnd) = (head, random.isLucky(5))
    switch state.headArrived(head, callerMustEnd: mustEnd) {
    case .answer(let plan): answered(plan)
    case .hold:
      #expect(terms.credential == .proxy && !state.movesRequest && !state.movesAnswer)
      settleRefusal(head)
    }
  }

  private mutating func answered(_ plan: ResponsePlan) {
    isAnswered = true
    #expect(plan.closes || isSent && terms.request.persistence == .keepAlive && !mustEnd)
  }

  private mutating func settleRefusal(_ head: ExchangeState.AnswerHead) {
    mustEnd = mustEnd || random.isLucky(5)
    let remedy = random.one(of: ExchangeState.Remedy.allCases)
    switch state.refusalSettled(remedy, callerMustEnd: mustEnd) {
    case .answer(let plan):
      #expect(remedy == .none)
      answered(plan)
    case .drop(let framing, then: let replacement):
      #expect(framing == (isSent && head.persistence == .keepAlive ? head.framing : nil))
      switch replacement {
      case .replay(let sources):
        #expect(remedy == .token && state.isReplay)
        retries = 0
        connect(sources)
      case .problem:
        #expect(remedy == .problem)
        ending = "problem"
      case .signInPage(let keepsCaller):
        #expect(remedy == .signInPage)
        #expect(keepsCaller == (isSent && terms.request.persistence == .keepAlive && !mustEnd))
        ending = "signInPage \(keepsCaller)"
      }
    }
  }
}

extension SplitMix64 {
  fileprivate mutating func below(_ limit: Int) -> Int { Int.random(in: 0..<limit, using: &self) }

  /// True once in so many times.
  fileprivate mutating func isLucky(_ chance: Int) -> Bool { below(chance) == 0 }

  fileprivate mutating func one<Element>(of elements: [Element]) -> Element { elements[below(elements.count)] }

  /// Mostly what a direction that works reports.
  fileprivate mutating func step(rare failures: [BodyPump.Step]) -> BodyPump.Step {
    isLucky(20)
      ? one(of: failures) : one(of: [.needsSource, .needsSource, .needsSink, .tookItsTurn, .finished, .finished])
  }
}
