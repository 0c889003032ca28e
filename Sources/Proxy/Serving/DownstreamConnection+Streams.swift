// HTTP/2 on a caller's connection: bytes to the session and from it, a place for each stream, and the end. The session
// does no I/O; DownstreamStream serves the requests.

internal import Bytes
internal import HTTP
internal import HTTP2
internal import HTTPClient
internal import Platform
internal import Routing
internal import Telemetry

extension DownstreamConnection {
  /// Bytes that wait for the socket at which no more frames are made, and none are read.
  private static let outputLimit = 64 * 1024

  /// Serves the connection to its end. `buffers` may hold what has arrived of it.
  func serveStreams(_ buffers: CallerBuffers) async {
    home.current.metrics.add(home.current.service.metrics.http2Connections, 1)
    defer { home.current.metrics.add(home.current.service.metrics.http2Connections, -1) }
    let multiplexer = Multiplexer(
      CallerSession(
        SessionLimits(
          head: limits.head, streams: limits.streams, window: max(facts.state.service.bufferSize, 16 * 1024),
          isSecure: stream.tls != nil, permitsTunnels: facts.state.service.plan.routes.contains { $0.allowsWebSocket }),
        home.lent.streams),
      home.lent, buffers, at: home.loop.now)
    var end = turn(multiplexer)
    while end == .none || end == .more {
      if end == .more {
        await Task.yield()
      } else {
        let wait = beginPause(multiplexer)
        _ = await waiter.wait(until: wait.until)
        endPause(wait)
      }
      end = turn(multiplexer)
    }
    multiplexer.session.breakAll()
    dispatch(multiplexer)
    while !multiplexer.streams.isEmpty { _ = await waiter.wait(until: .distantFuture) }
    if end == .inOrder { await lingerBeforeClose(multiplexer.buffers) }
    multiplexer.giveBackBuffers()
  }

  private enum End {
    case none
    /// None, and more has arrived than one turn reads: others get theirs first.
    case more
    /// Behind frames that are to arrive before it.
    case inOrder
    case lost
  }

  // MARK: Moving bytes

  /// Moves what can be moved.
  private func turn(_ multiplexer: Multiplexer) -> End {
    let (session, buffers) = (multiplexer.session, multiplexer.buffers)
    if multiplexer.times.isStalled(limits, at: home.loop.now) { return .lost }
    var allowance = TurnAllowance()
    while true {
      if !buffers.input.isEmpty {
        let (bytes, frames) = (buffers.input.count, session.frameCount)
        let isFine = buffers.input.withBytes { session.receive($0, at: home.loop.now.nanoseconds) }
        buffers.input.removeAll()
        dispatch(multiplexer)
        if !isFine || session.abuse != nil { return endSession(multiplexer) }
        allowance.spend(bytes: bytes, frames: session.frameCount - frames)
      }
      guard !allowance.isSpent, buffers.output.count < Self.outputLimit else { break }
      buffers.input.reserve(16 * 1024)
      guard case .moved = receive(buffers) else { break }
    }
    if stream.channel.descriptor < 0 || hasEnded { return .lost }
    note(multiplexer)
    leave(multiplexer)
    if isCutOff { multiplexer.abandon() }
    guard flush(multiplexer) else { return .lost }
    let isServed = multiplexer.streams.isEmpty && buffers.output.isEmpty
    let mayEnd = multiplexer.times.ends(
      isServed: isServed, isAwaited: session.hasStreams && !mustEnd, limits, at: home.loop.now)
    if buffers.output.isEmpty, session.isOver || mayEnd || isServed && isCutOff { return .inOrder }
    return allowance.isSpent && stream.mayReceive && buffers.output.count < Self.outputLimit ? .more : .none
  }

  private func receive(_ buffers: CallerBuffers) -> IOOutcome {
    let outcome = buffers.input.receive(from: stream)
    switch outcome {
    case .moved, .wouldBlock: break
    case .endOfStream, .failed: hasEnded = true
    }
    return outcome
  }

  /// Writes frames as long as the socket takes them. False: the connection is lost.
  private func flush(_ multiplexer: Multiplexer) -> Bool {
    let buffers = multiplexer.buffers
    while true {
      if !makeFrames(multiplexer) { return false }
      if buffers.output.isEmpty { return true }
      switch buffers.output.send(to: stream) {
      case .moved: multiplexer.times.moved()
      case .wouldBlock: return true
      case .endOfStream, .failed: return false
      }
    }
  }

