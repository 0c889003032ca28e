// Decides what happens to a request at its upstream: a value without sockets, buffers or a clock. The relay reports
// events (what a direction needs, what arrived, what broke) and carries the actions out. Nothing here depends on how
// many exchanges a connection carries or which task moves the bytes, so an exchange may be a turn on an HTTP/1.1
// connection or a stream of HTTP/2.

internal import HTTP
internal import Platform
internal import Routing
internal import Telemetry

/// The life of an admitted request at its upstream, from choosing a connection to the end of the answer.
struct ExchangeState {
  private enum Phase {
    case connecting
    case awaitingAnswer(Sending, Arrived)
    /// An answer that refuses the token is held.
    case refused(Sending, AnswerHead)
    case answering(Rest, reusesUpstream: Bool, keepsCaller: Bool)
    /// The answer is delivered, and the rest of the request goes to an upstream that goes on reading.
    case delivering(reusesUpstream: Bool)
    case tunnel(Tunnel)
    case over
  }

  /// The state of the present attempt.
  private struct Attempt {
    /// True if it follows a refusal.
    var isReplay = false
    /// The number of attempts before it that no answer came to.
    var retries = 0
    var connectionWasReused = false
  }

  private let terms: Terms
  private var attempt = Attempt()
  private var phase = Phase.connecting
  private var needs: Needs = []
  private var pace = CallerPace()

  /// Interim answers passed on before the upstream is taken to be stalling the caller.
  static let interimLimit = 32

  init(_ terms: Terms) {
    self.terms = terms
  }

  // MARK: Questions

  var isReplay: Bool { attempt.isReplay }

  var movesRequest: Bool {
    switch phase {
    case .awaitingAnswer(.withheld, _), .awaitingAnswer(.content, _), .answering(.withheld, _, _),
      .answering(.content, _, _), .delivering:
      true
    case .tunnel(let tunnel): tunnel != .towardsCaller
    case .connecting, .awaitingAnswer, .refused, .answering, .over: false
    }
  }

  var movesAnswer: Bool {
    switch phase {
    case .awaitingAnswer, .answering: true
    case .tunnel(let tunnel): tunnel != .towardsUpstream
    case .connecting, .refused, .delivering, .over: false
    }
  }

  var awaitsHead: Bool {
    if case .awaitingAnswer = phase { true } else { false }
  }

  /// True if the caller has its answer and was told that nothing follows. When it ends its own direction both are
  /// closed, which looks as if it had left, and what it sent before is still to be read.
  var isDelivering: Bool {
    if case .delivering = phase { true } else { false }
  }

  var isTunnel: Bool {
    if case .tunnel = phase { true } else { false }
  }

  // MARK: Connecting

  func begin() -> ConnectionSources { sources }

  private var sources: ConnectionSources {
    if attempt.retries > 0 { return [] }
    var sources: ConnectionSources = []
    if terms.credential == .caller { sources.insert(.callersOwn) }
    // A replay with content cannot be sent a third time, so it goes on no connection that may be dead.
    if !attempt.isReplay || RetryRule.survivesRepetition(method: terms.request.method, framing: terms.request.framing) {
      sources.insert(.pool)
    }
    return sources
  }

  /// There is a connection, and the head of the request is being sent on it.
  mutating func connected(isReused: Bool, contentHasBegun: Bool) {
    attempt.connectionWasReused = isReused
    // Those of the attempt before would make the limit of this wait another one.
    needs = []
    let isWithheld = terms.request.expectsContinue && terms.request.hasContent && !contentHasBegun
    phase = .awaitingAnswer(isWithheld ? .withheld(answerDue: .distantFuture) : .content, .nothing)
  }

  // MARK: Out

