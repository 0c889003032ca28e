internal import Bytes
internal import HTTP
internal import Platform

/// One fetch, from connect to close. Confined to its loop.
final class FetchExchange {
  private let request: FetchRequest
  private let waiter: Waiter
  private let resolver: Resolver
  private var deadline: MonotonicTime
  private var input = ByteBuffer(capacity: 16 * 1024)
  private var parser = ResponseHeadParser()
  private var head = ResponseHead()

  private static let limits = HeadLimits(headBytes: 64 * 1024)
  /// Interim responses at most to a request of the proxy's own.
  static let interimLimit = 32

  init(_ request: FetchRequest, waiter: Waiter, resolver: Resolver, deadline: MonotonicTime) {
    self.request = request
    self.waiter = waiter
    self.resolver = resolver
    self.deadline = deadline
  }

  private var host: String { request.url.host }

  /// - Parameter address: the address to connect to; nil is the URL's host.
  func run(
    tls: TLSContext?, serverName: String? = nil, address: SocketAddress? = nil, proxy: ProxyAddress? = nil,
    versions: UpstreamProtocol = .http1
  ) async throws(FetchError) -> FetchResponse {
    defer { waiter.close() }
    if request.url.scheme == .https, tls == nil {
      throw .tls(host: host, reason: "an http authority leads to https, for which nothing is trusted")
    }
    let origin = Origin(
      request.url, tls: request.url.scheme == .https ? tls : nil, serverName: serverName, proxy: proxy,
      versions: versions)
    if origin.mayBeShared { return try await runOnStream(to: origin) }
    let connection = try await connect(origin, address)
    defer { connection.close() }
    return try await run(on: connection)
  }

  /// The same on a connection that may have HTTP/2, which ends with it.
  private func runOnStream(to origin: Origin) async throws(FetchError) -> FetchResponse {
    let pool = OriginPool(origin, limits: PoolLimits(maximumIdle: 0), resolver: resolver, loop: waiter.loop)
    let connection = try await mapping(fetchError, awaiting: await pool.connect(waiter, until: deadline))
    defer { pool.giveBack(connection, .unusable) }
    return try await run(on: connection.stream)
  }

  private func run(on connection: ByteStream) async throws(FetchError) -> FetchResponse {
    try await send(on: connection)
    if let limit = request.answerLimit { deadline = max(deadline, .now + limit) }
    let (framing, fields) = try await receiveHead(from: connection)
    let (body, trailers) = try await receiveBody(framing, from: connection)
    return FetchResponse(status: head.status, fields: fields + trailers, body: body)
  }

  private func connect(
    _ origin: Origin, _ address: SocketAddress?
  ) async throws(FetchError) -> ByteStream {
    var connector = OriginConnector(origin, resolver: resolver, loop: waiter.loop, address: address)
    connector.refusesPrivateAddresses = request.refusesPrivateAddresses
    return try await mapping(fetchError, awaiting: await connector.connect(waiter, until: deadline))
  }

  private func fetchError(_ error: UpstreamError) -> FetchError {
    switch error {
    case .connect(.unresolved(let error)): .unresolved(host: host, reason: error.reason)
    case .connect(.refused(let error)): .unreachable(host: host, port: request.url.port, errno: error.number)
    case .connect(.forbiddenAddress) where request.refusesPrivateAddresses:
      .unresolved(host: host, reason: "private addresses are refused")
    case .connect(.forbiddenAddress): .unresolved(host: host, reason: "link-local addresses are refused")
    case .tls(let error): .tls(host: host, reason: error.text, cause: error.cause)
    case .connect(.timedOut), .timedOut: .timedOut(host: host)
    case .proxyUnreachable, .proxy: .proxy(host: host, reason: error.reason)
    case .withoutHTTP2, .withoutWebSockets: .closed(host: host)
    }
  }

  // MARK: Request

  private func send(on stream: ByteStream) async throws(FetchError) {
    var output = requestBytes()
    while !output.isEmpty {
      switch output.send(to: stream) {
      case .moved: continue
      case .wouldBlock: try await wait(stream, stream.sendInterest)
      case .endOfStream, .failed: throw .closed(host: host)
      }
    }
  }

