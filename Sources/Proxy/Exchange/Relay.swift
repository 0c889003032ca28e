// Moves bytes between a caller and an upstream for one attempt, both directions at once and with one wait for whatever
// either needs. What the bytes mean is decided by `ExchangeState`; this reports what happened and carries out what it
// answers.

internal import Bytes
internal import HTTP
internal import HTTPClient
internal import Identity
internal import Platform
internal import Routing
internal import Telemetry

/// The I/O of one attempt.
struct Relay: ~Copyable {
  private let connection: DownstreamConnection
  private let state: LoopState
  private let admitted: AdmittedRequest
  private let caller: CallerBuffers
  private let request: RequestContext
  private let attempt: UpstreamAttempt
  private let upstream: ByteStream
  private let bearer: BearerValue?

  /// Writes the request's head, and behind it what was sent of the content before. Not inlined, like what else needs
  /// room only for a moment: none of it has a place in a frame that waits for as long as the caller's connection lives.
  @inline(never)
  init(
    _ admitted: borrowing AdmittedRequest, _ credential: borrowing RequestCredential, _ exchange: borrowing Exchange,
    _ attempt: borrowing UpstreamAttempt, on upstream: borrowing UpstreamConnection
  ) {
    let (connection, caller, request) = (exchange.connection, exchange.caller, exchange.request)
    attempt.binding = UpstreamBinding(credential, request)
    RequestRewriting.write(
      request, admitted, from: connection.ingress, as: exchange.state.service.hop, with: credential,
      into: &attempt.output)
    request.content.rewind(&caller.input, &attempt.output, kept: request.replay)
    self.admitted = copy admitted
    self.connection = connection
    state = exchange.state
    self.caller = caller
    self.request = request
    self.attempt = copy attempt
    self.upstream = upstream.stream
    bearer = credential.bearer
  }

  /// Drives both directions until the exchange ends, needs another connection, or its token is refused.
  @inline(never)
  func run(_ life: inout ExchangeState) async -> ExchangeState.Action {
    while true {
      if life.isTunnel, connection.isCutOff { return carryOut(life.cutOff()) }
      switch turn(&life) {
      case .ended(let action): return action
      case .pause(.yield): await Task.yield()
      case .pause(.finish(let ending)): return .finish(ending)
      case .pause(.wait(let wait)):
        if await connection.waiter.wait(until: wait.until) == .timedOut {
          return carryOut(life.timedOut(wait, at: state.loop.now))
        }
        if downstream.channel.isHungUp { return life.callerLeft() }
      }
    }
  }

  private enum Turn {
    case ended(ExchangeState.Action)
    case pause(ExchangeState.Pause)
  }

  /// Moves what can be moved, and watches for what else is needed.
  @inline(never)
  private func turn(_ life: inout ExchangeState) -> Turn {
    let now = state.loop.now
    if life.movesRequest {
      let step = request.content.step(
        from: downstream, &caller.input, to: upstream, &attempt.output, &request.trailers, headLimits,
        keeping: &request.replay)
      switch life.requestMoved(step, contentHasBegun: request.content.hasBegun, at: now) {
      case .move: break
      case .endTowardsUpstream: upstream.closeWrite()
      case let action: return .ended(action)
      }
    }
    if life.movesAnswer {
      switch moveAnswer(&life) {
      case .move: break
      case .endTowardsCaller: downstream.closeWrite()
      case let action: return .ended(action)
      }
    }
    let pause = life.pause(moved: request.content.contentBytes &+ attempt.answer.sentBytes, at: now)
    if case .wait(let wait) = pause { watch(wait.needs) }
    return .pause(pause)
  }

  private var downstream: ByteStream { connection.stream }
  private var headLimits: HeadLimits { state.service.limits.head }

  private func watch(_ needs: ExchangeState.Needs) {
    var downstreamInterest: Readiness = .hangUp
    var upstreamInterest: Readiness = []
    if needs.contains(.content) { downstreamInterest.formUnion(downstream.receiveInterest) }
    if needs.contains(.callerRoom) { downstreamInterest.formUnion(downstream.sendInterest) }
    if needs.contains(.answer) { upstreamInterest.formUnion(upstream.receiveInterest) }
    if needs.contains(.upstreamRoom) { upstreamInterest.formUnion(upstream.sendInterest) }
    connection.waiter.watch(downstream.channel, downstreamInterest)
    connection.waiter.watch(upstream.channel, upstreamInterest)
  }

  // MARK: Back

  private func moveAnswer(_ life: inout ExchangeState) -> ExchangeState.Action {
    while life.awaitsHead {
      if !attempt.input.isEmpty {
        switch attempt.input.withBytes({ attempt.parser.parse($0, limits: headLimits) }) {
        case .complete(let byteCount):
          switch takeHead(byteCount, &life) {
          case .move: continue
          case .switchProtocols: return .move
          case let action: return action
          }
        case .invalid(let error): return life.answerRefused(UpstreamFault(error))
        case .needsMore: break
        }
      }
      // Interim answers wait here for the caller to take them.
      while !caller.output.isEmpty {
        switch caller.output.send(to: downstream) {
        case .moved: continue
        case .wouldBlock:
          life.headNeeds(.callerRoom)
          return .move
        case .endOfStream, .failed: return life.callerLeft()
        }
      }
      attempt.input.reserve(1)
      switch attempt.input.receive(from: upstream) {
      case .moved: life.answerArrives()
      case .wouldBlock:
        life.headNeeds(.answer)
        return .move
      case .endOfStream, .failed: return life.upstreamEnded()
      }
    }
    let step = attempt.answer.step(
      from: upstream, &attempt.input, to: downstream, &caller.output, &attempt.trailers, headLimits,
      keeping: &request.replay)
    return life.answerMoved(step, leavesBytes: !attempt.input.isEmpty)
  }

