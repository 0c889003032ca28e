// A connection to an upstream with HTTP/2: bytes between its socket and its session, in a task of its own. Exchanges
// see its streams as connections of theirs.

package import Bytes
internal import HTTP
package import HTTP2
package import Platform

/// A connection whose streams carry exchanges. Confined to its loop.
final class SharedConnection {
  private let socket: ByteStream
  private let session: UpstreamSession
  private let waiter: Waiter
  private let id: PoolState.ID
  /// Keeps it as long as there are streams.
  private let pool: OriginPool
  /// True if it carries one exchange and ends with it.
  let isAlone: Bool
  /// True if an exchange was completed on it.
  var wasUsed = false
  /// True if it is closed, or cannot be used any more.
  private(set) var isLost = false
  // True if the pool knows that no further exchange can begin.
  private var hasLeft = false
  private var capacity: Int?
  private var streams: [ObjectIdentifier: ByteStream] = [:]
  /// Streams that are over, for those that begin.
  private var spare = SpareObjects<UpstreamConnection>()
  private var streamCount: UInt64 = 0
  private let since: MonotonicTime
  private var input = ByteBuffer(capacity: 16 * 1024)
  private var output = ByteBuffer(capacity: 16 * 1024)
  private var liveness: Liveness
  /// The exchanges that wait for the peer's settings.
  private var unsettled: [Waiter] = []

  /// Bytes that wait for the socket at which no more frames are made.
  private static let outputLimit = 64 * 1024

  init(_ socket: ByteStream, _ id: PoolState.ID, of pool: OriginPool, head: HeadLimits, isAlone: Bool) {
    self.socket = socket
    self.id = id
    self.pool = pool
    self.isAlone = isAlone
    session = UpstreamSession(
      SessionLimits(head: head, streams: isAlone ? 1 : Self.streams, window: Self.window, isSecure: socket.tls != nil))
    waiter = Waiter(socket.channel.loop)
    since = .now
    liveness = Liveness(at: since)
    pool.countsShared(1)
  }

  /// Streams at once at most, whatever the upstream permits.
  static let streams = 100
  /// Bytes of each direction of a stream that wait here at most. A connection gets as much for all its streams.
  static let window = 256 * 1024

  var tls: TLSSession? { socket.tls }

  /// The connection in `/status`.
  var report: SharedConnectionReport {
    SharedConnectionReport(
      host: pool.origin.host, port: pool.origin.port, streams: streams.count, streamsInAll: streamCount,
      age: waiter.loop.now - since)
  }

  /// Takes no further exchange if nothing was heard of the upstream since then.
  func distrust(silentSince began: MonotonicTime) {
    if liveness.isSilent(since: began) { leave() }
  }

  /// True if an exchange may begin.
  var takesStreams: Bool { !isLost && session.takesStreams }

  // MARK: Streams

  /// A stream for an exchange.
  func open() -> UpstreamConnection {
    streamCount += 1
    let now = waiter.loop.now
    if let lent = spare.take(), let stream = lent.renew(isReused: wasUsed, at: now) {
      session.reopen(stream)
      streams[ObjectIdentifier(stream)] = lent.stream
      return lent
    }
    let stream = session.open()
    let bytes = UpstreamStream(stream, on: self, at: now)
    let carried = ByteStream(carriedBy: bytes, loop: waiter.loop)
    streams[ObjectIdentifier(stream)] = carried
    return UpstreamConnection(carried, id, bytes, isReused: wasUsed)
  }

  /// Keeps a finished stream for another exchange, if nothing of it is left.
  func keep(_ lent: UpstreamConnection, _ stream: SessionStream) {
    if !isLost, session.mayReopen(stream) { spare.giveBack(lent) }
  }

  /// Drops the streams that were not needed since the last call.
  func sweep() { _ = spare.sweep() }

  /// Waits for the peer's settings. True if it takes WebSockets on streams; nil at the deadline. A connection that is
  /// lost has the answer for the stream itself.
  func permitsTunnels(_ caller: Waiter, until deadline: MonotonicTime) async -> Bool? {
    while session.capacity == nil, !isLost {
      unsettled.append(caller)
      let wake = await caller.wait(until: deadline)
      unsettled.removeAll { $0 === caller }
      if wake == .timedOut { return nil }
    }
    return session.permitsTunnels || isLost
  }

  /// Ends a stream. What of it the upstream still sends is dropped.
  func finish(_ stream: SessionStream) {
    // A reset would overtake the frame that closes a WebSocket.
    if stream.isTunnel, stream.isOwed { _ = flush() }
    streams[ObjectIdentifier(stream)] = nil
    session.finish(stream)
    if session.hasOutput { waiter.signal() }
  }

  func take(from stream: SessionStream, into buffer: UnsafeMutableRawBufferPointer) -> IOOutcome {
    outcome(session.take(from: stream, into: buffer))
  }

  func give(_ bytes: UnsafeRawBufferPointer, to stream: SessionStream) -> IOOutcome {
    outcome(session.give(bytes, to: stream))
  }

  /// Ends our direction of a stream.
  func end(_ stream: SessionStream) {
    session.end(stream)
    waiter.signal()
  }

  private func outcome(_ move: Session.Move) -> IOOutcome {
    // Frames leave with the connection's next turn, those of all streams together.
    if session.hasOutput { waiter.signal() }
    return IOOutcome(move)
  }

