// Envoy's question for a token in its gRPC form. It becomes a question in the HTTP form, and the answer to that becomes
// the answer in gRPC's: the decision is made in one place. Exchange+Process has the form with a stream.

internal import Bytes
internal import HTTP
internal import HTTPClient
internal import Platform
internal import Routing
internal import Telemetry

/// The content of a call that is answered here, as far as it was read.
struct CallContent {
  fileprivate var reader: ContentReader
  fileprivate var bytes: [UInt8] = []
  fileprivate var hasEnded = false
}

extension Exchange {
  /// The methods that are served on a listener that hands out tokens.
  enum EngineMethod {
    case check, process
  }

  /// The method that the request calls; nil if it calls none of them.
  var engineMethod: EngineMethod? {
    guard facts.listener.handsOut, isCall, request.head.method == .post, !request.head.target.hasQuery else {
      return nil
    }
    return request.headBytes.withBytes { bytes in
      let path = bytes.extracting(request.head.target.path)
      if path.equals(CheckRequest.path) { return .check }
      return path.equals(ProcessingRequest.path) ? .process : nil
    }
  }

  /// Answers the question. What is wrong with the call itself is a status of gRPC, which Envoy takes for a failure
  /// (`status_on_error`); all else is a `CheckResponse`, which it passes on.
  func check() async -> Bool {
    var question: CheckRequest?
    do throws(ExchangeFailure) {
      var content = try beginCall()
      guard let message = try await nextMessage(of: &content), try await nextMessage(of: &content) == nil else {
        throw .handOut(.message)
      }
      do throws(ProtobufError) { question = try CheckRequest(message[...]) } catch { throw .handOut(.message) }
    } catch {
      guard error.refusesEngine else { return await answer(error) }
      await write(error, keepsConnection: false)
    }
    if let question { await writeAnswer(to: question) }
    let response = response(to: question)
    let message = takeAnswer { response.message($0, $1, content: $2) }
    beginCallAnswer()
    write(message)
    endCallAnswer(.ok)
    return await deliver()
  }

  // MARK: The call

  /// The content of a call whose caller may ask.
  func beginCall() throws(ExchangeFailure) -> CallContent {
    try takeDeadline()
    return CallContent(reader: ContentReader(try admitCall()))
  }

  @inline(never)
  private func admitCall() throws(ExchangeFailure) -> BodyFraming {
    if let refusal = facts.refusal { throw .caller(refusal) }
    let callers = facts.listener.callers
    return try request.headBytes.withBytes { bytes throws(ExchangeFailure) in
      if let refusal = callers.judge(request.head, bytes) { throw .caller(refusal) }
      // Envoy's own call has no field of a browser's; a page cannot make this one without a preflight.
      if request.head.fields.containsAny(of: FieldNameSet(.origin).with(.secFetchSite).with(.secFetchMode)) {
        throw .handOut(.browser)
      }
      return try Admission.framing(request.head, bytes)
    }
  }

  /// Bytes that a question may have: a head twice, with room for a certificate and what else Envoy tells.
  private var questionLimit: Int { 2 * state.service.limits.head.headBytes + 64 * 1024 }

  /// Waits for the next message; nil if none follows.
  /// - Parameter isFirst: whether it must come soon. Another one may take as long as Envoy likes, and is not waited for
  ///   once the connection ends.
  func nextMessage(
    of content: inout CallContent, isFirst: Bool = true
  ) async throws(ExchangeFailure) -> [UInt8]? {
    let limits = state.service.limits
    let deadline = isFirst ? min(request.start + limits.requestHead, request.whole) : request.whole
    while true {
      switch GRPCCall.takeMessage(from: &content.bytes, limit: questionLimit) {
      case .message(let message): return message
      case .compressed: throw .handOut(.message)
      case .tooLarge: throw .delivery(.tooLarge)
      case .needsMore: break
      }
      if content.hasEnded {
        guard content.bytes.isEmpty else { throw .handOut(.message) }
        return nil
      }
      switch buffers.input.withBytes({ content.reader.next($0, &request.trailers, limits.head) }) {
      case .data(let start, let count):
        buffers.input.withBytes { bytes in
          for index in start..<start + count { content.bytes.append(bytes[index]) }
        }
        buffers.input.consume(start + count)
      case .lastChunk(let consumed): buffers.input.consume(consumed)
      case .end(let consumed):
        buffers.input.consume(consumed)
        content.hasEnded = true
      case .invalid: throw .delivery(.content)
      case .needsMore(let consumed):
        buffers.input.consume(consumed)
        buffers.input.reserve(1)
        switch buffers.input.receive(from: caller.stream) {
        case .moved: continue
        case .endOfStream, .failed: throw .delivery(.contentCut)
        case .wouldBlock:
          if !isFirst, caller.isLeaving { return nil }
          caller.watch(.content)
          if await caller.waiter.wait(until: deadline) == .timedOut { throw .delivery(.contentStalled) }
        }
      }
    }
  }

