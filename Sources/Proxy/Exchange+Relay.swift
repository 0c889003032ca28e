// Owns the part of an exchange that involves the upstream: leasing or making a connection, one attempt after the other, and
// what becomes of the connections. What happens on a connection is the Relay's.

internal import HTTP
internal import HTTPClient
internal import Identity
internal import Network
internal import Telemetry

extension Exchange {
  /// Relays the request and its response. Whether the caller's connection can carry another exchange.
  mutating func relay(
    _ admission: Admission, _ credential: RequestCredential, _ connection: DownstreamConnection, _ scratch: Scratch
  ) async throws(ExchangeFailure) -> Bool {
    let state = connection.state
    let route = admission.route
    let pool = state.pools[route.originIndex]
    let began = state.loop.now
    defer { if record.upstream == nil { record.upstream = (state.loop.now - began).nanoseconds } }
    var credential = credential
    var isReplay = false
    var isFirstAttempt = true
    while true {
      trace?.beginAttempt(scratch, now: state.loop.now)
      let upstream: UpstreamConnection
      // A replay that could not be repeated is not entrusted to a connection that may be dead.
      // A switch of protocols is for a connection of its own, which nobody can have closed meanwhile.
      if isFirstAttempt, !credential.replacesCallers, let own = connection.boundUpstreams.take(of: pool) {
        // What the caller authenticated before is the caller's, also for a switch of protocols.
        upstream = own
        state.metrics.add(state.service.metrics.upstreamConnections[route.index, 0])
      } else if isFirstAttempt, !admission.asksForWebSocket,
        !isReplay || RetryRule.survivesRepetition(method: admission.method, framing: admission.framing),
        let idle = pool.lease()
      {
        upstream = idle
        state.metrics.add(state.service.metrics.upstreamConnections[route.index, 0])
      } else {
        upstream = try await connect(pool, route, connection, scratch)
      }
      var relay = Relay(
        admission, connection, upstream, scratch, limits: state.service.limits, headBytes: headBytes,
        credential: credential, isReplay: isReplay)
      trace?.sends(scratch)
      if keepsHead, relay.hasContent {
        scratch.requestInput.consume(headBytes)
        keepsHead = false
      }
      var end = await relay.run(whole: whole)
      if case .refused = end, let refused = credential.bearer {
        let refusal = Refusal(
          token: refused, route: route, status: relay.status, isReplayable: relay.isReplayable,
          isReplay: isReplay)
        let refusedAt = state.loop.now
        if let value = await answerRefusal(refusal, connection, scratch) {
          trace?.endAttempt(route, pool.origin, status: relay.status, error: nil, now: refusedAt)
          pool.giveBack(upstream, relay.discardAnswer() ? .reusable : .unusable)
          credential = .bearer(value)
          scratch.replayed = relay.request
          isReplay = true
          isFirstAttempt = true
          continue
        }
        end = await relay.run(whole: whole)
      }
      record.bytesIn = relay.request.contentBytes
      record.bytesOut = relay.response?.contentBytes ?? 0
      record.status = UInt16(relay.status)
      if let answered = relay.answeredAt { record.upstream = (answered - began).nanoseconds }
      let attempt = Attempt(
        upstream: upstream, isFirst: isFirstAttempt, isTunnel: relay.isTunnel, isCallerTooSlow: relay.isCallerTooSlow,
        isBound: relay.binding.isBound || upstream.isReserved, isCallersOwn: !credential.replacesCallers)
      switch settle(end, attempt, admission, connection, scratch) {
      case .over(let keepsDownstream): return keepsDownstream
      case .failed(let failure): throw failure
      case .repeated: isFirstAttempt = false
      }
    }
  }

  /// What is left of an attempt that is over.
  private struct Attempt {
    var upstream: UpstreamConnection
    var isFirst: Bool
    var isTunnel: Bool
    var isCallerTooSlow: Bool
    /// Whether the upstream connection may be authenticated.
    var isBound: Bool
    /// Whether the request carried what the caller sent, and nothing of ours.
    var isCallersOwn: Bool
  }

  private enum AfterAttempt {
    case over(keepsDownstream: Bool)
    case failed(ExchangeFailure)
    case repeated
  }