  /// The request's direction was moved as far as it goes now.
  mutating func requestMoved(_ step: BodyPump.Step, contentHasBegun: Bool, at now: MonotonicTime) -> MoveAction {
    if contentHasBegun, case .answering(.withheld, let reusesUpstream, let keepsCaller) = phase {
      phase = .answering(.content, reusesUpstream: reusesUpstream, keepsCaller: keepsCaller)
    }
    switch step {
    case .needsSource:
      needs.insert(.content)
      if case .awaitingAnswer(.withheld(let due), let arrived) = phase {
        phase = .awaitingAnswer(
          contentHasBegun ? .content : .withheld(answerDue: min(due, now + terms.responseHead)), arrived)
      }
      return .move
    case .needsSink:
      needs.insert(.upstreamRoom)
      return .move
    case .tookItsTurn:
      needs.insert(.turn)
      return .move
    case .finished: return requestSent(at: now)
    case .failed(let failure): return requestFailed(failure)
    }
  }

  private mutating func requestSent(at now: MonotonicTime) -> MoveAction {
    switch phase {
    case .awaitingAnswer(_, let arrived):
      phase = .awaitingAnswer(.sent(answerDue: now + terms.responseHead), arrived)
      return .move
    case .answering(_, let reusesUpstream, let keepsCaller):
      phase = .answering(.sent, reusesUpstream: reusesUpstream, keepsCaller: keepsCaller)
      return .move
    case .delivering(let reusesUpstream):
      return .finish(finish(.completed(reusesUpstream: reusesUpstream, keepsCaller: false)))
    case .tunnel(.both):
      phase = .tunnel(.towardsCaller)
      return .endDirection
    case .tunnel: return .finish(finish(.delivered))
    case .connecting, .refused, .over: misplaced()
    }
  }

  private mutating func requestFailed(_ failure: BodyPump.Failure) -> MoveAction {
    switch (failure, phase) {
    // The caller has its answer, whatever becomes of the rest.
    case (_, .delivering): return .finish(finish(.delivered))
    // The upstream has ended its direction, and the caller has all of that.
    case (.sink, .tunnel(.towardsUpstream)), (.source, .tunnel(.towardsUpstream)): return .finish(finish(.delivered))
    case (.source, _), (.sourceEnded, .tunnel): return .finish(finish(.interrupted(.callerLeft)))
    case (.sink, .tunnel): return .finish(finish(.interrupted(.upstreamBroke(.reset))))
    // An upstream that has seen enough answers and closes; its answer may be on its way.
    case (.sink, .awaitingAnswer(_, let arrived)): phase = .awaitingAnswer(.abandoned, arrived)
    // A caller that has its answer may see no reason to go on.
    case (.sink, .answering(_, let reusesUpstream, let keepsCaller)),
      (.sourceEnded, .answering(_, let reusesUpstream, let keepsCaller)):
      phase = .answering(.abandoned, reusesUpstream: reusesUpstream, keepsCaller: keepsCaller)
    case (.sourceEnded, _): return .finish(finish(.failed(.contentCut)))
    case (.tooLarge, .awaitingAnswer): return .finish(finish(.failed(.tooLarge)))
    case (.content, .awaitingAnswer): return .finish(finish(.failed(.content)))
    case (.tooLarge, _), (.content, _): return .finish(finish(.interrupted(.contentRefused)))
    case (.sink, _): misplaced()
    }
    return .move
  }

  // MARK: Back

  /// Before the head of the answer, its direction waits for bytes of the upstream, or for the caller to take an interim
  /// answer.
  mutating func headNeeds(_ needed: Needs) { needs.formUnion(needed) }

  mutating func answerArrives() {
    if case .awaitingAnswer(let sending, .nothing) = phase {
      phase = .awaitingAnswer(sending, .some(interimAnswers: 0))
    }
  }

  mutating func interimArrived(status: Int) -> InterimAction {
    guard case .awaitingAnswer(var sending, let arrived) = phase else { misplaced() }
    var count = 1
    if case .some(let before) = arrived { count += before }
    if count > Self.interimLimit { return .finish(finish(.failed(.upstreamMalformed(.interimAnswers)))) }
    if status == 100, case .withheld = sending { sending = .content }
    phase = .awaitingAnswer(sending, .some(interimAnswers: count))
    return terms.request.version.hasInterimResponses ? .forward : .drop
  }

