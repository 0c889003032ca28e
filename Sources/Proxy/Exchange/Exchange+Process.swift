// Envoy's question for a token in the form of its filter ext_proc, which may be in the chain of an upstream: a stream
// for each attempt, with the head of the request and then that of the response. Each becomes a question in the HTTP
// form.

internal import Bytes
internal import HTTP
internal import HTTPClient
internal import Identity
internal import Platform
internal import Routing

/// One attempt of Envoy's to have a request answered, as far as its stream has told.
private struct EngineAttempt {
  var route: [UInt8]?
  /// The question that the request's head became.
  var question: CheckRequest?
  /// True if a refused token may be replaced: not again behind one that was.
  var mayReport = true
  var isOver = false
}

extension Exchange {
  /// Answers the messages of a stream, up to the head of the response or a refusal. What is wrong with the call itself
  /// is a status of gRPC.
  func process() async -> Bool {
    var isBegun = false
    var status = GRPCStatus.ok
    do throws(ExchangeFailure) {
      var content = try beginCall()
      caller.awaitsEngine()
      var attempt = EngineAttempt(route: nameOfRoute())
      while !attempt.isOver, let bytes = try await nextMessage(of: &content, isFirst: !isBegun) {
        let answer = try await answer(to: bytes, &attempt)
        if !isBegun { beginCallAnswer() }
        isBegun = true
        write(answer)
        if !attempt.isOver, !(await flush()) { break }
      }
    } catch {
      if !isBegun, error.refusesEngine {
        await write(error, keepsConnection: false)
        let response = response(to: nil)
        let refusal = takeAnswer { response.processing($0, $1, content: $2, replacement: nil) }
        beginCallAnswer()
        isBegun = true
        write(refusal)
      } else {
        guard isBegun else { return await answer(error) }
        status = GRPCStatus(error, ProblemDocument(error))
      }
    }
    if !isBegun { beginCallAnswer() }
    endCallAnswer(status)
    return await deliver()
  }

  private func answer(to bytes: [UInt8], _ attempt: inout EngineAttempt) async throws(ExchangeFailure) -> [UInt8] {
    let message: ProcessingRequest
    do throws(ProtobufError) { message = try ProcessingRequest(bytes[...]) } catch { throw .handOut(.message) }
    switch message {
    case .request(let head):
      guard attempt.question == nil else { throw .handOut(.message) }
      return await answer(head, &attempt)
    case .response(let head):
      attempt.isOver = true
      return CheckResponse.processing(again: await replacement(of: attempt, refusedBy: head))
    case .other(let number): return CheckResponse.processing(other: number)
    }
  }

  /// Answers the head of the request with the token, or in the API's place.
  private func answer(_ head: ProcessedRequest, _ attempt: inout EngineAttempt) async -> [UInt8] {
    var question = head.question
    do throws(ExchangeFailure) {
      if let name = attempt.route { question = try self.question(head, of: name) }
      await writeAnswer(to: question)
    } catch {
      // The answer has the form of HTTP, not of a call.
      request.dropHead()
      await write(error, keepsConnection: false)
    }
    attempt.question = question
    attempt.mayReport = head.replacement == nil
    let response = response(to: question)
    let replacement = head.replacement
    let (answer, isRefusal) = takeAnswer { head, bytes, content in
      (response.processing(head, bytes, content: content, replacement: replacement), head.status != 200)
    }
    attempt.isOver = isRefusal
    return answer
  }

  /// The token in the place of one that the API has refused; nil if it has not, or there is none.
  private func replacement(of attempt: EngineAttempt, refusedBy head: ProcessedResponse) async -> [UInt8]? {
    guard let status = head.refusal, attempt.mayReport, var question = attempt.question,
      let refused = request.credential.bearer, request.route?.fixedValue == nil
    else { return nil }
    let value = refused.bytes.array
    question.reports = head.report(of: value[...], status: status)
    await writeAnswer(to: question)
    let token = takeAnswer { head, bytes, _ -> [UInt8]? in
      guard head.status == 200, let line = head.fields.first(named: Self.authorization, in: bytes) else { return nil }
      return bytes.extracting(line.value).array
    }
    return token == value ? nil : token
  }

  private static let authorization = Array("authorization".utf8)
  private static let routeName = Array("x-bearer-route".utf8)

  /// The route that the call's metadata name. A caller of Envoy's has no part in them.
  private func nameOfRoute() -> [UInt8]? {
    request.headBytes.withBytes { bytes in
      request.head.fields.first(named: Self.routeName, in: bytes).map { bytes.extracting($0.value).array }
    }
  }

  private func question(_ head: ProcessedRequest, of name: [UInt8]) throws(ExchangeFailure) -> CheckRequest {
    guard let route = state.service.table.route(named: name.span) else { throw .noRoute }
    let question = head.question(
      of: name[...], host: route.host ?? Array("localhost".utf8), path: route.path, upstreamPath: route.upstreamPath,
      credentialField: route.credentialField)
    guard let question else { throw .handOut(.otherRoute) }
    return question
  }
}
