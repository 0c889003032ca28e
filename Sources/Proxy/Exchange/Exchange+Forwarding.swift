// One attempt at the upstream after the other: a connection for each, and what becomes of it. Whether there is another
// attempt is decided by ExchangeState; Exchange+Relay moves the bytes of a connection.

internal import Bytes
internal import HTTP
internal import HTTP2
internal import HTTPClient
internal import Identity
internal import Platform
internal import Routing
internal import Telemetry
internal import Tokens

extension Exchange {
  /// Forwards the request and its answer. Whether the caller's connection can carry another exchange.
  func forward(to route: Route) async throws(ExchangeFailure) -> Bool {
    let pool = state.pools[route.originIndex]
    let began = state.loop.now
    defer { if request.record.upstream == nil { request.record.upstream = (state.loop.now - began).nanoseconds } }
    let attempt = state.lent.attempts.take(state.service.limits.head)
    defer { state.lent.attempts.giveBack(attempt) }
    var life = ExchangeState(terms(route))
    beginContent(route)
    var sources = life.begin()
    var isAlone = needsOwnConnection(of: pool)
    while true {
      request.trace?.beginAttempt(request, now: state.loop.now)
      var upstream =
        if let open = openConnection(sources, of: pool, for: route, isAlone: isAlone) {
          open
        } else {
          try await connect(pool, route, isAlone: isAlone)
        }
      if request.admitted.asksForWebSocket, upstream.isHTTP2, try await !permitsWebSocket(upstream, of: pool, route) {
        isAlone = true
        upstream = try await connect(pool, route, isAlone: true)
      }
      request.record.upstreamIsHTTP2 = upstream.isHTTP2
      if upstream.isHTTP2 { state.metrics.add(state.service.metrics.upstreamHTTP2Requests) }
      beginAttempt(attempt, to: route)
      life.connected(isReused: upstream.isReused, contentHasBegun: request.content.hasBegun)
      request.trace?.sends(attempt)
      relaying: while true {
        switch await relay(&life, attempt, on: upstream) {
        case .hold:
          switch try await settleRefusal(&life, attempt, upstream, pool, route) {
          case .passOn: continue relaying
          case .replay(let allowed): sources = allowed
          case .over(let keepsCaller): return keepsCaller
          }
        case .retry(let allowed):
          request.trace?.endAttempt(
            route, pool.origin, status: attempt.status, error: UpstreamFault.closed.rawValue,
            now: state.loop.now)
          if case .demandsHTTP11 = upstream.streamFault { isAlone = true }
          pool.giveBack(upstream, .unusable)
          state.metrics.add(state.service.metrics.retries)
          sources = allowed
        case .finish(let ending):
          if let answered = attempt.answeredAt { request.record.upstream = (answered - began).nanoseconds }
          return try end(ending, attempt, upstream, pool, route)
        }
        // Not the output to the caller: it may hold the rest of an interim answer.
        attempt.clear()
        break
      }
    }
  }

  /// Records how an exchange ended, and gives back its connection. False: the caller's connection is to be closed.
  private func end(
    _ ending: ExchangeState.Ending, _ attempt: UpstreamAttempt, _ upstream: UpstreamConnection, _ pool: OriginPool,
    _ route: Route
  ) throws(ExchangeFailure) -> Bool {
    request.record.bytesIn = request.content.contentBytes
    request.record.bytesOut = attempt.answer.contentBytes
    request.record.status = UInt16(attempt.status)
    request.trace?.endAttempt(
      route, pool.origin, status: attempt.status, error: ending.errorType, now: state.loop.now)
    switch ending {
    case .completed(let reusesUpstream, let keepsCaller):
      state.upstreams.answered(route.index)
      if attempt.status == 101 {
        // On a stream, what has not ended would be reset.
        caller.stream.closeWrite()
        upstream.stream.closeWrite()
      }
      let isBound = attempt.binding.isBound || upstream.isReserved
      if reusesUpstream, isBound, !request.credential.replacesCallers, keepsCaller, !upstream.isHTTP2 {
        caller.boundUpstreams.keep(upstream, of: pool)
      } else {
        pool.giveBack(upstream, reusesUpstream && !isBound ? .reusable : .unusable)
      }
      return keepsCaller
    case .goingAway:
      state.upstreams.answered(route.index)
      pool.giveBack(upstream, .unusable)
    case .interrupted(let interruption):
      pool.giveBack(upstream, .unusable, timedOut: interruption == .timedOut(.stalled))
      settle(interruption, route)
    case .failed(let failure):
      pool.giveBack(
        upstream, .unusable, timedOut: failure == .upstreamStalled || failure == .exchangeTimedOut)
      let failure = ExchangeFailure.delivery(failure)
      if let fault = failure.upstreamFault { note(fault.words, route) }
      throw failure
    }
    return false
  }

  // MARK: Refusals

  private enum RefusalEnd {
    case passOn
    case replay(ExchangeState.ConnectionSources)
    case over(keepsCaller: Bool)
  }

