// Answers in the proxy's own name: problem documents, preflights, OPTIONS that goes no further.

internal import Bytes
internal import HTTP
internal import HTTPClient
internal import Identity
internal import Platform
internal import Routing
internal import Telemetry
internal import Tokens

extension Exchange {
  /// Sends a problem document. Whether the connection can carry another exchange. Outlined, like the other answers: in
  /// the frame of a request each would take memory for as long as its connection lives.
  @inline(never)
  @discardableResult
  func answer(_ failure: ExchangeFailure, keepsConnection: Bool = false) async -> Bool {
    await write(failure, keepsConnection: keepsConnection, asCall: isCall)
    let isDelivered = await deliver()
    // Nothing was waited for. A caller that sends such requests back to back must not have the loop for itself.
    if keepsConnection { await Task.yield() }
    return isDelivered && keepsConnection
  }

  /// Writes a problem document, or the page in its place; or the status of a gRPC call.
  func write(_ failure: ExchangeFailure, keepsConnection: Bool, asCall: Bool = false) async {
    request.trace?.problem = ProblemDocument(failure).type.rawValue
    write(failure, await signInPage(insteadOf: failure), keepsConnection: keepsConnection, isCall: asCall)
  }

  /// Sends another answer with content.
  @inline(never)
  func answer(_ response: ProxyResponse, keepsConnection: Bool) async -> Bool {
    beginAnswer(response.status)
    writeFields(response)
    writeDate()
    writeEnd(keepsConnection: keepsConnection)
    writeContent(response)
    return await deliver() && keepsConnection
  }

  /// Grants a browser's preflight, so that the page of another site goes on.
  @inline(never)
  func answerPreflight(keepsConnection: Bool) async -> Bool {
    beginAnswer(204)
    writeDate()
    request.headBytes.withBytes {
      CORSPolicy.writePreflightGrant(
        request.head, $0, origin: $0.extracting(request.corsOrigin), into: &buffers.output)
    }
    return await endAnswer(keepsConnection: keepsConnection)
  }

  @inline(never)
  func answerOptions(keepsConnection: Bool) async -> Bool {
    beginAnswer(200)
    writeDate()
    if let allow = request.route?.allow, !allow.isEmpty {
      HeadWriter.field("Allow", allow.span, into: &buffers.output)
    }
    HeadWriter.field("Content-Length", "0", into: &buffers.output)
    writeCORSGrant()
    return await endAnswer(keepsConnection: keepsConnection)
  }

  /// The request's id; empty if there is no head.
  var requestID: String {
    request.hasHead ? request.identity.withBytes { RequestIdentity.requestID($0).text } : ""
  }

  var audience: ResponseAudience {
    request.hasHead && !isCall ? request.headBytes.withBytes { ResponseAudience(request.head, $0) } : .program
  }

  /// The sign-in page in the place of an answer that says that a sign-in is missing, to a browser that navigates here;
  /// so there is one page before the identity provider, not two.
  private func signInPage(insteadOf failure: ExchangeFailure) async -> ProxyResponse? {
    guard case .token(let error) = failure, request.route?.token.onInteractionRequired != .redirect else { return nil }
    return await signInPage(reason: SignInPages.reason(error.interactionRequired?.reason))
  }

  /// The same for any reason; nil without one, for a program, and if this listener has no pages for the route.
  func signInPage(reason: String?) async -> ProxyResponse? {
    guard let reason, audience == .person, let handler = facts.listener.signIn, let route = request.route,
      let returnTo = request.returnTo
    else { return nil }
    let visit = request.headBytes.withBytes { SignInPageRequest(request.head, $0, origin: handler.origin) }
    return await handler.page(
      insteadOf: returnTo, route: route.name, visit, details: [("Reason", reason), ("Request", requestID)])
  }

