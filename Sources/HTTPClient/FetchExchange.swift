internal import Bytes
internal import HTTP
internal import Platform

/// One fetch, from connect to close. Confined to its loop.
final class FetchExchange {
  private let request: FetchRequest
  private let waiter: Waiter
  private let resolver: Resolver
  private let deadline: MonotonicTime

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
    let exchange = RequestExchange(connection, host: host, waiter, until: deadline)
    try await exchange.send(requestBytes())
    if let limit = request.answerLimit { exchange.deadline = max(deadline, .now + limit) }
    let byteCount = try await exchange.receiveHead()
    let method: RequestMethod = if case .get = request.method { .get } else { .post }
    let framing: BodyFraming
    do throws(FramingError) {
      framing = try exchange.input.withBytes { bytes throws(FramingError) in
        try BodyFraming.response(exchange.head, bytes, requestMethod: method)
      }
    } catch {
      throw .malformed(host: host)
    }
    // The head's bytes are gone behind that.
    let fields = exchange.texts(exchange.head.fields)
    exchange.input.consume(byteCount)
    let (body, trailers) = try await receiveBody(framing, of: exchange)
    return FetchResponse(status: exchange.head.status, fields: fields + trailers, body: body)
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

  private func receiveBody(
    _ framing: BodyFraming, of exchange: RequestExchange
  ) async throws(FetchError) -> ([UInt8], trailers: [(name: String, value: String)]) {
    if case .fixed(let count) = framing, count > UInt64(request.bodyLimit) { throw .tooLarge(host: host) }
    var reader = ContentReader(framing)
    var trailers = TrailerParser()
    var body: [UInt8] = []
    while true {
      switch exchange.input.withBytes({ reader.next($0, &trailers, RequestExchange.limits) }) {
      case .needsMore(let consumed):
        exchange.input.consume(consumed)
        if try await !exchange.receive(), !reader.senderEnded() { throw .closed(host: host) }
      case .data(let start, let count):
        guard body.count + count <= request.bodyLimit else { throw .tooLarge(host: host) }
        exchange.input.withBytes { body += $0.extracting(start..<start + count).array }
        exchange.input.consume(start + count)
      case .lastChunk(let consumed) where request.takesTrailers: exchange.input.consume(consumed)
      case .end where request.takesTrailers: return (body, exchange.texts(trailers.fields))
      case .lastChunk, .end: return (body, [])
      case .invalid: throw .malformed(host: host)
      }
    }
  }
}

extension RequestExchange {
  fileprivate func texts(_ fields: borrowing FieldTable) -> [(name: String, value: String)] {
    input.withBytes { bytes in
      (0..<fields.count).map { index in
        let line = fields[index]
        return (name: bytes.extracting(line.name).text.lowercased(), value: bytes.extracting(line.value).text)
      }
    }
  }
}
