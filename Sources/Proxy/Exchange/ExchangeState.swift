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
    case answering(Rest, reusesUpstream: Bool, closesCaller: Bool)
    /// The answer is delivered, and the rest of the request goes to an upstream that goes on reading.
    case delivering(reusesUpstream: Bool)
    case tunnel(Tunnel)
    case over
  }

  /// What is particular to the present attempt.
  private struct Attempt {
    /// Whether it follows a refusal.
    var isReplay = false
    /// Whether it follows one on a dead connection.
    var isRetry = false
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

  /// Whether the request's direction is to be moved.
  var movesRequest: Bool {
    switch phase {
    case .awaitingAnswer(.withheld, _), .awaitingAnswer(.content, _), .answering(.withheld, _, _),
      .answering(.content, _, _), .delivering:
      true
    case .tunnel(let tunnel): tunnel != .towardsCaller
    case .connecting, .awaitingAnswer, .refused, .answering, .over: false
    }
  }

  /// Whether the answer's direction is to be moved.
  var movesAnswer: Bool {
    switch phase {
    case .awaitingAnswer, .answering: true
    case .tunnel(let tunnel): tunnel != .towardsUpstream
    case .connecting, .refused, .delivering, .over: false
    }
  }

  /// Whether the head of the answer is still to come.
  var awaitsHead: Bool {
    if case .awaitingAnswer = phase { true } else { false }
  }

  /// Whether the caller has its answer and was told that nothing follows. When it ends its own direction both are
  /// closed, which looks as if it had left, and what it sent before is still to be read.
  var isDelivering: Bool {
    if case .delivering = phase { true } else { false }
  }

  var isTunnel: Bool {
    if case .tunnel = phase { true } else { false }
  }

  /// Whether all of the request was sent before its token was refused: only then is the connection clean behind the
  /// answer.
  var wasSentBeforeRefusal: Bool {
    if case .refused(.sent, _) = phase { true } else { false }
  }

  private var hasContent: Bool { terms.framing != .none && terms.framing != .fixed(0) }

  // MARK: Connecting

  /// The first attempt begins.
  mutating func begin() -> Action { .connect(sources) }

  private var sources: ConnectionSources {
    if attempt.isRetry { return [] }
    var sources: ConnectionSources = []
    if terms.credential == .caller { sources.insert(.callersOwn) }
    // A switch of protocols needs a connection of its own. A replay with content cannot be sent a third time, so it
    // goes on no connection that may be dead.
    if !terms.asksForWebSocket,
      !attempt.isReplay || RetryRule.survivesRepetition(method: terms.method, framing: terms.framing)
    {
      sources.insert(.pool)
    }
    return sources
  }

  /// There is a connection, and the head of the request is being sent on it.
  mutating func connected(isReused: Bool, contentHasBegun: Bool) {
    attempt.connectionWasReused = isReused
    let isWithheld = terms.expectsContinue && hasContent && !contentHasBegun
    phase = .awaitingAnswer(isWithheld ? .withheld(answerDue: .distantFuture) : .content, .nothing)
  }

  // MARK: Out

  /// The request's direction was moved as far as it goes now.
  mutating func requestMoved(_ step: BodyPump.Step, contentHasBegun: Bool, at now: MonotonicTime) -> Action {
    if contentHasBegun, case .answering(.withheld, let reusesUpstream, let closesCaller) = phase {
      phase = .answering(.content, reusesUpstream: reusesUpstream, closesCaller: closesCaller)
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

  private mutating func requestSent(at now: MonotonicTime) -> Action {
    switch phase {
    case .awaitingAnswer(_, let arrived):
      phase = .awaitingAnswer(.sent(answerDue: now + terms.responseHead), arrived)
      return .move
    case .answering(_, let reusesUpstream, let closesCaller):
      phase = .answering(.sent, reusesUpstream: reusesUpstream, closesCaller: closesCaller)
      return .move
    case .delivering(let reusesUpstream):
      return finish(.completed(reusesUpstream: reusesUpstream, keepsCaller: false))
    case .tunnel(.both):
      phase = .tunnel(.towardsCaller)
      return .endTowardsUpstream
    case .tunnel: return finish(.delivered)
    case .connecting, .refused, .over: preconditionFailure("a request was moved that has no connection")
    }
  }

  private mutating func requestFailed(_ failure: BodyPump.Failure) -> Action {
    switch (failure, phase) {
    // The caller has its answer, whatever becomes of the rest.
    case (_, .delivering): return finish(.delivered)
    case (.source, _): return finish(.interrupted(.callerLeft))
    case (.sink, .tunnel): return finish(.interrupted(.upstreamBroke(.reset)))
    // An upstream that has seen enough answers and closes; its answer may be on its way.
    case (.sink, .awaitingAnswer(_, let arrived)): phase = .awaitingAnswer(.abandoned, arrived)
    // A caller that has its answer may see no reason to go on.
    case (.sink, .answering(_, let reusesUpstream, let closesCaller)),
      (.sourceEnded, .answering(_, let reusesUpstream, let closesCaller)):
      phase = .answering(.abandoned, reusesUpstream: reusesUpstream, closesCaller: closesCaller)
    case (.sourceEnded, _): return finish(.failed(.contentCut))
    case (.tooLarge, .awaitingAnswer): return finish(.failed(.tooLarge))
    case (.content, .awaitingAnswer): return finish(.failed(.content))
    case (.tooLarge, _), (.content, _): return finish(.interrupted(.contentRefused))
    case (.sink, _): preconditionFailure("a request was moved that has no connection")
    }
    return .move
  }

  // MARK: Back

  /// Before the head of the answer, its direction waits for bytes of the upstream, or for the caller to take an interim
  /// answer.
  mutating func headNeeds(_ needed: Needs) { needs.formUnion(needed) }

  /// Bytes of an answer have arrived.
  mutating func answerArrives() {
    if case .awaitingAnswer(let sending, .nothing) = phase {
      phase = .awaitingAnswer(sending, .some(interimAnswers: 0))
    }
  }

  /// The head of an interim answer is there.
  mutating func interimArrived(status: Int) -> Action {
    guard case .awaitingAnswer(var sending, let arrived) = phase else { misplaced() }
    var count = 1
    if case .some(let before) = arrived { count += before }
    if count > Self.interimLimit { return finish(.failed(.upstreamMalformed(.interimAnswers))) }
    if status == 100, case .withheld = sending { sending = .content }
    phase = .awaitingAnswer(sending, .some(interimAnswers: count))
    return terms.version.hasInterimResponses ? .forwardInterim : .dropInterim
  }

  /// The upstream answers with 101. `isAgreed`: to the switch that was asked for.
  mutating func switchArrived(isAgreed: Bool) -> Action {
    guard isAgreed, terms.asksForWebSocket else { return finish(.failed(.upstreamMalformed(.unaskedSwitch))) }
    phase = .tunnel(.both)
    // The request's direction was not moved as a tunnel yet.
    needs.insert(.turn)
    return .switchProtocols
  }

  /// The head of the final answer is there. `callerMustEnd`: this is the last answer on the caller's connection.
  mutating func headArrived(_ head: AnswerHead, callerMustEnd: Bool) -> Action {
    guard case .awaitingAnswer(let sending, _) = phase else { misplaced() }
    // Without a challenge a 403 is not about tokens.
    if terms.credential == .proxy, head.status == 401 || head.status == 403 && head.hasChallenge {
      phase = .refused(sending, head)
      return .hold
    }
    return answer(head, sending, callerMustEnd)
  }

  private mutating func answer(_ head: AnswerHead, _ sending: Sending, _ callerMustEnd: Bool) -> Action {
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
      framing: head.framing, version: terms.version,
      closes: terms.persistence == .close || callerMustEnd || rest != .sent)
    phase = .answering(rest, reusesUpstream: head.persistence == .keepAlive, closesCaller: plan.closes)
    return .answer(plan)
  }

  /// The upstream has ended or broken its connection before the head of an answer was there.
  mutating func upstreamEnded() -> Action {
    if case .awaitingAnswer(_, .nothing) = phase,
      RetryRule.permits(
        method: terms.method, framing: terms.framing, connectionWasReused: attempt.connectionWasReused,
        isFirstAttempt: !attempt.isRetry)
    {
      attempt.isRetry = true
      phase = .connecting
      return .retry
    }
    return finish(.failed(.upstreamClosed))
  }

  /// The head of the answer is not acceptable.
  mutating func answerRefused(_ fault: UpstreamFault) -> Action { finish(.failed(.upstreamMalformed(fault))) }

  /// The caller's connection broke.
  mutating func callerLeft() -> Action {
    if case .delivering = phase { return finish(.delivered) }
    return finish(.interrupted(.callerLeft))
  }

  /// The answer's direction was moved as far as it goes now. `leavesBytes`: more arrived than the answer.
  /// `callerHasPart`: of the answer.
  mutating func answerMoved(_ step: BodyPump.Step, leavesBytes: Bool, callerHasPart: Bool) -> Action {
    switch step {
    case .needsSource: needs.insert(.answer)
    case .needsSink: needs.insert(.callerRoom)
    case .tookItsTurn: needs.insert(.turn)
    case .failed(.sink): return finish(.interrupted(.callerLeft))
    case .failed(.content(let error)) where !callerHasPart:
      return finish(.failed(.upstreamMalformed(UpstreamFault(error))))
    case .failed(let failure): return finish(.interrupted(.upstreamBroke(UpstreamFault(failure))))
    case .finished:
      switch phase {
      case .answering(.content, let reusesUpstream, _):
        phase = .delivering(reusesUpstream: reusesUpstream && !leavesBytes)
        return .endTowardsCaller
      case .answering(let rest, let reusesUpstream, let closesCaller):
        return finish(
          .completed(
            reusesUpstream: rest == .sent && reusesUpstream && !leavesBytes,
            keepsCaller: rest == .sent && !closesCaller))
      case .tunnel(.both):
        phase = .tunnel(.towardsUpstream)
        return .endTowardsCaller
      case .tunnel: return finish(.delivered)
      case .connecting, .awaitingAnswer, .refused, .delivering, .over: misplaced()
      }
    }
    return .move
  }

  // MARK: Refusals

  /// Another token was obtained, and the request can be sent once more.
  mutating func refusalAnswered() -> Action {
    guard case .refused = phase else { misplaced() }
    attempt = Attempt(isReplay: true)
    phase = .connecting
    return .replay(sources)
  }

  /// The held answer is passed on.
  mutating func refusalStands(callerMustEnd: Bool) -> Action {
    guard case .refused(let sending, let head) = phase else { misplaced() }
    return answer(head, sending, callerMustEnd)
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
  mutating func timedOut(_ wait: Wait, at now: MonotonicTime) -> Action {
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
  mutating func cutOff() -> Action {
    guard case .tunnel(let tunnel) = phase else { return finish(.interrupted(.callerLeft)) }
    return goAway(tunnel)
  }

  private mutating func goAway(_ tunnel: Tunnel) -> Action {
    finish(.goingAway(tellsUpstream: tunnel != .towardsCaller, tellsCaller: tunnel != .towardsUpstream))
  }

  private mutating func finish(_ ending: Ending) -> Action {
    phase = .over
    return .finish(ending)
  }

  private func misplaced() -> Never { preconditionFailure("an answer arrived where none was expected") }
}
