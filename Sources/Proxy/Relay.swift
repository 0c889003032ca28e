// Owns one attempt on one upstream connection: the request on its way out and the response on its way back, both at once,
// with one wait for whatever either of them needs.

internal import HTTP
internal import HTTPClient
internal import Identity
internal import Network
internal import Telemetry

/// One attempt to exchange a request for a response on one upstream connection.
struct Relay: ~Copyable {
  let admission: Admission
  let connection: DownstreamConnection
  let upstream: ByteStream
  let downstream: ByteStream
  let scratch: Scratch
  let limits: ServiceLimits
  let bearer: BearerValue?
  let headBytes: Int
  /// The request's content on its way out.
  var request: BodyPump
  /// The response's content on its way back, once its head is known.
  var response: BodyPump?
  /// The status of the final response; 0 before.
  var status = 0
  /// When the head of the final response had arrived.
  var answeredAt: MonotonicTime?
  /// Whether the caller waits for the upstream's word before it sends any content (RFC 9110 §10.1.1).
  private var expectsContinue: Bool
  var isRequestSent = false
  private var isRequestAbandoned = false
  var closesDownstream = false
  private var upstreamPersistence = Persistence.close
  /// Whether both sides have switched to another protocol, and which of the two directions are still open.
  var isTunnel = false
  var isResponseSent = false
  private var interimResponses = 0
  private var hasReceived = false
  private var responseDeadline = MonotonicTime.distantFuture
  private var pace = CallerPace()
  /// Whether the caller is what takes so long, though it moves something now and then.
  private(set) var isCallerTooSlow = false
  /// Whether a refusal of the token ends the run before it is passed on.
  private var holdsRefusal: Bool
  /// The length of the head that is held.
  private(set) var heldHead: Int?
  /// Whether the upstream connection may be authenticated now.
  private(set) var binding: UpstreamBinding

  /// Interim responses passed on before an upstream is taken to be holding the caller hostage.
  private static let interimLimit = 32

  /// Writes the request's head. Not inlined, like what else needs room only for a moment: none of it has a place in a frame that waits,
  /// for as long as the caller's connection lives.
  @inline(never)
  init(
    _ admission: Admission, _ connection: DownstreamConnection, _ upstream: UpstreamConnection, _ scratch: Scratch,
    limits: ServiceLimits, headBytes: Int, credential: RequestCredential, isReplay: Bool
  ) {
    self.admission = admission
    self.connection = connection
    self.upstream = upstream.stream
    self.scratch = scratch
    self.limits = limits
    self.headBytes = headBytes
    bearer = credential.bearer
    downstream = connection.stream
    expectsContinue = admission.expectsContinue
    holdsRefusal = credential.bearer != nil
    binding = UpstreamBinding(credential, scratch)
    let keepLimit = holdsRefusal ? admission.route.token.replayLimit : 0
    request =
      (isReplay ? scratch.replayed : nil)
      ?? BodyPump(
        admission.framing, writesChunks: admission.framing == .chunked, limit: limits.bodyBytes,
        keepLimit: keepLimit > 0 ? keepLimit : nil,
        nominations: admission.framing == .chunked
          ? scratch.requestInput.withBytes { scratch.requestParser.head.connection.nominations(in: $0) } : nil)
    scratch.requestOutput.removeAll()
    scratch.responseInput.removeAll()
    // Not the output to the caller: there may be the rest of an interim response of the attempt before.
    scratch.responseParser.reset()
    if !isReplay {
      // There may be what was kept of the request before this one on the caller's connection.
      scratch.keptHead.removeAll()
      scratch.keptContent.removeAll()
    }
    writeRequestHead(credential)
    if isReplay {
      request.rewind(&scratch.requestInput, &scratch.requestOutput, kept: scratch.keptContent)
    } else if hasContent, request.keepLimit != nil {
      scratch.requestInput.withBytes { scratch.keptHead.append($0.extracting(first: headBytes)) }
    }
  }

  /// Whether the request has content, or may have.
  var hasContent: Bool { !request.hasReceivedAll }