  private func requestBytes() -> ByteBuffer {
    var output = ByteBuffer(capacity: 2048)
    var (method, contentFields) = ("GET", "")
    var body: [UInt8] = []
    if case .post(let contentType, let bytes) = request.method {
      (method, body) = ("POST", bytes)
      contentFields = "Content-Type: \(contentType)\r\nContent-Length: \(body.count)\r\n"
    }
    output.append(Array("\(method) \(request.url.target) HTTP/1.1\r\nHost: \(request.url.authority)\r\n".utf8))
    for field in request.fields { output.append(Array("\(field.name): \(field.value)\r\n".utf8)) }
    output.append(Array(contentFields.utf8))
    output.append("User-Agent: bearer-proxy\r\nConnection: close\r\n\r\n")
    output.append(body)
    return output
  }

  // MARK: Response

  /// Receives the final head. Its bytes are gone behind that; its fields are texts.
  private func receiveHead(
    from stream: ByteStream
  ) async throws(FetchError) -> (BodyFraming, fields: [(name: String, value: String)]) {
    while true {
      switch input.withBytes({ parser.parse($0, into: &head, limits: Self.limits) }) {
      case .invalid:
        // The type of a TLS alert (RFC 8446 §5.1), with which a TLS server answers anything else.
        throw input.withBytes { $0[0] } == 0x15 ? .answeredWithTLS(host: host) : .malformed(host: host)
      case .needsMore: try await receiveMore(from: stream)
      case .complete(let byteCount):
        defer { input.consume(byteCount) }
        if head.isInterim {
          interimHeads += 1
          if interimHeads > FetchExchange.interimLimit { throw .malformed(host: host) }
          continue
        }
        let method: RequestMethod = if case .get = request.method { .get } else { .post }
        do throws(FramingError) {
          let framing = try input.withBytes { bytes throws(FramingError) in
            try BodyFraming.response(head, bytes, requestMethod: method)
          }
          return (framing, texts(head.fields))
        } catch {
          throw .malformed(host: host)
        }
      }
    }
  }

  private var interimHeads = 0

  private func texts(_ fields: borrowing FieldTable) -> [(name: String, value: String)] {
    input.withBytes { bytes in
      (0..<fields.count).map { index in
        let line = fields[index]
        return (name: bytes.extracting(line.name).text.lowercased(), value: bytes.extracting(line.value).text)
      }
    }
  }

  private func receiveBody(
    _ framing: BodyFraming, from stream: ByteStream
  ) async throws(FetchError) -> ([UInt8], trailers: [(name: String, value: String)]) {
    if case .fixed(let count) = framing, count > UInt64(request.bodyLimit) { throw .tooLarge(host: host) }
    var reader = ContentReader(framing)
    var trailers = TrailerParser()
    var body: [UInt8] = []
    while true {
      switch input.withBytes({ reader.next($0, &trailers, Self.limits) }) {
      case .needsMore(let consumed):
        input.consume(consumed)
        if try await !receiveMoreOrEnd(from: stream), !reader.senderEnded() { throw .closed(host: host) }
      case .data(let start, let count):
        guard body.count + count <= request.bodyLimit else { throw .tooLarge(host: host) }
        input.withBytes { body += $0.extracting(start..<start + count).array }
        input.consume(start + count)
      case .lastChunk(let consumed) where request.takesTrailers: input.consume(consumed)
      case .end where request.takesTrailers: return (body, texts(trailers.fields))
      case .lastChunk, .end: return (body, [])
      case .invalid: throw .malformed(host: host)
      }
    }
  }

  // MARK: Bytes

  private func receiveMore(from stream: ByteStream) async throws(FetchError) {
    guard try await receiveMoreOrEnd(from: stream) else { throw .closed(host: host) }
  }

  /// False: the peer has ended its direction in order.
  private func receiveMoreOrEnd(from stream: ByteStream) async throws(FetchError) -> Bool {
    input.reserve(4096)
    while true {
      switch input.receive(from: stream) {
      case .moved:
        // A peer that sends as fast as it is read must not keep others from their turn, nor pass the deadline.
        await Task.yield()
        if waiter.loop.now >= deadline { throw .timedOut(host: host) }
        return true
      case .endOfStream: return false
      case .failed: throw .closed(host: host)
      case .wouldBlock: try await wait(stream, stream.receiveInterest)
      }
    }
  }

  private func wait(_ stream: ByteStream, _ interest: Readiness) async throws(FetchError) {
    waiter.watch(stream.channel, interest)
    if await waiter.wait(until: deadline) == .timedOut { throw .timedOut(host: host) }
  }
}
