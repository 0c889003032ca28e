// Envoy's question for a token in its gRPC form. It becomes a question in the HTTP form, and the answer to that becomes
// the answer in gRPC's: the decision is made in one place.

internal import Bytes
internal import HTTP
internal import HTTPClient
internal import Platform
internal import Routing
internal import Telemetry

extension Exchange {
  /// True if the request calls `Authorization/Check` on a listener that hands out tokens.
  var asksForCheck: Bool {
    guard caller.facts.listener.handsOut, isCall, request.head.method == .post, !request.head.target.hasQuery else {
      return false
    }
    return request.headBytes.withBytes { $0.extracting(request.head.target.path).equals(CheckRequest.path) }
  }

  /// Answers the question. What is wrong with the call itself is a status of gRPC, which Envoy takes for a failure
  /// (`status_on_error`); all else is a `CheckResponse`, which it passes on.
  func check() async -> Bool {
    let question: CheckRequest
    do throws(ExchangeFailure) {
      try takeDeadline()
      question = try read(try await content(try admitCheck()))
    } catch {
      switch error {
      case .caller, .handOut(.browser): return await deny(error, nil)
      default: return await answer(error)
      }
    }
    let path: HandOutPath
    do throws(ExchangeFailure) { path = try take(question) } catch { return await deny(error, question) }
    return await handOut(path, to: question)
  }

  private func deny(_ failure: ExchangeFailure, _ question: CheckRequest?) async -> Bool {
    await write(failure, keepsConnection: false)
    writeResponse(to: question)
    let isDelivered = await flush()
    finish()
    return isDelivered
  }

  /// The framing of the content of a caller that may ask.
  @inline(never)
  private func admitCheck() throws(ExchangeFailure) -> BodyFraming {
    if let refusal = caller.facts.refusal { throw .caller(refusal) }
    return try Self.framing(request.head, request.headBytes, callers: caller.facts.listener.callers)
  }

  private static func framing(
    _ head: borrowing RequestHead, _ input: borrowing ByteBuffer, callers: borrowing CallerCheck
  ) throws(ExchangeFailure) -> BodyFraming {
    let bytes = input.bytes
    if let refusal = callers.judge(head, bytes) { throw .caller(refusal) }
    // Envoy's own call has no field of a browser's; a page cannot make this one without a preflight.
    if head.fields.containsAny(of: FieldNameSet(.origin).with(.secFetchSite).with(.secFetchMode)) {
      throw .handOut(.browser)
    }
    do throws(FramingError) { return try BodyFraming.request(head, bytes) } catch { throw .framing(error) }
  }

  /// Bytes that a question may have: a head twice, with room for a certificate and what else Envoy tells.
  private var questionLimit: Int { 2 * state.service.limits.head.headBytes + 64 * 1024 }

  /// Waits for the whole content.
  private func content(_ framing: BodyFraming) async throws(ExchangeFailure) -> [UInt8] {
    let (limits, buffers) = (state.service.limits, caller.buffers)
    let deadline = min(request.start + limits.requestHead, request.whole)
    var (reader, content) = (ContentReader(framing), [UInt8]())
    while true {
      switch buffers.input.withBytes({ reader.next($0, &request.trailers, limits.head) }) {
      case .data(let start, let count):
        buffers.input.withBytes { bytes in
          for index in start..<start + count { content.append(bytes[index]) }
        }
        buffers.input.consume(start + count)
        if content.count > questionLimit { throw .delivery(.tooLarge) }
      case .lastChunk(let consumed): buffers.input.consume(consumed)
      case .end(let consumed):
        buffers.input.consume(consumed)
        return content
      case .invalid: throw .delivery(.content)
      case .needsMore(let consumed):
        buffers.input.consume(consumed)
        buffers.input.reserve(1)
        switch buffers.input.receive(from: caller.source) {
        case .moved: continue
        case .endOfStream, .failed: throw .delivery(.contentCut)
        case .wouldBlock:
          caller.watch(.content)
          if await caller.waiter.wait(until: deadline) == .timedOut { throw .delivery(.contentStalled) }
        }
      }
    }
  }