  /// Whether the request can be sent once more, from its first byte.
  var isReplayable: Bool { !admission.hasContent || request.keepLimit != nil }

  private func writeRequestHead(_ credential: RequestCredential) {
    if scratch.keptHead.isEmpty {
      writeRequestHead(credential, from: scratch.requestInput)
    } else {
      writeRequestHead(credential, from: scratch.keptHead)
    }
  }

  private func writeRequestHead(_ credential: RequestCredential, from input: borrowing ByteBuffer) {
    scratch.callerHost.removeAll()
    if admission.route.preservesHost {
      scratch.callerHost.append(input.bytes.extracting(scratch.requestParser.head.authority))
    }
    RequestRewriting.write(
      scratch.requestParser.head, input, path: scratch.path, usesNormalPath: admission.usesNormalPath,
      framing: admission.framing, asksForWebSocket: admission.asksForWebSocket, route: admission.route,
      ingress: connection.ingress, credential: credential,
      identity: scratch.identity, pseudonym: connection.state.service.pseudonym,
      propagatesTrace: connection.state.service.tracer?.rules.propagates ?? true,
      into: &scratch.requestOutput)
  }

  /// Drives both directions to the end.
  @inline(never)
  mutating func run(whole: MonotonicTime) async -> End {
    while true {
      if isTunnel, connection.isCutOff { return tunnelEnded() }
      switch turn(whole: whole) {
      case .ended(let end): return end
      case .tookItsTurn: await Task.yield()
      case .waiting(let forCaller, let deadline):
        if await connection.waiter.wait(until: deadline) == .timedOut {
          return timedOut(isWholeOver: connection.state.loop.now >= whole, waitedForCaller: forCaller)
        }
        if downstream.channel.isHungUp { return .aborted(.abortedByDownstream) }
      }
    }
  }

  /// Whether the caller has sent nothing behind its head, and need not before the upstream has spoken.
  private var awaitsContinue: Bool { expectsContinue && !request.hasBegun && response == nil }

  private enum Turn {
    case ended(End)
    case tookItsTurn
    /// Nothing moves until one of the two connections is ready; both are watched.
    case waiting(forCaller: Bool, until: MonotonicTime)
  }

  /// Moves what can be moved.
  @inline(never)
  private mutating func turn(whole: MonotonicTime) -> Turn {
    let loop = connection.state.loop
    let timeouts = admission.route.timeouts
    var downstreamInterest: Readiness = .hangUp
    var upstreamInterest: Readiness = []
    var requestNeedsCaller = false
    var tookItsTurn = false
    if !isRequestSent, !isRequestAbandoned {
      switch stepRequest() {
      case .needsSource:
        requestNeedsCaller = true
        downstreamInterest.formUnion(downstream.receiveInterest)
      case .needsSink: upstreamInterest.formUnion(upstream.sendInterest)
      case .tookItsTurn: tookItsTurn = true
      case .finished:
        isRequestSent = true
        responseDeadline = loop.now + timeouts.responseHead
        if isTunnel {
          upstream.closeWrite()
          if isResponseSent { return .ended(completed()) }
        }
      case .failed(let failure):
        if let end = requestFailed(failure) { return .ended(end) }
      }
    }
    switch isResponseSent ? .idle : stepResponse() {
    case .idle: break
    case .needsSource: upstreamInterest.formUnion(upstream.receiveInterest)
    case .needsSink: downstreamInterest.formUnion(downstream.sendInterest)
    case .tookItsTurn: tookItsTurn = true
    case .finished:
      // A direction of a tunnel ends by itself; the other one goes on.
      guard isTunnel, !isRequestSent, !isRequestAbandoned else { return .ended(completed()) }
      isResponseSent = true
      downstream.closeWrite()
    case .failed(let end): return .ended(end)
    }
    if tookItsTurn, loop.now < whole { return .tookItsTurn }
    if requestNeedsCaller, awaitsContinue {
      // The head is with the upstream, whose turn it is.
      requestNeedsCaller = false
      if responseDeadline == .distantFuture { responseDeadline = loop.now + timeouts.responseHead }
    }
    if isTooSlow(needsContent: requestNeedsCaller, needsReader: downstreamInterest.contains(.write)) {
      isCallerTooSlow = true
      return .ended(response == nil ? .unanswered(.contentTooSlow, mayRepeat: false) : .aborted(.timedOut))
    }
    connection.waiter.watch(downstream.channel, downstreamInterest)
    connection.waiter.watch(upstream.channel, upstreamInterest)
    let isAwaitingHead = response == nil && (isRequestSent || awaitsContinue)
    return .waiting(
      forCaller: response == nil ? requestNeedsCaller : downstreamInterest.contains(.write),
      until: min(isAwaitingHead ? responseDeadline : loop.now + timeouts.idle, whole))
  }