  // MARK: Bytes of the connection

  /// Moves bytes until the connection ends.
  func serve() async {
    turn()
    while !isLost {
      // More has arrived than one turn reads: the others come first.
      if socket.mayReceive {
        await Task.yield()
      } else {
        waiter.watch(socket.channel, socket.receiveInterest)
        if !output.isEmpty { waiter.watch(socket.channel, socket.sendInterest) }
        _ = await waiter.wait(until: streams.isEmpty ? .distantFuture : liveness.due)
      }
      turn()
    }
    waiter.close()
  }

  /// Learns of what has arrived, before the loop hears of it.
  func lookOnceMore() {
    guard !isLost, socket.channel.looksOnceMore() else { return }
    turn()
    if socket.mayReceive { waiter.signal() }
  }

  /// Moves what can be moved, and tells streams and pool.
  private func turn() {
    if isLost { return }
    let isFine = receive() && ask() && flush()
    tellStreams()
    if !isFine || session.isOver { return lose() }
    if session.capacity != nil { wakeUnsettled() }
    tellPool()
  }

  private func wakeUnsettled() {
    for waiter in unsettled { waiter.signal() }
  }

  private func receive() -> Bool {
    var allowance = TurnAllowance()
    while !allowance.isSpent {
      input.reserve(16 * 1024)
      switch input.receive(from: socket) {
      case .moved(let count):
        liveness.heardSomething(at: waiter.loop.now)
        let frames = session.frameCount
        let isFine = input.withBytes { session.receive($0, at: waiter.loop.now.nanoseconds) }
        input.removeAll()
        allowance.spend(bytes: count, frames: session.frameCount - frames)
        if isFine { continue }
        // The reason, as far as the socket takes it.
        if session.abuse == nil { _ = flush() } else { sayCalm() }
        return false
      case .wouldBlock: return true
      case .endOfStream, .failed: return false
      }
    }
    return true
  }

  private func sayCalm() {
    session.writeCalm(to: &output)
    _ = output.send(to: socket)
  }

  /// Asks for a sign of life, if one is due. False: none has come.
  private func ask() -> Bool {
    if streams.isEmpty { return true }
    switch liveness.action(at: waiter.loop.now) {
    case .wait: return true
    case .ask:
      session.ping()
      return true
    case .giveUp: return false
    }
  }

  private func flush() -> Bool {
    while true {
      if !session.write(to: &output, limit: Self.outputLimit) { return false }
      if output.isEmpty { return true }
      switch output.send(to: socket) {
      case .moved: break
      case .wouldBlock: return true
      case .endOfStream, .failed: return false
      }
    }
  }

  private func tellStreams() {
    session.takeChanges { stream, changes in
      var readiness: Readiness = []
      if changes.contains(.readable) { readiness.insert(.read) }
      if changes.contains(.writable) { readiness.insert(.write) }
      if changes.contains(.broken) { readiness = [.read, .write] }
      streams[ObjectIdentifier(stream)]?.announce(readiness)
    }
  }

  private func tellPool() {
    if isAlone { return }
    if let now = session.capacity, now != capacity, !hasLeft {
      capacity = now
      pool.capacityChanged(id, to: now)
    }
    if !session.takesStreams { leave() }
  }

  private func leave() {
    if hasLeft { return }
    hasLeft = true
    pool.leaves(id)
  }

  // MARK: The end

  /// The connection is of no further use, to no exchange.
  private func lose() {
    if isLost { return }
    end()
    leave()
  }

  private func end() {
    isLost = true
    // They keep this connection.
    spare.removeAll()
    pool.countsShared(-1)
    session.breakAll()
    tellStreams()
    wakeUnsettled()
    socket.close()
    waiter.signal()
  }

  /// Ends the connection in order; there are no exchanges on it.
  func close() {
    if isLost { return }
    hasLeft = true
    session.refuseMore()
    _ = flush()
    end()
  }
}

/// The bytes of a stream, in the place of a socket's.
final class UpstreamStream: StreamCarrier {
  let connection: SharedConnection
  let stream: SessionStream
  private(set) var began: MonotonicTime

  init(_ stream: SessionStream, on connection: SharedConnection, at now: MonotonicTime) {
    began = now
    self.stream = stream
    self.connection = connection
  }

  /// Begins another exchange.
  func renew(at now: MonotonicTime) -> SessionStream {
    began = now
    return stream
  }

  func receive(into buffer: UnsafeMutableRawBufferPointer) -> IOOutcome { connection.take(from: stream, into: buffer) }
  func send(_ bytes: UnsafeRawBufferPointer) -> IOOutcome { connection.give(bytes, to: stream) }
  func end() { connection.end(stream) }
  func reset() { connection.finish(stream) }
}

/// A connection with HTTP/2 to an upstream, for people.
package struct SharedConnectionReport: Sendable, Equatable {
  package var host: String
  package var port: UInt16
  /// Exchanges in progress.
  package var streams: Int
  package var streamsInAll: UInt64
  package var age: TimeSpan
}

extension IOOutcome {
  /// The outcome for a stream that shares its connection.
  package init(_ move: Session.Move) {
    self =
      switch move {
      case .moved(let count): .moved(count)
      case .blocked: .wouldBlock
      case .ended: .endOfStream
      case .broken: .failed(.reset)
      }
  }
}