  /// What becomes of the connections, and what goes on record. Not inlined: it has no place in a frame that waits.
  @inline(never)
  private mutating func settle(
    _ end: Relay.End, _ attempt: Attempt, _ admission: Admission, _ connection: DownstreamConnection, _ scratch: Scratch
  ) -> AfterAttempt {
    let state = connection.state
    let route = admission.route
    let pool = state.pools[route.originIndex]
    let upstream = attempt.upstream
    trace?.endAttempt(route, pool.origin, status: Int(record.status), error: end.errorType, now: state.loop.now)
    switch end {
    case .completed(let reusesUpstream, let keepsDownstream):
      state.service.upstreams.answered(route.index)
      if reusesUpstream, attempt.isBound, attempt.isCallersOwn, keepsDownstream {
        connection.boundUpstreams.keep(upstream, of: pool)
      } else {
        pool.giveBack(upstream, reusesUpstream && !attempt.isBound ? .reusable : .unusable)
      }
      if keepsHead, !attempt.isTunnel { scratch.requestInput.consume(headBytes) }
      return .over(keepsDownstream: keepsDownstream)
    case .aborted(let outcome, let fault):
      pool.giveBack(upstream, .unusable)
      connection.stream.reset()
      record.outcome = outcome
      record.fault = fault
      if outcome == .timedOut {
        let limit = attempt.isCallerTooSlow ? Limit.callerRate : .idle
        state.metrics.add(state.service.metrics.limits[limit.row])
      }
      if let fault { note(fault.words, route, state) }
      return .over(keepsDownstream: false)
    case .refused:
      preconditionFailure("a refusal is held once")
    case .unanswered(let failure, let mayRepeat):
      let wasReused = upstream.isReused
      pool.giveBack(upstream, .unusable)
      guard mayRepeat,
        RetryRule.permits(
          method: admission.method, framing: admission.framing, connectionWasReused: wasReused,
          isFirstAttempt: attempt.isFirst)
      else {
        if let fault = failure.upstreamFault { note(fault.words, route, state) }
        return .failed(failure)
      }
      state.metrics.add(state.service.metrics.retries)
      return .repeated
    }
  }

  private func connect(
    _ pool: OriginPool, _ route: Route, _ connection: DownstreamConnection, _ scratch: Scratch
  ) async throws(ExchangeFailure) -> UpstreamConnection {
    let state = connection.state
    let deadline = min(state.loop.now + route.timeouts.connect, whole)
    do throws(UpstreamError) {
      let upstream = try await connectMakingRoom(pool, connection, until: deadline)
      state.metrics.add(state.service.metrics.upstreamConnections[route.index, 1])
      return upstream
    } catch {
      state.metrics.add(state.service.metrics.upstreamConnections[route.index, 2])
      trace?.endAttempt(
        route, pool.origin, status: 0, error: ExchangeFailure.unreachable(error).errorType, now: state.loop.now)
      state.service.log.warning(
        "upstream unreachable",
        ["route": .string(route.name), "host": .string(pool.origin.host), "reason": .string(error.reason)],
        of: scratch.logRequest)
      note(error.reason, route, state)
      throw .unreachable(error)
    }
  }

  /// Connects; where there is no descriptor, in the place of connections on which there is no request.
  private func connectMakingRoom(
    _ pool: OriginPool, _ connection: DownstreamConnection, until deadline: MonotonicTime
  ) async throws(UpstreamError) -> UpstreamConnection {
    var isFirst = true
    while true {
      do throws(UpstreamError) {
        return try await pool.connect(connection.waiter, until: deadline)
      } catch {
        // Whoever was let in a moment ago begins to wait in this turn, and in a flood takes what was given up just now. Each time
        // round one connection less is left to give up.
        guard error.isExhaustion, connection.giveUpDescriptor() || isFirst, connection.state.loop.now < deadline else {
          throw error
        }
        isFirst = false
        await Task.yield()
      }
    }
  }

  /// Keeps in mind that the upstream fails, for whoever looks at the status.
  private func note(_ reason: String, _ route: Route, _ state: LoopState) {
    state.service.upstreams.failed(route.index, reason, now: state.wallClock().seconds)
  }
}