  /// Looks for what helps a request whose token was refused, and does with the held answer what follows.
  private func settleRefusal(
    _ life: inout ExchangeState, _ attempt: UpstreamAttempt, _ upstream: UpstreamConnection, _ pool: OriginPool,
    _ route: Route
  ) async throws(ExchangeFailure) -> RefusalEnd {
    let refusedAt = state.loop.now
    var remedy = ExchangeState.Remedy.none
    var failure: AcquisitionError?
    var page: ProxyResponse?
    do throws(AcquisitionError) {
      if let value = try await anotherToken(for: route, attempt, isReplay: life.isReplay) {
        request.credential = request.credential.replaced(by: value)
        remedy = .token
      }
    } catch {
      failure = error
    }
    if failure?.assertionRefused != nil {
      remedy = .problem
    } else if remedy == .none {
      page = await signInPage(insteadOfRefusalOf: route, failure?.interactionRequired)
      if page != nil { remedy = .signInPage }
    }
    switch life.refusalSettled(remedy, callerMustEnd: caller.isEnding) {
    case .answer(let plan):
      writeAnswer(plan, attempt)
      return .passOn
    case .drop(let framing, then: let replacement):
      if case .signInPage(let keepsCaller) = replacement, let page {
        write(page, withFieldsOf: attempt, route, keepsConnection: keepsCaller)
      }
      request.trace?.endAttempt(route, pool.origin, status: attempt.status, error: nil, now: refusedAt)
      let isClean = framing.map { discardAnswer(attempt, $0, from: upstream.stream) } ?? false
      pool.giveBack(upstream, isClean ? .reusable : .unusable)
      switch replacement {
      case .replay(let sources): return .replay(sources)
      case .problem:
        state.upstreams.answered(route.index)
        if let failure { throw .token(failure) }
        return .over(keepsCaller: false)
      case .signInPage(let keepsCaller):
        state.upstreams.answered(route.index)
        let isDelivered = await flush()
        return .over(keepsCaller: isDelivered && keepsCaller)
      }
    }
  }

  private func terms(_ route: Route) -> ExchangeState.Terms {
    ExchangeState.Terms(
      request: request.admitted, credential: request.credential.owner, responseHead: route.timeouts.responseHead,
      idle: route.timeouts.idle, whole: request.whole, callerRate: state.service.limits.callerRate)
  }

  /// Prepares to send the request's content, and to keep it as far as it may have to be sent once more.
  private func beginContent(_ route: Route) {
    let admitted = request.admitted
    var trailers = ForwardedTrailers()
    if admitted.framing == .chunked {
      trailers.nominations = request.headBytes.withBytes { request.head.connection.nominations(in: $0) }
      trailers.callers = facts.listener.callers
      trailers.route = route
    }
    // HTTP/2 has ways to say that a request was not processed.
    let mayRepeat = request.credential.owner == .proxy || state.pools[route.originIndex].mayBeShared
    let replayLimit = mayRepeat ? route.token.replayLimit : 0
    request.content = BodyPump(
      admitted.framing, writesChunks: admitted.framing == .chunked, limit: state.service.limits.bodyBytes,
      keepLimit: replayLimit > 0 ? replayLimit : nil, trailers: trailers, bufferSize: state.service.bufferSize)
  }

  /// Another token to send the request with once more; nil if the first refusal is final.
  private func anotherToken(
    for route: Route, _ attempt: UpstreamAttempt, isReplay: Bool
  ) async throws(AcquisitionError) -> BearerValue? {
    guard let refused = request.credential.bearer else { return nil }
    let refusal = Refusal(
      token: refused, route: route, status: attempt.isUnauthenticated ? 401 : attempt.status,
      challenge: challenge(of: attempt),
      isReplayable: !request.admitted.hasContent || request.content.keepLimit != nil, isReplay: isReplay)
    return try await answerRefusal(refusal)
  }

  @inline(never)
  private func challenge(of attempt: UpstreamAttempt) -> BearerChallengeReading {
    attempt.input.withBytes { BearerChallengeReading(AuthenticationChallengeList(attempt.head.fields, in: $0)) }
  }

  /// The sign-in page for a browser that navigates to a page beyond its sign-in; nil if the upstream's
  /// own answer is passed on.
  /// - Parameter required: the sign-in without which the provider gives no other token.
  private func signInPage(
    insteadOfRefusalOf route: Route, _ required: InteractionRequired?
  ) async -> ProxyResponse? {
    guard facts.listener.signIn != nil, !request.admitted.hasContent else { return nil }
    let reason = SignInPages.reason(required?.reason, request.record.challenge)
    if required == nil, reason != nil {
      guard await state.service.process.signInRequirements.requirement(of: route.name) != nil else { return nil }
    }
    request.returnTo = request.headBytes.withBytes { Self.target(request.head, $0) }
    return await signInPage(reason: reason)
  }

