internal import Bytes
internal import HTTP
internal import Platform

/// One connection of a small server: it reads requests and sends answers, and decides nothing about them. It lives in
/// one task, on its loop.
final class ServerConnection {
  private enum End: Error {
    /// The peer closed or broke it, or was too slow; or the server is being stopped.
    case gone
    /// The request cannot be read; this is the status to answer with.
    case refused(status: Int)
  }

  /// A request's head, and its consequences for the connection.
  private struct Arrival<Request: Sendable> {
    var reading: RequestReading<Request>
    var framing: BodyFraming
    var persistence: Persistence
    var version: HTTPVersion
    var isHead: Bool
    var expectation: ExpectContinue
  }

  let waiter: Waiter
  private let stream: ByteStream
  private let peer: ServerPeer
  private let limits: ServerLimits
  private let clock: (@Sendable () -> Int64)?
  private var input = ByteBuffer(capacity: 4096)
  private var output = ByteBuffer(capacity: 4096)
  private var parser = RequestHeadParser()
  private var head = RequestHead(fieldCapacity: 32)

  init(
    _ channel: Channel, _ address: SocketAddress, tls: TLSContext?, _ limits: ServerLimits,
    clock: (@Sendable () -> Int64)?
  ) throws(StreamError) {
    stream = try ByteStream(channel, tls: tls)
    waiter = Waiter(channel.loop)
    peer = ServerPeer(address: address, credentials: PeerCredentials(of: channel))
    self.limits = limits
    self.clock = clock
  }

  /// Serves requests until the connection is over. `heard` is called for each head; returns true if the last answer is
  /// to be the server's last.
  func serve<Handler: RequestHandler>(_ handler: Handler, heard: () -> Void) async -> Bool {
    defer {
      stream.close()
      waiter.close()
    }
    do throws(End) {
      try await handshake()
      while true {
        let (response, persistence) = try await exchange(handler, heard: heard)
        if response.isLast { return true }
        if persistence == .close { return false }
        // A caller that sends request after request leaves the loop to others in between.
        await Task.yield()
      }
    } catch {
      if case .refused(let status) = error, let response = handler.refusal(status) { await sendLast(response) }
      return false
    }
  }

  /// Ends it during any wait: the peer sees a reset.
  func abandon() {
    stream.reset()
    waiter.signal()
  }

  private func exchange<Handler: RequestHandler>(
    _ handler: Handler, heard: () -> Void
  ) async throws(End) -> (ServerResponse, Persistence) {
    parser = RequestHeadParser()
    let deadline = waiter.loop.now + limits.patience
    let arrival = try await receiveHead(handler, until: deadline)
    heard()
    let response: ServerResponse
    var persistence = limits.keepsConnections ? arrival.persistence : .close
    switch arrival.reading {
    case .refused(let refusal):
      response = refusal
      persistence = .close
    case .accepted(let request, let rule):
      if rule == .unread, arrival.framing != .none { persistence = .close }
      let content = try await receiveContent(arrival.framing, rule, arrival.expectation, deadline)
      response = await handler.answer(request, content)
    }
    let framing = ResponseFraming(response.content, to: arrival.version)
    if case .untilClose = framing { persistence = .close }
    output.appendHead(response, framing, persistence, arrival.version, date: clock?())
    if !arrival.isHead { try await send(response.content, framing) }
    try await flush()
    return (response, persistence)
  }

  // MARK: Requests

  private func receiveHead<Handler: RequestHandler>(
    _ handler: Handler, until deadline: MonotonicTime
  ) async throws(End) -> Arrival<Handler.Request> {
    while true {
      switch parser.parse(input.bytes, into: &head, limits: limits.head) {
      case .needsMore: try await receive(until: deadline)
      case .invalid(let error): throw .refused(status: error.status)
      case .complete(let byteCount):
        defer { input.consume(byteCount) }
        return try arrival(input.bytes, handler)
      }
    }
  }

  private func arrival<Handler: RequestHandler>(
    _ bytes: Span<UInt8>, _ handler: Handler
  ) throws(End) -> Arrival<Handler.Request> {
    let reading = handler.read(head, bytes, from: peer)
    let framing: BodyFraming
    do throws(FramingError) {
      framing = try BodyFraming.request(head, bytes)
    } catch {
      // If no content is read, its length does not matter: the connection ends with the answer.
      guard case .accepted(_, .unread) = reading else { throw .refused(status: error.status) }
      framing = .untilClose
    }
    return Arrival(
      reading: reading, framing: framing, persistence: .after(request: head), version: head.version,
      isHead: head.method == .head, expectation: .of(head, bytes))
  }