  /// The question in a content: one message that is not compressed.
  private func read(_ content: [UInt8]) throws(ExchangeFailure) -> CheckRequest {
    guard let message = GRPCCall.message(of: content[...]) else { throw .handOut(.message) }
    do throws(ProtobufError) { return try CheckRequest(message) } catch { throw .handOut(.message) }
  }

  /// Puts the question in the HTTP form in the place of the request.
  @inline(never)
  private func take(_ question: CheckRequest) throws(ExchangeFailure) -> HandOutPath {
    var head = ByteBuffer(capacity: 4096)
    let limits = state.service.limits.head
    do throws(RequestHeadError) {
      try request.headBytes.withBytes { bytes throws(RequestHeadError) in
        try question.writeHead(request.head, bytes, limit: limits.headBytes, into: &head)
      }
      try request.replaceHead(&head, limits)
    } catch {
      request.dropHead()
      throw .head(error)
    }
    let path = request.headBytes.withBytes { HandOutPath($0.extracting(request.head.target.path)) }
    guard let path else { throw .noRoute }
    return path
  }

  /// Turns the answer that was written into a message, with its head and its trailer section.
  /// - Parameter question: nil if it was not read.
  @inline(never)
  func writeResponse(to question: CheckRequest?) {
    let route = request.route
    let response = CheckResponse(
      credentialField: route?.fixedCredential?.name.text ?? "Authorization",
      strayNames: (question?.strayNames ?? []) + strayNames(route), hasMetadata: question?.wantsMetadata ?? false)
    let limits = HeadLimits(headBytes: .max, fieldCount: 1000)
    var parser = ResponseHeadParser()
    var head = ResponseHead()
    let buffers = caller.buffers
    let message = buffers.output.withBytes { bytes -> [UInt8] in
      guard case .complete(let count) = parser.parse(bytes, into: &head, limits: limits) else {
        preconditionFailure("our own answers are acceptable HTTP")
      }
      return response.message(head, bytes, content: bytes.extracting(droppingFirst: count))
    }
    buffers.output.removeAll()
    HeadWriter.statusLine(200, into: &buffers.output)
    buffers.output.append("Content-Type: application/grpc\r\n")
    writeDate()
    HeadWriter.chunkedCoding(into: &buffers.output)
    HeadWriter.end(into: &buffers.output)
    HeadWriter.chunk((GRPCCall.prefix(message.count) + message).span, into: &buffers.output)
    HeadWriter.lastChunk(into: &buffers.output)
    HeadWriter.field("grpc-status", decimal: UInt64(GRPCStatus.ok.rawValue), into: &buffers.output)
    HeadWriter.end(into: &buffers.output)
  }

  /// The names of the caller's fields that the proxy would not forward: they chose the token, prove the caller here, or
  /// look like the credential's.
  private func strayNames(_ route: Route?) -> [ArraySlice<UInt8>] {
    guard let route, request.hasHead else { return [] }
    let own = route.fixedCredential?.name.text ?? "Authorization"
    var names: [ArraySlice<UInt8>] = []
    request.headBytes.withBytes { bytes in
      for index in 0..<request.head.fields.count {
        let line = request.head.fields[index]
        let name = bytes.extracting(line.name)
        let isOwn = name.equalsIgnoringCase(Array(own.utf8).span)
        if !isOwn, caller.facts.ingress.rules.consumes(line, bytes) || route.consumes(line, bytes) {
          names.append(ArraySlice(name.indices.map { name[$0] }))
        }
      }
    }
    return names
  }
}

extension Span<UInt8> {
  fileprivate func equals(_ literal: StaticString) -> Bool {
    guard count == literal.utf8CodeUnitCount else { return false }
    return indices.allSatisfy { self[$0] == literal.utf8Start[$0] }
  }
}