  /// Whether nothing but the caller is waited for, and it takes its time. Content that an upstream does not need for its answer, and
  /// what is sent either way after a switch of protocols, may take as long as it likes.
  private mutating func isTooSlow(needsContent: Bool, needsReader: Bool) -> Bool {
    guard let rate = limits.callerRate, !isTunnel else { return false }
    return pace.isTooSlow(
      waitsForCaller: response == nil ? needsContent : needsReader,
      bytes: request.contentBytes &+ (response?.sentBytes ?? 0), rate: rate, window: admission.route.timeouts.idle,
      now: connection.state.loop.now)
  }

  // MARK: Out

  private mutating func stepRequest() -> BodyPump.Step {
    request.step(
      from: downstream, &scratch.requestInput, to: upstream, &scratch.requestOutput, &scratch.requestTrailers,
      limits.head, keeping: &scratch.keptContent)
  }

  /// What a request that cannot be completed means; `nil`: the response may still arrive.
  private mutating func requestFailed(_ failure: BodyPump.Failure) -> End? {
    switch failure {
    case .sink where isTunnel: return .aborted(.upstreamFailed, .reset)
    case .sink:
      // An upstream that has seen enough answers and closes; its answer may be waiting for us.
      isRequestAbandoned = true
      return nil
    case .source: return .aborted(.abortedByDownstream)
    case .sourceEnded:
      if response == nil { return .unanswered(.contentCut, mayRepeat: false) }
      // The caller has its answer and sees no reason to go on.
      isRequestAbandoned = true
      return nil
    case .tooLarge: return response == nil ? .unanswered(.tooLarge, mayRepeat: false) : .aborted(.answeredByProxy)
    case .chunk, .trailer:
      return response == nil ? .unanswered(.content, mayRepeat: false) : .aborted(.answeredByProxy)
    }
  }

  // MARK: Back

  enum ResponseStep {
    case idle
    case needsSource
    case needsSink
    case tookItsTurn
    case finished
    case failed(End)
  }

  private mutating func stepResponse() -> ResponseStep {
    while response == nil {
      if let step = readHead() { return step }
    }
    // The head is known: content follows.
    guard var pump = response else { return .needsSource }
    let step = pump.step(
      from: upstream, &scratch.responseInput, to: downstream, &scratch.responseOutput, &scratch.responseTrailers,
      limits.head, keeping: &scratch.keptContent)
    response = pump
    switch step {
    case .needsSource: return .needsSource
    case .needsSink: return .needsSink
    case .tookItsTurn: return .tookItsTurn
    case .finished: return .finished
    case .failed(.sink): return .failed(.aborted(.abortedByDownstream))
    case .failed(let failure): return .failed(.aborted(.upstreamFailed, UpstreamFault(failure)))
    }
  }

