// Owns how a request to the sign-in pages is read and answered on a caller's connection. What is answered is the SignInHandler's.

internal import HTTP
internal import HTTPClient
internal import Network
internal import Telemetry
internal import Tokens

extension Exchange {
  /// The handler that a request is for, and its path's normal form in the scratch where that differs; nil where it is for a route.
  func signInHandler(_ connection: DownstreamConnection, _ scratch: Scratch) -> SignInHandler? {
    guard let handler = connection.context.signIn, signInPath(scratch) == .pages else { return nil }
    return handler
  }

  /// Where the path leads on a listener with sign-in pages.
  func signInPath(_ scratch: Scratch) -> SignInPath {
    scratch.path.removeAll()
    return scratch.requestInput.withBytes { bytes in
      SignInPath(bytes.extracting(scratch.requestParser.head.target.path), normal: &scratch.path)
    }
  }

  /// Serves a request to the sign-in pages. Whoever asks is a caller as any other, but that a browser may come from another site:
  /// from the application that showed the link, and from the identity provider.
  mutating func signIn(_ handler: SignInHandler, _ connection: DownstreamConnection, _ scratch: Scratch) async -> Bool {
    let visit: SignInPageRequest
    let count: UInt64
    do throws(ExchangeFailure) {
      if let refusal = connection.refusal { throw .caller(refusal) }
      (visit, count) = try Self.visit(
        scratch.requestParser.head, scratch.requestInput, callers: connection.context.callers, origin: handler.origin)
      try await judgeCallerToken(connection, scratch)
      guard count <= UInt64(SignInHandler.formLimit) else {
        return await answer(handler.tooLarge(), connection, scratch, keepsConnection: false)
      }
      var whole = visit
      if !scratch.path.isEmpty { whole.path = scratch.path.bytes.text }
      whole.body = try await content(Int(count), connection, scratch)
      let keepsConnection =
        count == 0 && Persistence.after(request: scratch.requestParser.head) == .keepAlive
        && !connection.isEnding
      let answer = await RequestScope.around(scratch.scope(spans: trace?.whole)) { [whole] in
        await handler.answer(whole)
      }
      scratch.requestInput.consume(headBytes + Int(count))
      return await self.answer(answer, connection, scratch, keepsConnection: keepsConnection)
    } catch {
      return await answer(error, connection, scratch)
    }
  }

  /// Reads the head, and the length of what follows.
  private static func visit(
    _ head: borrowing RequestHead, _ input: borrowing ByteBuffer, callers: borrowing CallerCheck, origin: SignInOrigin
  ) throws(ExchangeFailure) -> (SignInPageRequest, UInt64) {
    let bytes = input.bytes
    if !callers.isNamed(head, bytes) { throw .caller(.unknownHost) }
    if let refusal = callers.rules.judgeHeader(head, bytes) { throw .caller(refusal) }
    let framing: BodyFraming
    do throws(FramingError) {
      framing = try BodyFraming.request(head, bytes)
    } catch {
      throw .framing(error)
    }
    let visit = SignInPageRequest(head, bytes, origin: origin)
    switch framing {
    case .none: return (visit, 0)
    case .fixed(let count): return (visit, count)
    // No browser sends a form in pieces of unknown number.
    default: return (visit, .max)
    }
  }

  /// Waits for the content, which is small.
  private func content(
    _ count: Int, _ connection: DownstreamConnection, _ scratch: Scratch
  ) async throws(ExchangeFailure) -> [UInt8] {
    guard count > 0 else { return [] }
    let deadline = start + connection.state.service.limits.requestHead
    while scratch.requestInput.count < headBytes + count {
      scratch.requestInput.reserve(count)
      switch scratch.requestInput.receive(from: connection.stream) {
      case .moved: continue
      case .endOfStream, .failed: throw .contentCut
      case .wouldBlock:
        connection.waiter.watch(connection.stream.channel, connection.stream.receiveInterest)
        if await connection.waiter.wait(until: deadline) == .timedOut { throw .contentStalled }
      }
    }
    return scratch.requestInput.withBytes { bytes in
      let content = bytes.extracting(headBytes..<(headBytes + count))
      return content.indices.map { content[$0] }
    }
  }

  private mutating func answer(
    _ answer: SignInAnswer, _ connection: DownstreamConnection, _ scratch: Scratch, keepsConnection: Bool
  ) async -> Bool {
    let isHead = scratch.requestParser.head.method == .head
    HeadWriter.statusLine(answer.status, into: &scratch.responseOutput)
    for (name, value) in answer.fields {
      HeadWriter.field(name, Array(value.utf8).span, into: &scratch.responseOutput)
    }
    HeadWriter.field("Content-Length", decimal: UInt64(answer.body.count), into: &scratch.responseOutput)
    connection.state.clock.refreshDate()
    connection.state.clock.dateText.withBytes { HeadWriter.field("Date", $0, into: &scratch.responseOutput) }
    if !keepsConnection {
      HeadWriter.field("Connection", "close", into: &scratch.responseOutput)
    } else if scratch.requestParser.head.version == .http10 {
      HeadWriter.field("Connection", "keep-alive", into: &scratch.responseOutput)
    }
    HeadWriter.end(into: &scratch.responseOutput)
    if !isHead { scratch.responseOutput.append(answer.body) }
    record.status = UInt16(answer.status)
    record.bytesOut = isHead ? 0 : UInt64(answer.body.count)
    record.outcome = .answeredByProxy
    let isDelivered = await flush(connection, scratch)
    finish(connection.state, scratch, connection)
    return isDelivered && keepsConnection
  }
}
