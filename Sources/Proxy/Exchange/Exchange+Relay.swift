// Moves bytes between a caller and an upstream for one attempt, both directions at once and with one wait for whatever
// either needs. What the bytes mean is decided by `ExchangeState`; this reports what happened and carries out what it
// answers.

internal import Bytes
internal import HTTP
internal import HTTP2
internal import HTTPClient
internal import Identity
internal import Platform
internal import Routing
internal import Telemetry

// An attempt and its stream are parameters, not fields: a value that stored them would count a reference to each, for
// every request. `forward` keeps them as long as anything here waits.

extension Exchange {
  /// Writes the request's head, and behind it what was sent of the content before. Not inlined, like what else needs
  /// room only for a moment: none of it has a place in a frame that waits for as long as the caller's connection lives.
  @inline(never)
  func beginAttempt(_ attempt: UpstreamAttempt, to route: Route) {
    attempt.binding = UpstreamBinding(request)
    RequestRewriting.write(
      request, to: route, from: facts.ingress, as: state.hop, into: &attempt.output)
    request.content.rewind(&buffers.input, &attempt.output, kept: request.replay)
  }

  enum RelayEnd {
    /// The upstream refuses the token. Its answer is held.
    case hold
    case retry(ExchangeState.ConnectionSources)
    case finish(ExchangeState.Ending)
  }

  /// Drives both directions until the exchange ends, needs another connection, or its token is refused. Inlined, since
  /// the frame of a call would be allocated for each request.
  @inline(__always)
  func relay(
    _ life: inout ExchangeState, _ attempt: UpstreamAttempt, on upstream: UpstreamConnection
  ) async -> RelayEnd {
    while true {
      if life.isTunnel, caller.isCutOff { return breakOff(life.cutOff(), attempt, upstream.stream) }
      switch turn(&life, attempt, upstream.stream) {
      case .ended(let end): return end
      case .upstreamEnded: return upstreamEnded(&life, upstream)
      case .pause(.yield): await Task.yield()
      case .pause(.finish(let ending)): return .finish(ending)
      case .pause(.wait(let wait)):
        if await caller.waiter.wait(until: wait.until) == .timedOut {
          return breakOff(life.timedOut(wait, at: state.loop.now), attempt, upstream.stream)
        }
        if caller.hasLeft, !life.isDelivering { return .finish(life.callerLeft()) }
      }
    }
  }

  private enum Turn {
    case ended(RelayEnd)
    /// Before there was the head of an answer.
    case upstreamEnded
    case pause(ExchangeState.Pause)
  }

  /// Moves what can be moved, and watches for what else is needed.
  @inline(never)
  private func turn(_ life: inout ExchangeState, _ attempt: UpstreamAttempt, _ upstream: ByteStream) -> Turn {
    let now = state.loop.now
    if life.movesRequest {
      let step = request.content.step(
        from: caller.stream, &buffers.input, to: upstream, &attempt.output, &request.trailers, headLimits,
        keeping: &request.replay)
      switch life.requestMoved(step, contentHasBegun: request.content.hasBegun, at: now) {
      case .move: break
      case .endDirection: upstream.closeWrite()
      case .finish(let ending): return .ended(.finish(ending))
      }
    }
    if life.movesAnswer, let end = moveAnswer(&life, attempt, upstream) { return end }
    let pause = life.pause(moved: request.content.contentBytes &+ attempt.answer.sentBytes, at: now)
    if case .wait(let wait) = pause { watch(wait.needs, upstream, noticesEnd: !life.isDelivering) }
    return .pause(pause)
  }

  private var headLimits: HeadLimits { state.service.limits.head }

  private func watch(_ needs: ExchangeState.Needs, _ upstream: ByteStream, noticesEnd: Bool) {
    var callerInterest: CallerInterest = noticesEnd ? .leaving : []
    var upstreamInterest: Readiness = []
    if needs.contains(.content) { callerInterest.insert(.content) }
    if needs.contains(.callerRoom) { callerInterest.insert(.room) }
    if needs.contains(.answer) { upstreamInterest.formUnion(upstream.receiveInterest) }
    if needs.contains(.upstreamRoom) { upstreamInterest.formUnion(upstream.sendInterest) }
    caller.watch(callerInterest)
    caller.waiter.watch(upstream.channel, upstreamInterest)
  }

  // MARK: Back