  // MARK: The question

  func writeAnswer(to question: CheckRequest) async {
    do throws(ExchangeFailure) {
      _ = await writeHandOut(try take(question), isJudged: true)
    } catch {
      await write(error, keepsConnection: false)
    }
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

  /// The facts that the answer needs besides the one in the HTTP form.
  /// - Parameter question: nil if it was not read.
  func response(to question: CheckRequest?) -> CheckResponse {
    let route = request.route
    return CheckResponse(
      credentialField: route?.credentialField ?? "Authorization",
      strayNames: (question?.strayNames ?? []) + strayNames(route), hasMetadata: question?.wantsMetadata ?? false)
  }

  /// Lends the head and the content of the answer that was written, and forgets it.
  func takeAnswer<Value>(_ body: (borrowing ResponseHead, Span<UInt8>, Span<UInt8>) -> Value) -> Value {
    let limits = HeadLimits(headBytes: .max, fieldCount: 1000)
    var parser = ResponseHeadParser()
    var head = ResponseHead()
    defer { buffers.output.removeAll() }
    return buffers.output.withBytes { bytes in
      guard case .complete(let count) = parser.parse(bytes, into: &head, limits: limits) else {
        preconditionFailure("our own answers are acceptable HTTP")
      }
      return body(head, bytes, bytes.extracting(droppingFirst: count))
    }
  }

  // MARK: The answer

  func beginCallAnswer() {
    HeadWriter.statusLine(200, into: &buffers.output)
    buffers.output.append("Content-Type: application/grpc\r\n")
    writeDate()
    HeadWriter.chunkedCoding(into: &buffers.output)
    HeadWriter.end(into: &buffers.output)
  }

  func write(_ message: [UInt8]) {
    HeadWriter.chunk((GRPCCall.prefix(message.count) + message).span, into: &buffers.output)
  }

  func endCallAnswer(_ status: GRPCStatus) {
    HeadWriter.lastChunk(into: &buffers.output)
    HeadWriter.field("grpc-status", decimal: UInt64(status.rawValue), into: &buffers.output)
    HeadWriter.end(into: &buffers.output)
  }

  /// The names of the caller's fields that the proxy would not forward: they chose the token, prove the caller here, or
  /// look like the credential's.
  private func strayNames(_ route: Route?) -> [ArraySlice<UInt8>] {
    guard let route, request.hasHead else { return [] }
    let own = route.credentialField
    var names: [ArraySlice<UInt8>] = []
    request.headBytes.withBytes { bytes in
      for index in 0..<request.head.fields.count {
        let line = request.head.fields[index]
        let name = bytes.extracting(line.name)
        let isOwn = name.equalsIgnoringCase(Array(own.utf8).span)
        if !isOwn, facts.ingress.rules.consumes(line, bytes) || route.consumes(line, bytes) {
          names.append(name.array[...])
        }
      }
    }
    return names
  }
}

extension ExchangeFailure {
  /// True if the engine itself may not ask.
  var refusesEngine: Bool {
    switch self {
    case .caller, .handOut(.browser): true
    default: false
    }
  }
}

extension Route {
  /// The field of its token or key.
  var credentialField: String { fixedCredential?.name.text ?? "Authorization" }
}