  /// Content that is kept has to arrive within the request's time; digested content may be large, and has it for each
  /// piece.
  private func receiveContent(
    _ framing: BodyFraming, _ rule: ContentRule, _ expectation: ExpectContinue, _ deadline: MonotonicTime
  ) async throws(End) -> ReceivedContent {
    guard rule != .unread else { return .whole([]) }
    let sink = try mapping(Self.failed, ContentSink(rule))
    if expectation == .continue100, framing != .none {
      output.append("HTTP/1.1 100 Continue\r\n\r\n")
      try await flush()
    }
    let deadline = rule == .digested ? nil : deadline
    var reader = ContentReader(framing)
    var trailers = TrailerParser()
    while true {
      switch reader.next(input.bytes, &trailers, limits.head) {
      case .needsMore(let consumed):
        input.consume(consumed)
        try await receive(until: deadline)
      case .data(let start, let count): try take(start..<start + count, into: sink)
      case .lastChunk(let consumed): input.consume(consumed)
      case .end(let consumed):
        input.consume(consumed)
        return try mapping(Self.failed, sink.finish())
      case .invalid: throw .refused(status: 400)
      }
    }
  }

  private func take(_ range: Range<Int>, into sink: ContentSink) throws(End) {
    let isKept = try mapping(
      Self.failed,
      input.withBytes { bytes throws(CryptoError) in try sink.take(bytes.extracting(range)) })
    input.consume(range.upperBound)
    if !isKept { throw .refused(status: 413) }
  }

  private static func failed(_: CryptoError) -> End { .refused(status: 500) }

  // MARK: Answers

  private func send(_ content: ServerResponse.Content, _ framing: ResponseFraming) async throws(End) {
    switch content {
    case .whole(let bytes): output.append(bytes)
    case .paced(let count, let pause, let piece):
      for index in 0..<count {
        output.appendPiece(piece(index), framing)
        try await flush()
        guard index + 1 < count else { break }
        if await waiter.wait(until: waiter.loop.now + TimeSpan(pause)) == .signalled { throw .gone }
      }
      output.appendEnd(framing)
    }
  }

  private func sendLast(_ response: ServerResponse) async {
    guard case .whole(let bytes) = response.content else { return }
    output.appendHead(response, .length(bytes.count), .close, .http11, date: clock?())
    output.append(bytes)
    // The peer may not stay for the answer; the connection is closed either way.
    do throws(End) { try await flush() } catch {}
  }

  // MARK: Waiting

  private func handshake() async throws(End) {
    do throws(StreamError) {
      guard try await stream.handshake(waiter, until: waiter.loop.now + limits.patience) == .ready else { throw .reset }
    } catch {
      throw .gone
    }
  }

  /// Receives something; without a deadline, within the patience from now.
  private func receive(until deadline: MonotonicTime?) async throws(End) {
    let deadline = deadline ?? waiter.loop.now + limits.patience
    while true {
      input.reserve(16 * 1024)
      switch input.receive(from: stream) {
      case .moved: return
      case .endOfStream, .failed: throw .gone
      case .wouldBlock: try await wait(stream.receiveInterest, until: deadline)
      }
    }
  }

  private func flush() async throws(End) {
    let deadline = waiter.loop.now + limits.patience
    while !output.isEmpty {
      switch output.send(to: stream) {
      case .moved: continue
      case .endOfStream, .failed: throw .gone
      case .wouldBlock: try await wait(stream.sendInterest, until: deadline)
      }
    }
  }

  private func wait(_ interest: Readiness, until deadline: MonotonicTime) async throws(End) {
    waiter.watch(stream.channel, interest)
    guard await waiter.wait(until: deadline) == .ready else { throw .gone }
  }
}

/// The destination of a request's content: kept while it is small, or digested and forgotten.
private final class ContentSink {
  private let limit: Int
  private var kept: [UInt8] = []
  private var digest: RunningDigest?
  private var byteCount: UInt64 = 0

  init(_ rule: ContentRule) throws(CryptoError) {
    switch rule {
    case .unread: limit = 0
    case .kept(let limit): self.limit = limit
    case .digested:
      limit = 0
      digest = try RunningDigest()
    }
  }

  /// Adds bytes; false if they are more than is kept.
  func take(_ bytes: Span<UInt8>) throws(CryptoError) -> Bool {
    byteCount += UInt64(bytes.count)
    if try digest?.update(bytes) != nil { return true }
    guard byteCount <= UInt64(limit) else { return false }
    bytes.withUnsafeBufferPointer { kept.append(contentsOf: $0) }
    return true
  }

  /// The received content. It ends this sink.
  func finish() throws(CryptoError) -> ReceivedContent {
    guard let digest = digest.take() else { return .whole(kept) }
    return .digest(byteCount: byteCount, sha256: try digest.finish())
  }
}
