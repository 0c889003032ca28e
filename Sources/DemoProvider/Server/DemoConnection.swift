// Owns one connection of the demonstration's server: reading requests, sending answers. It decides nothing about them.

internal import HTTP
internal import Network
internal import Tokens

/// Why a connection is over.
enum ConnectionEnd: Error {
  /// The peer closed or broke it, or was too slow.
  case gone
  /// The server is being stopped.
  case stopped
  /// The request cannot be read; this is the status to answer with.
  case refused(status: Int)
}

/// A connection and the request it is at. Lives in one task.
final class DemoConnection {
  private static let limits = HeadLimits()
  /// How long a caller may take between two bytes, or between two requests.
  private static let patience = TimeSpan.seconds(60)

  private let stream: ByteStream
  private let waiter: Waiter
  private var input = ByteBuffer(capacity: 16 * 1024)
  private var output = ByteBuffer(capacity: 4 * 1024)
  private var parser = RequestHeadParser()

  init(_ stream: ByteStream, _ waiter: Waiter) {
    self.stream = stream
    self.waiter = waiter
  }

  /// Serves requests until the connection is over.
  func serve(
    _ service: DemoService, clock: () -> UnixTime, log: (DemoExchange) -> Void
  ) async {
    do throws(ConnectionEnd) {
      try await handshake()
      while try await exchange(service, clock: clock, log: log) == .keepAlive {}
    } catch {
      if case .refused(let status) = error { await refuse(status, now: clock()) }
    }
    stream.close()
  }

  private func exchange(
    _ service: DemoService, clock: () -> UnixTime, log: (DemoExchange) -> Void
  ) async throws(ConnectionEnd) -> Persistence {
    let arrival = try await receiveHead()
    var request = arrival.request
    request.body = try await receiveBody(arrival, digesting: service.digestsBody(request.method, request.path))
    let now = clock()
    let answer = service.answer(request, now)
    log(
      DemoExchange(
        service: service.name, method: request.method, path: request.path, status: answer.status, note: answer.note))
    return try await send(answer, to: arrival, now: now)
  }

  // MARK: Requests

  /// A request's head, and what it says about the connection.
  private struct Arrival {
    var request: DemoRequest
    var framing: BodyFraming
    var persistence: Persistence
    var version: HTTPVersion
    var expectsContinue: Bool
  }

  private func receiveHead() async throws(ConnectionEnd) -> Arrival {
    while true {
      switch parser.parse(input.bytes, limits: Self.limits) {
      case .needsMore:
        try await receive()
      case .invalid(let error):
        throw .refused(status: error.status)
      case .complete(let byteCount):
        defer { input.consume(byteCount) }
        return try Self.arrival(parser.head, input.bytes)
      }
    }
  }

  private static func arrival(
    _ head: borrowing RequestHead, _ bytes: Span<UInt8>
  ) throws(ConnectionEnd) -> Arrival {
    let framing: BodyFraming
    do throws(FramingError) {
      framing = try BodyFraming.request(head, bytes)
    } catch {
      throw .refused(status: error.status)
    }
    var fields: [(name: String, value: String)] = []
    for index in 0..<head.fields.count {
      let line = head.fields[index]
      fields.append((text(bytes.extracting(line.name)).lowercased(), text(bytes.extracting(line.value))))
    }
    let path = text(bytes.extracting(head.target.path))
    let request = DemoRequest(
      method: text(bytes.extracting(head.methodName)), path: path.isEmpty ? "/" : path,
      query: text(bytes.extracting(head.target.query)), fields: fields)
    return Arrival(
      request: request, framing: framing, persistence: .after(request: head), version: head.version,
      expectsContinue: request["expect"]?.lowercased() == "100-continue")
  }

  private static func text(_ bytes: Span<UInt8>) -> String {
    bytes.withUnsafeBufferPointer { String(decoding: $0, as: UTF8.self) }
  }

  private func receiveBody(_ arrival: Arrival, digesting: Bool) async throws(ConnectionEnd) -> ReceivedBody {
    let sink = try BodySink(digesting: digesting)
    if arrival.expectsContinue, arrival.version == .http11, arrival.framing != .none {
      output.append("HTTP/1.1 100 Continue\r\n\r\n")
      try await flush()
    }
    switch arrival.framing {
    case .none, .untilClose: break
    case .fixed(let length): try await receive(length, into: sink)
    case .chunked: try await receiveChunks(into: sink)
    }
    return try sink.finish()
  }