  /// Makes frames of what the streams have, which leave with the next turn. False: the connection is lost.
  @discardableResult
  func makeFrames(_ multiplexer: Multiplexer) -> Bool {
    if !multiplexer.session.write(to: &multiplexer.buffers.output, limit: Self.outputLimit) { return false }
    dispatch(multiplexer)
    return true
  }

  /// Ends a session that cannot go on, and sends the reason as far as the socket takes it.
  private func endSession(_ multiplexer: Multiplexer) -> End {
    guard let abuse = multiplexer.session.abuse else {
      _ = flush(multiplexer)
      return .inOrder
    }
    let (state, peer) = (facts.state, String(decoding: facts.ingress.peer, as: UTF8.self))
    state.metrics.add(state.service.metrics.limits[Limit.http2Abuse.position])
    state.service.process.log.warning(
      "HTTP/2 connection ended for abuse",
      ["caller": .string(peer), "reason": .string(abuse.rawValue), "next": .next(.http2Abuse)])
    multiplexer.session.writeCalm(to: &multiplexer.buffers.output)
    _ = multiplexer.buffers.output.send(to: stream)
    return .inOrder
  }

  private struct Pause {
    var until: MonotonicTime
    var isUnfinished: Bool
  }

  /// Watches the socket for what is needed, besides the streams.
  private func beginPause(_ multiplexer: Multiplexer) -> Pause {
    note(multiplexer)
    let (times, waitingBytes) = (multiplexer.times, multiplexer.buffers.output.count)
    if waitingBytes > 0 { waiter.watch(stream.channel, stream.sendInterest) } else { multiplexer.giveBackBuffers() }
    if waitingBytes < Self.outputLimit {
      // TLS may hold records of which the socket says nothing.
      if stream.mayReceive { waiter.signal() }
      waiter.watch(stream.channel, stream.receiveInterest)
    }
    // Asked for its place once: it ends when the caller has read what it gets.
    let headSince = multiplexer.streams.isEmpty && !isEvicted ? times.headSince : nil
    if isEvicted {
      waitingSince = nil
    } else if let headSince {
      beginsUnfinished(since: headSince)
    } else if let idleSince = times.idleSince {
      waitingSince = times.isNew ? idleSince + Self.newcomersTime : idleSince
    } else {
      waitingSince = multiplexer.makesRoomSince
    }
    isIdle = true
    return Pause(until: times.deadline(limits, isEnding: isLeaving), isUnfinished: headSince != nil)
  }

  private func note(_ multiplexer: Multiplexer) {
    multiplexer.times.note(
      isUnused: multiplexer.streams.isEmpty, isInHead: multiplexer.session.isInHead,
      hasOutput: !multiplexer.buffers.output.isEmpty, at: home.loop.now)
  }

  private func endPause(_ pause: Pause) {
    isIdle = false
    if pause.isUnfinished { endsUnfinished() } else { waitingSince = nil }
  }

  // MARK: Streams

  /// Tells the streams what has changed, and gives new ones a place.
  private func dispatch(_ multiplexer: Multiplexer) {
    multiplexer.session.takeChanges { stream, changes in
      if changes.contains(.began) {
        begin(stream, multiplexer)
      } else {
        multiplexer.streams[stream.id]?.changed(changes)
      }
    }
  }

  private func begin(_ stream: SessionStream, _ multiplexer: Multiplexer) {
    let session = multiplexer.session
    // A stream counts as a connection, besides the first: it takes as much memory and as many descriptors.
    let isCounted = !multiplexer.streams.isEmpty
    // A request that was reset at once needs no answer.
    if stream.isBroken { return session.finish(stream) }
    guard facts.state === home.current || follow() else { return session.refuse(stream) }
    guard !isCounted || facts.state.service.hasRoomForConnections else {
      facts.state.metrics.add(facts.state.service.metrics.limits[Limit.connections.position])
      return session.refuse(stream)
    }
    DownstreamStream.take(on: home).begin(stream, of: multiplexer, on: self, isCounted: isCounted)
  }

  /// Takes leave in the two steps of RFC 9113 §6.8, when it is time.
  private func leave(_ multiplexer: Multiplexer) {
    let session = multiplexer.session
    switch multiplexer.times.leaves(
      isEnding: isLeaving, mustEnd: mustEnd, isAnswered: session.pongCount > 0, limits, at: home.loop.now)
    {
    case .announced:
      session.announceEnd()
      for stream in multiplexer.streams.values { stream.leave() }
    case .final:
      session.refuseMore()
      // Streams that wait for a token are answered now if the place is needed.
      if mustEnd { for stream in multiplexer.streams.values { stream.waiter.signal() } }
    case .some(.none), nil: break
    }
  }
}