  /// Reads until a final head is known (`nil`), or says what is needed for that.
  private mutating func readHead() -> ResponseStep? {
    if let heldHead { return takeHead(heldHead) }
    if !scratch.responseInput.isEmpty {
      switch scratch.responseInput.withBytes({ scratch.responseParser.parse($0, limits: limits.head) }) {
      case .complete(let byteCount): return takeHead(byteCount)
      case .invalid(let error):
        return .failed(.unanswered(.upstreamMalformed(UpstreamFault(error)), mayRepeat: false))
      case .needsMore: break
      }
    }
    // Interim responses wait here for the caller to take them.
    while !scratch.responseOutput.isEmpty {
      switch scratch.responseOutput.send(to: downstream) {
      case .moved: continue
      case .wouldBlock: return .needsSink
      case .endOfStream, .failed: return .failed(.aborted(.abortedByDownstream))
      }
    }
    scratch.responseInput.reserve(1)
    switch scratch.responseInput.receive(from: upstream) {
    case .moved:
      hasReceived = true
      return nil
    case .wouldBlock: return .needsSource
    case .endOfStream, .failed: return .failed(.unanswered(.upstreamClosed, mayRepeat: !hasReceived))
    }
  }

  private mutating func takeHead(_ byteCount: Int) -> ResponseStep? {
    if scratch.responseParser.head.isInterim {
      interimResponses += 1
      if interimResponses > Self.interimLimit {
        return .failed(.unanswered(.upstreamMalformed(.interimAnswers), mayRepeat: false))
      }
      if scratch.responseParser.head.status == 100 { expectsContinue = false }
      if admission.version == .http11 {
        scratch.responseInput.withBytes {
          ResponseRewriting.writeInterim(
            scratch.responseParser.head, $0, route: admission.route, bearer: bearer, into: &scratch.responseOutput)
        }
      }
      scratch.responseInput.consume(byteCount)
      return nil
    }
    let framing: BodyFraming
    do throws(FramingError) {
      framing = try scratch.responseInput.withBytes { bytes throws(FramingError) in
        try BodyFraming.response(scratch.responseParser.head, bytes, requestMethod: admission.method)
      }
    } catch {
      return .failed(.unanswered(.upstreamMalformed(UpstreamFault(error)), mayRepeat: false))
    }
    if scratch.responseParser.head.status == 101 { return switchProtocols(byteCount) }
    status = scratch.responseParser.head.status
    if answeredAt == nil { answeredAt = connection.state.loop.now }
    binding.note(scratch)
    if holdsRefusal, status == 401 || status == 403 {
      holdsRefusal = false
      // Without a challenge a 403 is no matter of tokens.
      if status == 401 || scratch.responseParser.head.fields.contains(.wwwAuthenticate) {
        heldHead = byteCount
        return .failed(.refused)
      }
    }
    heldHead = nil
    upstreamPersistence = Persistence.after(response: scratch.responseParser.head, framing: framing)
    let plan = ResponsePlan(
      framing: framing, version: admission.version,
      closes: admission.persistence == .close || connection.isEnding || !isRequestSent)
    closesDownstream = plan.closes
    connection.state.clock.refreshDate()
    ResponseRewriting.write(
      scratch.responseParser.head, scratch.responseInput, plan: plan, version: admission.version,
      route: admission.route, callerHost: scratch.callerHost, bearer: bearer, date: connection.state.clock.dateText,
      reader: scratch.reader, pseudonym: connection.state.service.pseudonym,
      keepsConnectionAuthentication: binding.isBound && bearer == nil, into: &scratch.responseOutput)
    let nominations =
      plan.writesChunks
      ? scratch.responseInput.withBytes { scratch.responseParser.head.connection.nominations(in: $0) } : nil
    scratch.responseInput.consume(byteCount)
    response = BodyPump(framing, writesChunks: plan.writesChunks, bearer: bearer, nominations: nominations)
    return nil
  }

  private func completed() -> End {
    .completed(
      reusesUpstream: !isTunnel && isRequestSent && upstreamPersistence == .keepAlive && scratch.responseInput.isEmpty,
      keepsDownstream: !closesDownstream && isRequestSent)
  }

  private func timedOut(isWholeOver: Bool, waitedForCaller: Bool) -> End {
    if isTunnel { return tunnelEnded() }
    if response != nil { return .aborted(.timedOut, isWholeOver || waitedForCaller ? nil : .stalled) }
    if isWholeOver { return .unanswered(.exchangeTimedOut, mayRepeat: false) }
    return .unanswered(waitedForCaller ? .contentStalled : .upstreamStalled, mayRepeat: false)
  }
}
