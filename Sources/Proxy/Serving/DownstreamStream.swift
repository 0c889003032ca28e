// The place of one stream after the other of callers' HTTP/2 connections. Its task serves the requests as that of a
// connection with HTTP/1.1 does: the stream's bytes have the form of HTTP/1.1 here. A place is kept when its stream is
// over, so a stream on a busy loop allocates nothing.

internal import Bytes
internal import HTTP
internal import HTTP2
internal import HTTPClient
internal import Platform
internal import Routing
internal import Telemetry

/// A stream and its request. Confined to its loop.
final class DownstreamStream: Caller, StreamPlace {
  private let bytes: StreamBytes
  private var present: Present?
  private var isRetired = false
  private var isDelivering = false

  /// The stream that is served.
  private struct Present {
    let multiplexer: Multiplexer
    let connection: DownstreamConnection
    let facts: CallerFacts
    let id: Int32
    /// True if the stream counts as a connection.
    let isCounted: Bool
  }

  /// A free place, whose task waits.
  init(_ loop: EventLoop) {
    bytes = StreamBytes()
    super.init(ByteStream(carriedBy: bytes, loop: loop), Waiter(loop))
    // All stay on this loop, on which the task runs.
    nonisolated(unsafe) let place = self
    let confined = Confined(place, to: loop)
    Task(executorPreference: loop) { await confined.value.run() }
  }

  /// A free place of the loop's, or a new one.
  static func take(on home: ProxyLoop) -> DownstreamStream {
    // No other places are given back.
    home.lent.places.take().map { unsafeDowncast($0, to: Self.self) } ?? Self(home.loop)
  }

  private var connection: DownstreamConnection {
    guard let present else { preconditionFailure("a free place has no connection") }
    return present.connection
  }

  // The connection goes on whatever becomes of one stream, so no response says that it ends.
  override var isEnding: Bool { false }
  override var mustEnd: Bool { connection.mustEnd }
  override var isLeaving: Bool { connection.isLeaving }
  override func awaitsEngine() { bytes.stream?.mayBeReset = true }
  override var isCutOff: Bool { connection.isCutOff }
  /// The time since when the stream would give up its connection's place; nil if it would not.
  private(set) var makesRoomSince: MonotonicTime?
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
  func leave() { if bytes.stream?.mayBeReset == true { waiter.signal() } }

  // MARK: One stream after the other

  /// Takes a stream. It counts as a connection if it `isCounted`.
  func begin(
    _ stream: SessionStream, of multiplexer: Multiplexer, on connection: DownstreamConnection, isCounted: Bool
  ) {
    bytes.begin(stream, of: multiplexer.session, connection.waiter)
    self.stream.renew()
    (makesRoomSince, isDelivering) = (nil, false)
    present = Present(
      multiplexer: multiplexer, connection: connection, facts: connection.facts, id: stream.id, isCounted: isCounted)
    multiplexer.streams[stream.id] = self
    connection.home.current.metrics.add(connection.home.current.service.metrics.http2Streams, 1)
    if isCounted { connection.facts.state.service.process.connections.opened() }
    waiter.signal()
  }

  func retire() {
    isRetired = true
    waiter.signal()
  }

  private func run() async {
    while !isRetired {
      if let present { await serve(present) } else { _ = await waiter.wait(until: .distantFuture) }
    }
    waiter.close()
  }

  /// Serves the request to its end. Inlined, like what it calls, since the frame of a call would be allocated for each
  /// request.
  @inline(__always)
  private func serve(_ present: Present) async {
    let (lent, limits) = (present.connection.home.lent, present.facts.state.service.limits.head)
    let (buffers, request) = (lent.buffers.take(limits), lent.requests.take(limits))
    request.start = present.connection.home.loop.now
    request.record.isHTTP2 = true
    present.facts.state.metrics.add(present.facts.state.service.metrics.http2Requests)
    let exchange = Exchange(self, present.facts, buffers, request)
    switch head(buffers, request, limits) {
    case .complete(let byteCount):
      request.takeHead(byteCount, from: &buffers.input)
      request.head.version = .http2
      _ = await exchange.run()
    case .invalid(let error): await exchange.answer(.head(error))
    case .needsMore: await exchange.answer(.head(.headTooLarge))
    }
    await deliver(present)
    lent.requests.giveBack(request)
    lent.buffers.giveBack(buffers)
    end(present)
  }