  /// Acts on a head that is complete: `move` where it is dealt with.
  private func takeHead(_ byteCount: Int, _ life: inout ExchangeState) -> ExchangeState.Action {
    if attempt.parser.head.isInterim { return takeInterim(byteCount, &life) }
    let framing: BodyFraming
    do throws(FramingError) {
      framing = try self.framing()
    } catch {
      return life.answerRefused(UpstreamFault(error))
    }
    if attempt.parser.head.status == 101 { return takeSwitch(byteCount, &life) }
    attempt.headBytes = byteCount
    attempt.status = attempt.parser.head.status
    attempt.answeredAt = state.loop.now
    attempt.binding.note(attempt)
    let head = ExchangeState.AnswerHead(
      status: attempt.status, framing: framing,
      persistence: Persistence.after(response: attempt.parser.head, framing: framing),
      hasChallenge: attempt.parser.head.fields.contains(.wwwAuthenticate))
    return carryOut(life.headArrived(head, callerMustEnd: connection.isEnding))
  }

  private func framing() throws(FramingError) -> BodyFraming {
    try attempt.input.withBytes { bytes throws(FramingError) in
      try BodyFraming.response(attempt.parser.head, bytes, requestMethod: admitted.method)
    }
  }

  @inline(never)
  private func takeInterim(_ byteCount: Int, _ life: inout ExchangeState) -> ExchangeState.Action {
    let action = life.interimArrived(status: attempt.parser.head.status)
    switch action {
    case .forwardInterim:
      attempt.input.withBytes {
        ResponseRewriting.writeInterim(
          attempt.parser.head, $0, route: admitted.route, bearer: bearer, into: &caller.output)
      }
    case .dropInterim: break
    default: return action
    }
    attempt.input.consume(byteCount)
    return .move
  }

  @inline(never)
  private func takeSwitch(_ byteCount: Int, _ life: inout ExchangeState) -> ExchangeState.Action {
    let isAgreed = attempt.input.withBytes { WebSocketUpgrade.isAgreed(attempt.parser.head, $0) }
    let action = life.switchArrived(isAgreed: isAgreed)
    guard case .switchProtocols = action else { return action }
    attempt.status = 101
    attempt.answeredAt = state.loop.now
    attempt.input.withBytes {
      ResponseRewriting.writeSwitch(
        attempt.parser.head, $0, route: admitted.route, bearer: bearer, into: &caller.output)
    }
    attempt.input.consume(byteCount)
    request.content = .webSocket
    attempt.answer = .webSocket
    connection.isTunnel = true
    return action
  }

  /// Passes on the answer that was held.
  func passOn(_ life: inout ExchangeState) async -> ExchangeState.Action {
    let action = carryOut(life.refusalStands(callerMustEnd: connection.isEnding))
    if case .move = action { return await run(&life) }
    return action
  }

  private func carryOut(_ action: ExchangeState.Action) -> ExchangeState.Action {
    switch action {
    case .answer(let plan):
      writeAnswer(plan)
      return .move
    case .finish(.goingAway(let tellsUpstream, let tellsCaller)):
      sayGoingAway(upstream: tellsUpstream, caller: tellsCaller)
      return action
    default: return action
    }
  }

  private func writeAnswer(_ plan: ResponsePlan) {
    state.clock.refreshDate()
    ResponseRewriting.write(
      attempt, plan, to: request, admitted, corsOrigin: request.corsOrigin, bearer: bearer, date: state.clock.dateText,
      pseudonym: state.service.hop.pseudonym, into: &caller.output)
    let nominations =
      plan.writesChunks
      ? attempt.input.withBytes { attempt.parser.head.connection.nominations(in: $0) } : nil
    attempt.input.consume(attempt.headBytes)
    attempt.headBytes = 0
    attempt.answer = BodyPump(plan.framing, writesChunks: plan.writesChunks, bearer: bearer, nominations: nominations)
  }

  // MARK: Ends

  /// Drops the answer that is held. Whether the connection is clean behind it: only where all of it has arrived.
  @inline(never)
  func discardAnswer() -> Bool {
    guard !attempt.binding.isBound else { return false }
    do throws(FramingError) {
      let framing = try self.framing()
      guard Persistence.after(response: attempt.parser.head, framing: framing) == .keepAlive else { return false }
      attempt.input.consume(attempt.headBytes)
      var drain = AnswerDrain(framing)
      return drain.finish(&attempt.input, from: upstream, &attempt.trailers, headLimits) && attempt.input.isEmpty
    } catch {
      return false
    }
  }

  /// Tells the sides of a WebSocket that it ends (status 1001, RFC 6455 §7.4.1). What a side does not take at once it
  /// does not get: the connection's end follows.
  @inline(never)
  private func sayGoingAway(upstream tellsUpstream: Bool, caller tellsCaller: Bool) {
    if tellsCaller, attempt.answer.takesFrame, caller.output.isEmpty {
      WebSocketFrames.writeGoingAway(mask: nil, into: &caller.output)
      _ = caller.output.send(to: downstream)
    }
    if tellsUpstream, request.content.takesFrame, attempt.output.isEmpty {
      let mask = UInt32(truncatingIfNeeded: state.clock.nextRandom())
      WebSocketFrames.writeGoingAway(mask: mask, into: &attempt.output)
      _ = attempt.output.send(to: upstream)
    }
  }
}