  /// Moves the answer as far as it goes now; nil if the relay goes on.
  private func moveAnswer(
    _ life: inout ExchangeState, _ attempt: UpstreamAttempt, _ upstream: ByteStream
  ) -> Turn? {
    while life.awaitsHead {
      if !attempt.input.isEmpty {
        switch attempt.input.withBytes({ attempt.parser.parse($0, into: &attempt.head, limits: headLimits) }) {
        case .complete(let byteCount):
          if let end = takeHead(byteCount, &life, attempt) { return .ended(end) }
          continue
        case .invalid(let error): return .ended(.finish(life.answerRefused(UpstreamFault(error))))
        case .needsMore: break
        }
      }
      // Interim answers wait here for the caller to take them.
      while !buffers.output.isEmpty {
        switch buffers.output.send(to: caller.stream) {
        case .moved: continue
        case .wouldBlock:
          life.headNeeds(.callerRoom)
          return nil
        case .endOfStream, .failed: return .ended(.finish(life.callerLeft()))
        }
      }
      attempt.input.reserve(1)
      switch attempt.input.receive(from: upstream) {
      case .moved: life.answerArrives()
      case .wouldBlock:
        life.headNeeds(.answer)
        return nil
      case .endOfStream, .failed: return .upstreamEnded
      }
    }
    let step = attempt.answer.step(
      from: upstream, &attempt.input, to: caller.stream, &buffers.output, &attempt.trailers, headLimits,
      keeping: &request.replay)
    let unsent = attempt.outputBefore - Int(clamping: attempt.answer.sentBytes)
    switch life.answerMoved(step, leavesBytes: !attempt.input.isEmpty, callerHasPart: unsent < 0) {
    case .move: return nil
    case .endDirection:
      caller.stream.closeWrite()
      return nil
    case .finish(let ending):
      // The head of the answer is taken back; the rest of an interim one stays.
      if case .failed = ending { buffers.output.truncate(to: unsent) }
      return .ended(.finish(ending))
    }
  }

  @inline(never)
  private func upstreamEnded(_ life: inout ExchangeState, _ upstream: UpstreamConnection) -> RelayEnd {
    let content = request.content
    var fate = content.isUnsent ? ExchangeState.RequestFate.notProcessed : .mayBeProcessed
    switch upstream.streamFault {
    case .malformed: return .finish(life.answerRefused(.http2))
    case .headTooLarge: return .finish(life.answerRefused(.headTooLarge))
    case .notProcessed: fate = .notProcessed
    // A connection of its own has HTTP/2 only if the route demands that.
    case .demandsHTTP11: fate = upstream.isAlone ? .givenUp : .notProcessed
    case .reset: fate = .givenUp
    case .lost, nil: break
    }
    return switch life.upstreamEnded(fate, contentIsKept: content.canRewind) {
    case .retry(let sources): .retry(sources)
    case .finish(let ending): .finish(ending)
    }
  }

  /// Acts on a head that is complete; nil if the relay goes on.
  private func takeHead(_ byteCount: Int, _ life: inout ExchangeState, _ attempt: UpstreamAttempt) -> RelayEnd? {
    if attempt.head.isInterim { return takeInterim(byteCount, &life, attempt) }
    let framing: BodyFraming
    do throws(FramingError) {
      framing = try self.framing(of: attempt)
    } catch {
      return .finish(life.answerRefused(UpstreamFault(error)))
    }
    if attempt.head.status == 101 { return takeSwitch(byteCount, &life, attempt) }
    attempt.headBytes = byteCount
    attempt.status = attempt.head.status
    attempt.answeredAt = state.loop.now
    if framing == .fixed(0), attempt.status == 200 { attempt.isUnauthenticated = Self.isUnauthenticated(attempt) }
    if request.head.asksForTunnel, 200..<300 ~= attempt.status { return .finish(life.answerRefused(.webSocket)) }
    attempt.binding.note(attempt)
    if attempt.binding.isBound, request.admitted.version == .http2 {
      // The upstream authenticates connections, and a stream has none of its own.
      caller.demandHTTP11()
      return .finish(life.callerLeft())
    }
    let head = ExchangeState.AnswerHead(
      status: attempt.status, framing: framing,
      persistence: Persistence.after(response: attempt.head, framing: framing),
      hasChallenge: attempt.head.fields.contains(.wwwAuthenticate), isUnauthenticated: attempt.isUnauthenticated)
    switch life.headArrived(head, callerMustEnd: caller.isEnding) {
    case .hold: return .hold
    case .answer(let plan):
      writeAnswer(plan, attempt)
      return nil
    }
  }

  private static let grpcStatus = Array("grpc-status".utf8)

  /// True if an answer without messages has the status of gRPC for a token that is not good (UNAUTHENTICATED, 16).
  @inline(never)
  private static func isUnauthenticated(_ attempt: UpstreamAttempt) -> Bool {
    attempt.input.withBytes { bytes in
      guard let line = attempt.head.fields.first(named: grpcStatus, in: bytes) else { return false }
      return bytes.extracting(line.value).equalsIgnoringCase("16")
    }
  }

  private func framing(of attempt: UpstreamAttempt) throws(FramingError) -> BodyFraming {
    try attempt.input.withBytes { bytes throws(FramingError) in
      try BodyFraming.response(attempt.head, bytes, requestMethod: request.admitted.method)
    }
  }

