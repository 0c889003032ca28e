// One stream of a caller's HTTP/2 connection. Its request is served by a task of its own, as that of a connection with
// HTTP/1.1 is: the stream's bytes have the form of HTTP/1.1 here.

internal import Bytes
internal import HTTP
internal import HTTP2
internal import HTTPClient
internal import Platform
internal import Routing
internal import Telemetry

/// A stream and its request. Confined to its connection's loop.
final class DownstreamStream: RequestCarrier {
  private let connection: DownstreamConnection
  private let bytes: StreamBytes
  private let facts: CallerFacts
  @exclusivity(unchecked) private var isDelivering = false

  init(_ bytes: StreamBytes, on connection: DownstreamConnection) {
    self.bytes = bytes
    self.connection = connection
    facts = connection.facts
    let loop = connection.home.loop
    super.init(ByteStream(carriedBy: bytes, loop: loop), Waiter(loop))
  }

  // The connection goes on whatever becomes of one stream, so no response says that it ends.
  override var isEnding: Bool { false }
  override var mustEnd: Bool { connection.mustEnd }
  override var isLeaving: Bool { connection.isLeaving }
  override func awaitsEngine() { bytes.stream.mayBeReset = true }
  override var isCutOff: Bool { connection.isCutOff }
  /// The time since when the stream would give up its connection's place; nil if it would not.
  @exclusivity(unchecked) private(set) var makesRoomSince: MonotonicTime?
  override var makesRoom: Bool {
    get { makesRoomSince != nil }
    set {
      if newValue == makesRoom { return }
      makesRoomSince = newValue ? connection.home.loop.now : nil
      // The connection looks at all of its streams before it waits on.
      connection.waiter.signal()
    }
  }
  override var connectionChannel: Channel { connection.stream.channel }

  override func demandHTTP11() { bytes.demandHTTP11() }

  override func becomesTunnel() {
    super.becomesTunnel()
    connection.becomesTunnel()
  }

  /// Ends the exchange in progress. A tunnel notifies its sides.
  func abandon() {
    if !isTunnel {
      bytes.reset()
      changed(.broken)
    }
    waiter.signal()
  }

  override func giveUpDescriptor() async -> Bool { await connection.giveUpDescriptor() }

  /// Passes on what has happened to the stream.
  func changed(_ changes: SessionStream.Changes) {
    var readiness: Readiness = []
    if changes.contains(.readable) { readiness.insert(.read) }
    if changes.contains(.writable) { readiness.insert(.write) }
    if changes.contains(.broken) { readiness = [.read, .write, .readClosed, .hangUp] }
    stream.announce(readiness)
    if isDelivering { waiter.signal() }
  }

  /// Ends the wait of an engine's stream.
  func leave() { if bytes.stream.mayBeReset { waiter.signal() } }

  /// Serves the request to its end.
  func serve() async {
    let lent = connection.home.lent
    let (buffers, request) = (lent.takeBuffers(connection.limits.head), lent.takeRequest(connection.limits.head))
    request.start = connection.home.loop.now
    request.record.isHTTP2 = true
    facts.state.metrics.add(facts.state.service.metrics.http2Requests)
    let exchange = Exchange(Caller(facts, buffers, on: self), request)
    switch head(buffers, request) {
    case .complete(let byteCount):
      request.takeHead(byteCount, from: &buffers.input)
      request.head.version = .http2
      _ = await exchange.run()
    case .invalid(let error): await exchange.answer(.head(error))
    case .needsMore: await exchange.answer(.head(.headTooLarge))
    }
    await deliver()
    bytes.session.finish(bytes.stream)
    lent.giveBack(request)
    lent.giveBack(buffers)
    boundUpstreams.close()
    waiter.close()
  }

  private func head(_ buffers: CallerBuffers, _ request: RequestContext) -> RequestHeadProgress {
    let limits = connection.limits.head
    if bytes.stream.isHeadTooLarge { return .invalid(.headTooLarge) }
    bytes.stream.takeHead(into: &buffers.input)
    return buffers.input.withBytes { request.parser.parse($0, into: &request.head, limits: limits) }
  }

  /// Waits until the end of the response is with the connection, as long as the caller takes enough of it.
  private func deliver() async {
    isDelivering = true
    let (loop, limits) = (connection.home.loop, connection.limits)
    var pace = CallerPace()
    while bytes.stream.isOwed {
      if pace.isTooSlow(
        waitsForCaller: true, bytes: bytes.stream.sentBytes, rate: limits.callerRate ?? 1, window: limits.idle,
        now: loop.now)
      {
        return
      }
      _ = await waiter.wait(until: loop.now + limits.idle)
    }
  }
}

/// The bytes of a stream, in the place of a socket's.
final class StreamBytes: StreamCarrier {
  let session: CallerSession
  let stream: SessionStream
  private let connection: Waiter

  init(_ stream: SessionStream, of session: CallerSession, _ connection: Waiter) {
    self.stream = stream
    self.session = session
    self.connection = connection
  }

  func receive(into buffer: UnsafeMutableRawBufferPointer) -> IOOutcome {
    outcome(session.take(from: stream, into: buffer))
  }

  func send(_ bytes: UnsafeRawBufferPointer) -> IOOutcome { outcome(session.give(bytes, to: stream)) }

  func end() {
    session.end(stream)
    connection.signal()
  }

  func reset() {
    session.finish(stream)
    connection.signal()
  }

  func demandHTTP11() {
    session.demandHTTP11(stream)
    connection.signal()
  }

  private func outcome(_ move: Session.Move) -> IOOutcome {
    // Frames leave with the connection's next turn, those of all streams together.
    if session.hasOutput { connection.signal() }
    return IOOutcome(move)
  }
}