  /// Writes a problem document. Not inlined: what it needs in between has no place in a frame that waits.
  @inline(never)
  private func write(_ failure: ExchangeFailure, _ page: ProxyResponse?, keepsConnection: Bool, isCall: Bool) {
    let problem = ProblemDocument(failure)
    var response = ProxyResponse(
      problem, route: request.route, requestID: requestID, signIn: signInLink(problem),
      commands: state.service.description.commands, audience: audience)
    let isForProgram = facts.listener.programs != nil
    if isForProgram || isCall {
      let words = problem.interaction?.words(
        route: request.route?.name ?? "", link: signInLink(problem), state.service.description.commands)
      response =
        isCall
        ? ProxyResponse(call: failure, problem, words: words)
        : ProxyResponse(program: failure, problem, words: words)
    }
    if response.status >= 500, let status = request.handOut?.unavailableStatus { response.status = status }
    if let page { response = ProxyResponse(status: response.status, fields: page.fields, body: page.body) }
    // A call's answer has its status in a field. The record and the metrics keep the one that it would have here.
    HeadWriter.statusLine(isCall ? 200 : response.status, into: &buffers.output)
    request.record.status = UInt16(response.status)
    writeFields(response)
    writeDate()
    // Azure's SDKs would wait so long before each of three or five repetitions. Their own pauses are 25 s together.
    let isForManagedIdentity = isForProgram && request.head.method == .get
    if let seconds = problem.retryAfter, !isForManagedIdentity {
      HeadWriter.field("Retry-After", decimal: UInt64(max(seconds, 1)), into: &buffers.output)
    }
    if let interaction = problem.interaction, response.status == 401 {
      HeadWriter.field("WWW-Authenticate", Array(interaction.challenge.utf8).span, into: &buffers.output)
    }
    if !isForProgram,
      let challenge = problem.assertion?.challenge.map({ $0 + resourceParameters }) ?? callerChallenge(failure)
    {
      HeadWriter.field("WWW-Authenticate", Array(challenge.utf8).span, into: &buffers.output)
    }
    writeCORSGrant()
    if case .refusedToken = failure { writeReportedChallenges() }
    if case .methodNotAllowed = failure, let allow = request.route?.allow {
      HeadWriter.field("Allow", allow.span, into: &buffers.output)
    }
    writeEnd(keepsConnection: keepsConnection)
    if !request.hasHead || request.head.method != .head { buffers.output.append(response.body) }
    request.record.bytesOut = UInt64(response.body.count)
    request.record.outcome = failure.outcome
    request.record.fault = failure.upstreamFault
    request.record.problem = problem.type
    let metrics = state.service.metrics
    state.metrics.add(metrics.problems[metrics.row(request.record.route), problem.type.position])
    if let limit = failure.limit { state.metrics.add(state.service.metrics.limits[limit.position]) }
  }

  // MARK: Heads

  /// The rest of an interim answer that the caller may have the beginning of stays in front.
  func beginAnswer(_ status: Int) {
    HeadWriter.statusLine(status, into: &buffers.output)
    request.record.status = UInt16(status)
    request.record.outcome = .answeredByProxy
  }

  func writeDate() {
    state.clock.refreshDate()
    state.clock.dateText.withBytes { HeadWriter.field("Date", $0, into: &buffers.output) }
  }

  private func writeCORSGrant() {
    if request.corsOrigin.isEmpty { return }
    request.headBytes.withBytes {
      CORSPolicy.writeGrant(origin: $0.extracting(request.corsOrigin), into: &buffers.output)
    }
    buffers.output.append("Vary: Origin\r\n")
  }

  func writeEnd(keepsConnection: Bool) {
    HeadWriter.end(
      keepsConnection ? .kept : .closed, for: request.head.version, into: &buffers.output)
  }

  /// Writes the fields that go with the content, and its length.
  func writeFields(_ response: ProxyResponse) {
    for (name, value) in response.fields {
      HeadWriter.field(name, Array(value.utf8).span, into: &buffers.output)
    }
    HeadWriter.field("Content-Length", decimal: UInt64(response.body.count), into: &buffers.output)
  }

  /// Writes the content, unless the caller asked for the head alone.
  func writeContent(_ response: ProxyResponse) {
    let isHead = request.head.method == .head
    if !isHead { buffers.output.append(response.body) }
    request.record.bytesOut = isHead ? 0 : UInt64(response.body.count)
  }

  private func endAnswer(keepsConnection: Bool) async -> Bool {
    writeEnd(keepsConnection: keepsConnection)
    return await deliver() && keepsConnection
  }

  /// Sends what was written, and ends the exchange. True if everything was sent.
  func deliver() async -> Bool {
    let isDelivered = await flush()
    finish()
    return isDelivered
  }

  func flush() async -> Bool {
    let deadline = state.loop.now + state.service.limits.idle
    while !buffers.output.isEmpty {
      switch buffers.output.send(to: caller.stream) {
      case .moved: continue
      case .endOfStream, .failed:
        request.record.outcome = .abortedByDownstream
        return false
      case .wouldBlock:
        caller.watch(.room)
        if await caller.waiter.wait(until: deadline) == .timedOut {
          caller.stream.reset()
          return false
        }
      }
    }
    return true
  }
}
