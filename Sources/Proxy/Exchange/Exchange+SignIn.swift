// Requests to the sign-in pages. The answers are SignInHandler's.

internal import Bytes
internal import HTTP
internal import HTTPClient
internal import Platform
internal import Routing
internal import Telemetry
internal import Tokens

extension Exchange {
  /// The target of the request's path on a listener that reserves paths.
  func reservedPath() -> ReservedPath {
    request.path.removeAll()
    return request.headBytes.withBytes { bytes in
      ReservedPath(bytes.extracting(request.head.target.path), normal: &request.path)
    }
  }

  /// Serves a request for a reserved path. Not inlined: requests for routes need no frame for it.
  @inline(never)
  func answerReserved() async -> Bool {
    if let programs = facts.listener.programs { return await serve(programs) }
    switch engineMethod {
    case .check?: return await check()
    case .process?: return await process()
    case nil: break
    }
    let path = request.headBytes.withBytes { HandOutPath($0.extracting(request.head.target.path)) }
    if let path, facts.listener.handsOut { return await handOut(path) }
    if let handler = facts.listener.signIn { return await signIn(handler) }
    return await answer(.noRoute, keepsConnection: mayGoOn)
  }

  /// Serves a request to the sign-in pages. The browser is a caller as any other, but that a browser may come from
  /// another site: from the application that showed the link, and from the identity provider.
  func signIn(_ handler: SignInHandler) async -> Bool {
    let visit: SignInPageRequest
    let count: UInt64
    do throws(ExchangeFailure) {
      if let refusal = facts.refusal { throw .caller(refusal) }
      (visit, count) = try self.visit(handler.origin)
      if try !believesCallerToken() { try await judgeCallerToken() }
      guard count <= UInt64(SignInHandler.formLimit) else {
        return await answer(handler.tooLarge(), keepsConnection: false)
      }
      var whole = visit
      if !request.path.isEmpty { whole.path = request.path.withBytes { $0.text } }
      whole.body = try await content(Int(count))
      // Only forms begin sign-ins.
      if count > 0 { whole.caller = await signInCaller() }
      let keepsConnection = mayGoOn(isRead: count == 0)
      let answer = await RequestScope.around(request.scope(spans: request.trace?.whole)) { [whole] in
        await handler.answer(whole)
      }
      buffers.input.consume(Int(count))
      return await self.answer(answer, keepsConnection: keepsConnection)
    } catch {
      return await answer(error)
    }
  }

  /// The caller, with the user for a process of this machine.
  private func signInCaller() async -> SignInCaller {
    let peer = String(decoding: facts.ingress.peer, as: UTF8.self)
    return SignInCaller(peer: peer, user: await LocalPeer(of: caller.connectionChannel).user())
  }

  /// Reads the head, and the length of what follows.
  private func visit(_ origin: SignInOrigin) throws(ExchangeFailure) -> (SignInPageRequest, UInt64) {
    let callers = facts.listener.callers
    return try request.headBytes.withBytes { bytes throws(ExchangeFailure) in
      if !callers.isNamed(request.head, bytes) { throw .caller(.unknownHost) }
      if let refusal = callers.rules.judgeHeader(request.head, bytes) { throw .caller(refusal) }
      let visit = SignInPageRequest(request.head, bytes, origin: origin)
      switch try Admission.framing(request.head, bytes) {
      case .none: return (visit, 0)
      case .fixed(let count): return (visit, count)
      // No browser sends a form in pieces of unknown number.
      default: return (visit, .max)
      }
    }
  }

  /// Waits for the content, which is small. A caller that waits for a 100 (Continue) gets it (RFC 9110 §10.1.1).
  func content(_ count: Int) async throws(ExchangeFailure) -> [UInt8] {
    var expectation = self.expectation
    if expectation == .unknown { throw .expectation }
    guard count > 0 else { return [] }
    let deadline = request.start + state.service.limits.requestHead
    while buffers.input.count < count {
      buffers.input.reserve(count)
      switch buffers.input.receive(from: caller.stream) {
      case .moved: continue
      case .endOfStream, .failed: throw .delivery(.contentCut)
      case .wouldBlock:
        if expectation == .continue100, buffers.input.isEmpty {
          expectation = .none
          buffers.output.append("HTTP/1.1 100 Continue\r\n\r\n")
          guard await flush() else { throw .delivery(.contentCut) }
          continue
        }
        caller.watch(.content)
        if await caller.waiter.wait(until: deadline) == .timedOut { throw .delivery(.contentStalled) }
      }
    }
    return buffers.input.withBytes { $0.extracting(first: count).array }
  }

  private var expectation: ExpectContinue { request.headBytes.withBytes { ExpectContinue.of(request.head, $0) } }
}