  /// Writes a page with the status and the fields of an upstream's answer, but for those that are about its content.
  @inline(never)
  private func write(
    _ page: ProxyResponse, withFieldsOf attempt: UpstreamAttempt, _ route: Route, keepsConnection: Bool
  ) {
    attempt.input.withBytes {
      ResponseRewriting.write(
        attempt.head, $0, dropping: ResponseRewriting.contentFields, route: route, credential: request.credential,
        into: &buffers.output)
    }
    writeFields(page)
    if !attempt.head.fields.contains(.date) { writeDate() }
    writeEnd(keepsConnection: keepsConnection)
    writeContent(page)
    request.record.status = UInt16(attempt.status)
  }

  // MARK: Connections

  /// True if the request may not go on a connection that others use at the same time: its caller authenticates the
  /// connection.
  private func needsOwnConnection(of pool: OriginPool) -> Bool {
    pool.mayBeShared && UpstreamBinding(request).isBound
  }

  /// True if a stream can carry the WebSocket. Otherwise it is given back, and the request goes on a connection with
  /// HTTP/1.1, if the route permits that.
  @inline(never)
  private func permitsWebSocket(
    _ upstream: UpstreamConnection, of pool: OriginPool, _ route: Route
  ) async throws(ExchangeFailure) -> Bool {
    do throws(UpstreamError) {
      let deadline = min(state.loop.now + route.timeouts.connect, request.whole)
      if try await upstream.permitsWebSocket(caller.waiter, until: deadline) { return true }
      if pool.origin.versions != .auto { throw .withoutWebSockets }
      pool.giveBack(upstream, .reset)
      return false
    } catch {
      pool.giveBack(upstream, .reset)
      throw unreachable(error, pool, route)
    }
  }

  /// A connection that is open and may carry the request; nil if a new one is needed.
  private func openConnection(
    _ sources: ExchangeState.ConnectionSources, of pool: OriginPool, for route: Route, isAlone: Bool
  ) -> UpstreamConnection? {
    var upstream: UpstreamConnection?
    if sources.contains(.callersOwn) { upstream = caller.boundUpstreams.take(of: pool) }
    if upstream == nil, sources.contains(.pool), !isAlone {
      let admitted = request.admitted
      upstream = pool.lease(
        looksOnceMore: !RetryRule.survivesRepetition(method: admitted.method, framing: admitted.framing))
    }
    if upstream != nil { state.metrics.add(state.service.metrics.upstreamConnections[route.index, 0]) }
    return upstream
  }

  private func connect(
    _ pool: OriginPool, _ route: Route, isAlone: Bool
  ) async throws(ExchangeFailure) -> UpstreamConnection {
    let state = state
    let deadline = min(state.loop.now + route.timeouts.connect, request.whole)
    do throws(UpstreamError) {
      let upstream = try await connectMakingRoom(pool, until: deadline, isAlone: isAlone)
      state.metrics.add(state.service.metrics.upstreamConnections[route.index, 1])
      return upstream
    } catch {
      throw unreachable(error, pool, route)
    }
  }

  /// Records the reason why the request reaches no upstream.
  @inline(never)
  private func unreachable(_ error: UpstreamError, _ pool: OriginPool, _ route: Route) -> ExchangeFailure {
    state.metrics.add(state.service.metrics.upstreamConnections[route.index, 2])
    request.trace?.endAttempt(
      route, pool.origin, status: 0, error: ExchangeFailure.unreachable(error).errorType, now: state.loop.now)
    state.service.process.log.warning(
      "upstream unreachable",
      [
        "route": .string(route.name), "host": .string(pool.origin.host), "reason": .string(error.reason),
        "next": .string(state.service.description.commands.liveCheck(route: route.name)),
      ],
      of: request.logRequest)
    note(error.reason, route)
    return .unreachable(error)
  }

  /// The pause before a request looks again for a descriptor, if no connection can be spared.
  private static var descriptorPause: TimeSpan { .milliseconds(20) }

  /// Connects; if there is no descriptor, in the place of a connection on which there is no request, or when another
  /// request has ended.
  private func connectMakingRoom(
    _ pool: OriginPool, until deadline: MonotonicTime, isAlone: Bool
  ) async throws(UpstreamError) -> UpstreamConnection {
    while true {
      do throws(UpstreamError) {
        return try await pool.connect(caller.waiter, until: deadline, isAlone: isAlone)
      } catch {
        guard error.isExhaustion, state.loop.now < deadline, !caller.isCutOff else { throw error }
        // A caller accepted a moment ago begins to wait in this turn, and in a flood takes what was given up just now.
        if await caller.giveUpDescriptor() { continue }
        _ = await caller.waiter.wait(until: min(deadline, state.loop.now + Self.descriptorPause))
      }
    }
  }

  /// Ends an exchange that broke. Not inlined: it has no place in a frame that waits.
  @inline(never)
  private func settle(_ interruption: ExchangeState.Interruption, _ route: Route) {
    caller.stream.reset()
    request.record.outcome = interruption.outcome
    request.record.fault = interruption.fault
    if let limit = interruption.limit { state.metrics.add(state.service.metrics.limits[limit.position]) }
    if let fault = interruption.fault { note(fault.words, route) }
  }

  /// Remembers for /status that the upstream fails.
  private func note(_ reason: String, _ route: Route) {
    state.upstreams.failed(route.index, reason, now: state.clock.wallClock().seconds)
  }
}