  /// The upstream answers with 101. `isAgreed`: to the switch that was asked for. Otherwise the exchange has an end.
  mutating func switchArrived(isAgreed: Bool) -> Ending? {
    guard case .awaitingAnswer = phase else { misplaced() }
    guard isAgreed, terms.request.asksForWebSocket else {
      return finish(.failed(.upstreamMalformed(.unaskedSwitch)))
    }
    phase = .tunnel(.both)
    // The request's direction was not moved as a tunnel yet.
    needs.insert(.turn)
    return nil
  }

  /// The head of the final answer is there. `callerMustEnd`: this is the last answer on the caller's connection.
  mutating func headArrived(_ head: AnswerHead, callerMustEnd: Bool) -> HeadAction {
    guard case .awaitingAnswer(let sending, _) = phase else { misplaced() }
    // Without a challenge a 403 is not about tokens.
    let isRefused = head.status == 401 || head.isUnauthenticated || head.status == 403 && head.hasChallenge
    if terms.credential == .proxy, isRefused {
      phase = .refused(sending, head)
      return .hold
    }
    return .answer(answer(head, sending, callerMustEnd))
  }

  private mutating func answer(_ head: AnswerHead, _ sending: Sending, _ callerMustEnd: Bool) -> ResponsePlan {
    // An upstream that turns a request down and closes does not want the rest of it (RFC 9112 §9.5).
    let isTurnedDown = head.status >= 300 && head.persistence == .close
    let rest: Rest =
      switch sending {
      case .withheld: isTurnedDown ? .abandoned : .withheld
      case .content: isTurnedDown ? .abandoned : .content
      case .sent: .sent
      case .abandoned: .abandoned
      }
    let plan = ResponsePlan(
      framing: head.framing, version: terms.request.version, request: terms.request.persistence, isRead: rest == .sent,
      isEnding: callerMustEnd)
    phase = .answering(rest, reusesUpstream: head.persistence == .keepAlive, keepsCaller: !plan.closes)
    return plan
  }

  /// The upstream has ended the exchange before the head of an answer was there. `contentIsKept`: what was sent of the
  /// content, if any, can be sent again.
  mutating func upstreamEnded(_ request: RequestFate, contentIsKept: Bool) -> UpstreamEndAction {
    if case .awaitingAnswer(_, .nothing) = phase,
      RetryRule.permits(
        request, method: terms.request.method, framing: terms.request.framing, contentIsKept: contentIsKept,
        connectionWasReused: attempt.connectionWasReused, retries: attempt.retries)
    {
      attempt.retries += 1
      phase = .connecting
      return .retry(sources)
    }
    return .finish(finish(.failed(.upstreamClosed)))
  }

  mutating func answerRefused(_ fault: UpstreamFault) -> Ending { finish(.failed(.upstreamMalformed(fault))) }

  mutating func callerLeft() -> Ending {
    switch phase {
    case .delivering, .tunnel(.towardsUpstream): return finish(.delivered)
    default: return finish(.interrupted(.callerLeft))
    }
  }

  /// The answer's direction was moved as far as it goes now. `leavesBytes`: more arrived than the answer.
  /// `callerHasPart`: of the answer.
  mutating func answerMoved(_ step: BodyPump.Step, leavesBytes: Bool, callerHasPart: Bool) -> MoveAction {
    switch step {
    case .needsSource: needs.insert(.answer)
    case .needsSink: needs.insert(.callerRoom)
    case .tookItsTurn: needs.insert(.turn)
    case .failed(.sink): return .finish(finish(.interrupted(.callerLeft)))
    case .failed(.content(let error)) where !callerHasPart:
      return .finish(finish(.failed(.upstreamMalformed(UpstreamFault(error)))))
    case .failed(let failure): return .finish(finish(.interrupted(.upstreamBroke(UpstreamFault(failure)))))
    case .finished:
      switch phase {
      case .answering(.content, let reusesUpstream, _):
        phase = .delivering(reusesUpstream: reusesUpstream && !leavesBytes)
        return .endDirection
      case .answering(let rest, let reusesUpstream, let keepsCaller):
        let isClean = rest == .sent && reusesUpstream && !leavesBytes
        return .finish(finish(.completed(reusesUpstream: isClean, keepsCaller: keepsCaller)))
      case .tunnel(.both):
        phase = .tunnel(.towardsUpstream)
        return .endDirection
      case .tunnel: return .finish(finish(.delivered))
      case .connecting, .awaitingAnswer, .refused, .delivering, .over: misplaced()
      }
    }
    return .move
  }