  private func head(
    _ buffers: CallerBuffers, _ request: RequestContext, _ limits: HeadLimits
  ) -> ReadingProgress<RequestHeadError> {
    guard let stream = bytes.stream, !stream.isHeadTooLarge else { return .invalid(.headTooLarge) }
    stream.takeHead(into: &buffers.input)
    return buffers.input.withBytes { request.parser.parse($0, into: &request.head, limits: limits) }
  }

  /// Bytes of a response that are made frames of at once.
  private static let shortRest = 8 * 1024

  /// Waits until the end of the response is with the connection, as long as the caller takes enough of it.
  @inline(__always)
  private func deliver(_ present: Present) async {
    isDelivering = true
    // Most streams end with this, and need no further turn of the connection's task. Longer content would only wait in
    // another buffer for that.
    if let stream = bytes.stream, stream.waitingCount <= Self.shortRest {
      present.connection.makeFrames(present.multiplexer)
    }
    let (loop, limits) = (present.connection.home.loop, present.connection.limits)
    var pace = CallerPace()
    while let (isOwed, sentBytes) = bytes.stream.map({ ($0.isOwed, $0.sentBytes) }), isOwed {
      if pace.isTooSlow(
        waitsForCaller: true, bytes: sentBytes, rate: limits.callerRate ?? 1, window: limits.idle, now: loop.now)
      {
        return
      }
      _ = await waiter.wait(until: loop.now + limits.idle)
    }
  }

  /// Finishes the stream, and gives the place back. Of a tunnel it is not used again.
  private func end(_ present: Present) {
    let home = present.connection.home
    bytes.finish()
    boundUpstreams.close()
    present.multiplexer.streams[present.id] = nil
    home.current.metrics.add(home.current.service.metrics.http2Streams, -1)
    if present.isCounted { present.facts.state.service.process.connections.closed() }
    present.connection.waiter.signal()
    self.present = nil
    if isTunnel { isRetired = true } else { home.lent.places.keep(self) }
  }
}

/// The bytes of a stream, in the place of a socket's.
final class StreamBytes: StreamCarrier {
  private(set) var stream: SessionStream?
  private var session: CallerSession?
  private var connection: Waiter?

  func begin(_ stream: SessionStream, of session: CallerSession, _ connection: Waiter) {
    (self.stream, self.session, self.connection) = (stream, session, connection)
  }

  /// Finishes the stream, and forgets it.
  func finish() {
    let (stream, session) = (stream, session)
    (self.stream, self.session, connection) = (nil, nil, nil)
    if let stream { session?.finish(stream) }
  }

  func receive(into buffer: UnsafeMutableRawBufferPointer) -> IOOutcome {
    guard let stream, let session else { return .failed(.reset) }
    return outcome(session.take(from: stream, into: buffer), session)
  }

  func send(_ bytes: UnsafeRawBufferPointer) -> IOOutcome {
    guard let stream, let session else { return .failed(.reset) }
    return outcome(session.give(bytes, to: stream), session)
  }

  func end() {
    if let stream { session?.end(stream) }
    connection?.signal()
  }

  func reset() {
    if let stream { session?.finish(stream) }
    connection?.signal()
  }

  func demandHTTP11() {
    if let stream { session?.demandHTTP11(stream) }
    connection?.signal()
  }

  private func outcome(_ move: Session.Move, _ session: CallerSession) -> IOOutcome {
    // Frames leave with the connection's next turn, those of all streams together.
    if session.hasOutput { connection?.signal() }
    return IOOutcome(move)
  }
}