  private func receive(_ length: UInt64, into sink: BodySink) async throws(ConnectionEnd) {
    var left = length
    while left > 0 {
      if input.isEmpty { try await receive() }
      let count = Int(min(left, UInt64(input.count)))
      try take(0..<count, into: sink)
      left -= UInt64(count)
    }
  }

  private func receiveChunks(into sink: BodySink) async throws(ConnectionEnd) {
    var decoder = ChunkedDecoder()
    chunks: while true {
      switch decoder.next(input.bytes) {
      case .needsMore(let consumed):
        input.consume(consumed)
        try await receive()
      case .data(let start, let count): try take(start..<start + count, into: sink)
      case .end(let consumed):
        input.consume(consumed)
        break chunks
      case .invalid: throw .refused(status: 400)
      }
    }
    var trailers = TrailerParser()
    while true {
      switch trailers.parse(input.bytes, limits: Self.limits) {
      case .needsMore: try await receive()
      case .complete(let byteCount):
        input.consume(byteCount)
        return
      case .invalid: throw .refused(status: 400)
      }
    }
  }

  private func take(_ range: Range<Int>, into sink: BodySink) throws(ConnectionEnd) {
    defer { input.consume(range.upperBound) }
    // As a `return`: in a statement of its own, a throwing call ends the span's lifetime too early for Swift 6.3.
    return try sink.take(input.bytes, range)
  }

  // MARK: Answers

  private func send(_ answer: DemoAnswer, to arrival: Arrival, now: UnixTime) async throws(ConnectionEnd) -> Persistence
  {
    let framing: AnswerFraming =
      switch answer.body {
      case .whole(let bytes): .length(bytes.count)
      case .ticks: arrival.version == .http11 ? .chunked : .untilClose
      }
    var persistence = arrival.persistence
    if case .untilClose = framing { persistence = .close }
    output.appendHead(answer, framing, closes: persistence == .close, now: now)
    if arrival.request.method != "HEAD" {
      switch answer.body {
      case .whole(let bytes): output.append(bytes)
      case .ticks(let count, let pause):
        for index in 0..<count {
          output.appendPiece(DemoAnswer.tick(index + 1), framing)
          try await flush()
          if index + 1 < count { try await rest(pause) }
        }
        output.appendEnd(framing)
      }
    }
    try await flush()
    return persistence
  }

  private func refuse(_ status: Int, now: UnixTime) async {
    let answer = DemoAnswer(status: status, json: ["error": "the request cannot be read"])
    guard case .whole(let bytes) = answer.body else { return }
    output.appendHead(answer, .length(bytes.count), closes: true, now: now)
    output.append(bytes)
    do throws(ConnectionEnd) {
      try await flush()
    } catch {
      // The caller did not stay for the answer; the connection is closed either way.
      return
    }
  }

  // MARK: Waiting

  private func handshake() async throws(ConnectionEnd) {
    do throws(StreamError) {
      guard try await stream.handshake(waiter, until: waiter.loop.now + Self.patience) == .ready else { throw .reset }
    } catch {
      throw .gone
    }
  }

  private func receive() async throws(ConnectionEnd) {
    while true {
      input.reserve(16 * 1024)
      var outcome = IOOutcome.wouldBlock
      _ = input.withWritableBytes { buffer in
        outcome = stream.receive(into: buffer)
        if case .moved(let count) = outcome { return count }
        return 0
      }
      switch outcome {
      case .moved: return
      case .endOfStream, .failed: throw .gone
      case .wouldBlock: try await wait(stream.receiveInterest)
      }
    }
  }

  private func flush() async throws(ConnectionEnd) {
    while !output.isEmpty {
      switch output.withReadableBytes({ stream.send($0) }) {
      case .moved(let count): output.consume(count)
      case .endOfStream, .failed: throw .gone
      case .wouldBlock: try await wait(stream.sendInterest)
      }
    }
  }

  private func wait(_ interest: Readiness) async throws(ConnectionEnd) {
    waiter.watch(stream.channel, interest)
    switch await waiter.wait(until: waiter.loop.now + Self.patience) {
    case .ready: return
    case .timedOut: throw .gone
    case .signalled: throw .stopped
    }
  }

  private func rest(_ pause: Duration) async throws(ConnectionEnd) {
    if await waiter.wait(until: waiter.loop.now + TimeSpan(pause)) == .signalled { throw .stopped }
  }
}