  // MARK: Refusals

  /// It is known what the caller gets instead of the held answer, if anything.
  mutating func refusalSettled(_ remedy: Remedy, callerMustEnd: Bool) -> RefusalAction {
    guard case .refused(let sending, let head) = phase else { misplaced() }
    var isSent = false
    if case .sent = sending { isSent = true }
    let reusable = isSent && head.persistence == .keepAlive ? head.framing : nil
    switch remedy {
    case .none: return .answer(answer(head, sending, callerMustEnd))
    case .token:
      attempt = Attempt(isReplay: true)
      phase = .connecting
      return .drop(reusable, then: .replay(sources))
    case .problem:
      phase = .over
      return .drop(reusable, then: .problem)
    case .signInPage:
      phase = .over
      let caller = Persistence.afterAnswer(to: terms.request.persistence, isRead: isSent, isEnding: callerMustEnd)
      return .drop(reusable, then: .signInPage(keepsCaller: caller == .keepAlive))
    }
  }

  // MARK: Waiting

  /// Both directions were moved as far as they go now. `moved`: bytes of content received and sent so far, for the
  /// caller's pace.
  mutating func pause(moved: UInt64, at now: MonotonicTime) -> Pause {
    let needs = needs
    self.needs = []
    if needs.contains(.turn), now < terms.whole { return .yield }
    var isForCaller = needs.contains(.callerRoom)
    var due = now + terms.idle
    if case .awaitingAnswer(let sending, _) = phase {
      switch sending {
      case .withheld(let answerDue):
        isForCaller = false
        if needs.contains(.content) { due = answerDue }
      case .content: isForCaller = needs.contains(.content)
      case .sent(let answerDue):
        isForCaller = false
        due = answerDue
      case .abandoned: isForCaller = false
      }
    }
    if case .delivering = phase { isForCaller = needs.contains(.content) }
    // Content that the upstream does not need for its answer, and a tunnel, may take any time.
    if let rate = terms.callerRate, !isTunnel,
      pace.isTooSlow(waitsForCaller: isForCaller, bytes: moved, rate: rate, window: terms.idle, now: now)
    {
      defer { phase = .over }
      switch phase {
      case .awaitingAnswer: return .finish(.failed(.contentTooSlow))
      case .delivering: return .finish(.delivered)
      case .connecting, .refused, .answering, .tunnel, .over: return .finish(.interrupted(.callerTooSlow))
      }
    }
    return .wait(Wait(needs: needs, isForCaller: isForCaller, until: min(due, terms.whole)))
  }

  /// A wait has lasted to its end.
  mutating func timedOut(_ wait: Wait, at now: MonotonicTime) -> Ending {
    let isWholeOver = now >= terms.whole
    switch phase {
    case .tunnel(let tunnel): return goAway(tunnel)
    case .delivering: return finish(.delivered)
    case .answering: return finish(.interrupted(.timedOut(isWholeOver || wait.isForCaller ? nil : .stalled)))
    case .connecting, .awaitingAnswer, .refused, .over:
      if isWholeOver { return finish(.failed(.exchangeTimedOut)) }
      return finish(.failed(wait.isForCaller ? .contentStalled : .upstreamStalled))
    }
  }

  /// The process ends what is still going on: a tunnel has a way to say so to its sides.
  mutating func cutOff() -> Ending {
    guard case .tunnel(let tunnel) = phase else { return finish(.interrupted(.callerLeft)) }
    return goAway(tunnel)
  }

  private mutating func goAway(_ tunnel: Tunnel) -> Ending {
    finish(.goingAway(tellsUpstream: tunnel != .towardsCaller, tellsCaller: tunnel != .towardsUpstream))
  }

  private mutating func finish(_ ending: Ending) -> Ending {
    phase = .over
    return ending
  }

  private func misplaced() -> Never { preconditionFailure("an event that this phase of an exchange does not have") }
}