  @inline(never)
  private func takeInterim(
    _ byteCount: Int, _ life: inout ExchangeState, _ attempt: UpstreamAttempt
  ) -> RelayEnd? {
    switch life.interimArrived(status: attempt.head.status) {
    case .forward:
      attempt.input.withBytes {
        ResponseRewriting.writeBrief(
          attempt.head, $0, .kept, route: route, credential: request.credential, into: &buffers.output)
      }
    case .drop: break
    case .finish(let ending): return .finish(ending)
    }
    attempt.input.consume(byteCount)
    return nil
  }

  @inline(never)
  private func takeSwitch(
    _ byteCount: Int, _ life: inout ExchangeState, _ attempt: UpstreamAttempt
  ) -> RelayEnd? {
    let isAgreed = attempt.input.withBytes { WebSocketUpgrade.isAgreed(attempt.head, $0) }
    if isAgreed, request.head.asksForTunnel, !isProven(attempt) { return .finish(life.answerRefused(.webSocket)) }
    if let ending = life.switchArrived(isAgreed: isAgreed) { return .finish(ending) }
    attempt.status = 101
    attempt.answeredAt = state.loop.now
    attempt.input.withBytes {
      ResponseRewriting.writeBrief(
        attempt.head, $0, .webSocket, route: route, credential: request.credential, into: &buffers.output)
    }
    attempt.input.consume(byteCount)
    let bufferSize = state.service.bufferSize
    request.content = .webSocket(bufferSize: bufferSize)
    attempt.answer = .webSocket(bufferSize: bufferSize)
    caller.becomesTunnel()
    return nil
  }

  /// True if the upstream has read the handshake. A caller with HTTP/1.1 looks itself; that of another has none.
  private func isProven(_ attempt: UpstreamAttempt) -> Bool {
    guard let acceptance = request.headBytes.withBytes({ WebSocketUpgrade.acceptance(of: request.head, $0) }) else {
      return false
    }
    return attempt.input.withBytes { WebSocketUpgrade.proves(acceptance, attempt.head, $0) }
  }

  private func breakOff(
    _ ending: ExchangeState.Ending, _ attempt: UpstreamAttempt, _ upstream: ByteStream
  ) -> RelayEnd {
    if case .goingAway(let tellsUpstream, let tellsCaller) = ending {
      sayGoingAway(attempt, upstream: tellsUpstream ? upstream : nil, caller: tellsCaller)
    }
    return .finish(ending)
  }

  func writeAnswer(_ plan: ResponsePlan, _ attempt: UpstreamAttempt) {
    state.clock.refreshDate()
    attempt.outputBefore = buffers.output.count
    ResponseRewriting.write(
      attempt, plan, to: request, of: route, callers: facts.listener.callers, isTLS: facts.ingress.isTLS,
      date: state.clock.dateText, pseudonym: state.hop.pseudonym, into: &buffers.output)
    var trailers = ForwardedTrailers()
    // Only what is sent in chunks has trailers.
    if plan.writesChunks {
      trailers.nominations = attempt.input.withBytes { attempt.head.connection.nominations(in: $0) }
      trailers.credential = request.credential
    }
    attempt.input.consume(attempt.headBytes)
    attempt.headBytes = 0
    attempt.answer = BodyPump(
      plan.framing, writesChunks: plan.writesChunks, space: .removed, trailers: trailers,
      bufferSize: state.service.bufferSize)
  }

  // MARK: Ends

  /// Drops the answer that is held, with content of `framing`. False: not all of it has arrived, and the connection is
  /// not clean behind it.
  @inline(never)
  func discardAnswer(_ attempt: UpstreamAttempt, _ framing: BodyFraming, from upstream: ByteStream) -> Bool {
    if attempt.binding.isBound { return false }
    attempt.input.consume(attempt.headBytes)
    var content = ContentReader(framing, .removed)
    return content.drop(&attempt.input, from: upstream, &attempt.trailers, headLimits) && attempt.input.isEmpty
  }

  /// Tells the sides of a WebSocket that it ends (status 1001, RFC 6455 §7.4.1). What a side does not take at once it
  /// does not get: the connection's end follows.
  @inline(never)
  private func sayGoingAway(_ attempt: UpstreamAttempt, upstream: ByteStream?, caller tellsCaller: Bool) {
    if tellsCaller, attempt.answer.takesFrame, buffers.output.isEmpty {
      WebSocketFrames.writeGoingAway(mask: nil, into: &buffers.output)
      _ = buffers.output.send(to: caller.stream)
      caller.stream.closeWrite()
    }
    if let upstream, request.content.takesFrame, attempt.output.isEmpty {
      let mask = UInt32(truncatingIfNeeded: state.clock.random.next())
      WebSocketFrames.writeGoingAway(mask: mask, into: &attempt.output)
      _ = attempt.output.send(to: upstream)
      upstream.closeWrite()
    }
  }
}
