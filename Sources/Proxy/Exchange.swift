// Owns the order of one request's life: admit, token, connect, relay, answer, record. It performs what the rules beside it
// decided, and decides nothing itself. The relay proper is in Exchange+Relay.swift.

internal import HTTP
internal import HTTPClient
internal import Identity
internal import Network
internal import Telemetry
internal import Tokens

/// One request and its answer.
struct Exchange {
  var record = AccessRecord()
  var route: Route?
  let start: MonotonicTime
  let headBytes: Int
  /// Whether the head still stands in front of the caller's input. It is kept while the request might be sent again.
  var keepsHead = true
  var whole = MonotonicTime.distantFuture
  /// Who reads an answer of our own that needs a person.
  var reader = AnswerReader.program
  /// Where a person was going, to come back to after a sign-in.
  var returnTo: String?
  /// The spans of the request; nil where it is not traced.
  private(set) var trace: ExchangeTrace?

  init(start: MonotonicTime, headBytes: Int) {
    self.start = start
    self.headBytes = headBytes
  }

  /// Serves the request whose head was parsed. False: the caller's connection is to be closed.
  mutating func run(_ connection: DownstreamConnection, _ scratch: Scratch) async -> Bool {
    let state = connection.state
    identify(connection, scratch)
    if let handler = signInHandler(connection, scratch) { return await signIn(handler, connection, scratch) }
    let goesOn: Bool
    do throws(ExchangeFailure) {
      let admission = try admit(connection, scratch)
      try await judgeCallerToken(connection, scratch)
      if admission.isForProxy { throw .options }
      let credential: RequestCredential
      if let held = try heldCredential(for: admission.route, connection, scratch) {
        credential = held
      } else {
        credential = try await obtainCredential(for: admission.route, connection, scratch)
      }
      goesOn = try await relay(admission, credential, connection, scratch)
    } catch {
      let keepsConnection = error.leavesConnectionUsable && isWhollyRead(scratch) && !connection.isEnding
      switch error {
      case .preflight, .options:
        return await answerOptions(error, connection, scratch, keepsConnection: keepsConnection)
      default: break
      }
      if keepsConnection { scratch.requestInput.consume(headBytes) }
      return await answer(error, connection, scratch, keepsConnection: keepsConnection)
    }
    finish(state, scratch, connection)
    return goesOn
  }

  /// Whether nothing of the request is left to read behind its head, and its sender wants to go on.
  private func isWhollyRead(_ scratch: Scratch) -> Bool {
    keepsHead && Persistence.after(request: scratch.requestParser.head) == .keepAlive
      && !scratch.requestParser.head.fields.contains(.contentLength)
      && !scratch.requestParser.head.fields.contains(.transferEncoding)
  }

  // MARK: Before the relay

  private mutating func admit(
    _ connection: DownstreamConnection, _ scratch: Scratch
  ) throws(ExchangeFailure) -> Admission {
    let service = connection.state.service
    let isAmbiguous = connection.context.signIn != nil && signInPath(scratch) == .ambiguous
    scratch.path.removeAll()
    defer { record.route = route?.index }
    if let refusal = connection.refusal { throw .caller(refusal) }
    let admission = try Admission(
      scratch.requestParser.head, scratch.requestInput, callers: connection.context.callers,
      isTLS: connection.ingress.isTLS, pseudonym: service.pseudonym, table: service.table,
      bodyLimit: service.limits.bodyBytes, normalPath: &scratch.path, found: &route, reader: &scratch.reader)
    if isAmbiguous { throw .path(.otherRoute) }
    if let limit = admission.route.timeouts.whole { whole = start + limit }
    return admission
  }

  /// Takes over or makes the request's ids, and copies what the access record needs of the head.
  private mutating func identify(_ connection: DownstreamConnection, _ scratch: Scratch) {
    let state = connection.state
    let tracer = state.service.tracer
    scratch.identity.removeAll()
    let trace = scratch.requestInput.withBytes {
      RequestIdentity.write(
        scratch.requestParser.head, $0, tracing: tracer?.rules, random: state.clock.nextRandom,
        into: &scratch.identity)
    }
    if trace.isRecorded, let tracer {
      self.trace = ExchangeTrace(trace, tracer, connection, scratch, start: start)
    }
    guard state.service.accessLog != nil else { return }
    scratch.recorded.removeAll()
    scratch.requestInput.withBytes { RecordedHead.write(scratch.requestParser.head, $0, into: &scratch.recorded) }
  }

  /// With whose right the request goes out: the route's token, unless the caller brought something that the route keeps. Nil where
  /// the loop holds no usable copy of the token: only those who wait for one have the frame of a wait.
  private mutating func heldCredential(
    for route: Route, _ connection: DownstreamConnection, _ scratch: Scratch
  ) throws(ExchangeFailure) -> RequestCredential? {
    guard let slot = route.bearerSlot else { return .callers }
    if route.token.existing != .replaced, callerSentAuthorization(connection, scratch) {
      if route.token.existing == .kept { return .callers }
      throw .authorizationRefused
    }
    let state = connection.state
    let now = UnixTime(state.wallClock().seconds)
    guard let value = state.bearers[slot], value.isUsable(at: now) else { return nil }
    record.tokenSource = .cache
    if value.claimsRefresh(at: now) { state.service.broker.refreshBehind(state.service.subscriptions[slot]) }
    return .bearer(value)
  }

  /// The route's token as the broker obtains it.
  private mutating func obtainCredential(
    for route: Route, _ connection: DownstreamConnection, _ scratch: Scratch
  ) async throws(ExchangeFailure) -> RequestCredential {
    guard let slot = route.bearerSlot else { return .callers }
    do throws(ExchangeFailure) {
      return .bearer(try await bearer(slot, connection, scratch))
    } catch {
      noteInteraction(error, route, connection.state, scratch)
      // A connection that makes room for another one has no time left for an upstream.
      guard route.token.forwardsWithout, !connection.mustEnd, case .token(let reason) = error,
        !reason.isInteractionRequired
      else { throw error }
      return .none
    }
  }

  private mutating func bearer(
    _ slot: Int, _ connection: DownstreamConnection, _ scratch: Scratch
  ) async throws(ExchangeFailure) -> BearerValue {
    let state = connection.state
    let asked = state.loop.now
    let subscription = state.service.subscriptions[slot]
    let spans = trace?.beginToken()
    record.tokenSource = .identityProvider
    defer { record.token = (state.loop.now - asked).nanoseconds }
    do throws(AcquisitionError) {
      let broker = state.service.broker
      let wait = TokenWait<BearerValue>(scratch.scope(spans: spans), on: connection.waiter) {
        () async throws(AcquisitionError) in try await broker.bearer(for: subscription)
      }
      let value = try await connection.outcome(of: wait, key: subscription.key)
      state.bearers[slot] = value
      if value.origin.source == .cache { record.tokenSource = .sharedCache }
      trace?.endToken(
        spans, of: subscription, since: asked, now: state.loop.now, source: record.tokenSource, error: nil)
      return value
    } catch {
      // Where nobody is signed in, nobody was asked.
      if case .interactionRequired(let required) = error, required.reason.isWithoutAccount {
        record.tokenSource = .none
      }
      trace?.endToken(
        spans, of: subscription, since: asked, now: state.loop.now, source: record.tokenSource, error: error)
      throw .token(error)
    }
  }

  // MARK: Answers of our own

  /// Sends a problem document. Whether the connection can carry another exchange.
  @discardableResult
  mutating func answer(
    _ failure: ExchangeFailure, _ connection: DownstreamConnection, _ scratch: Scratch, keepsConnection: Bool = false
  ) async -> Bool {
    trace?.problem = ProblemDocument(failure).kind
    write(failure, connection, scratch, keepsConnection: keepsConnection)
    let isDelivered = await flush(connection, scratch)
    finish(connection.state, scratch, connection)
    // Nobody was waited for. A caller that sends such requests back to back must not have the loop for itself.
    if keepsConnection { await Task.yield() }
    return isDelivered && keepsConnection
  }

  /// Writes a problem document. Not inlined: what it needs in between has no place in a frame that waits.
  @inline(never)
  private mutating func write(
    _ failure: ExchangeFailure, _ connection: DownstreamConnection, _ scratch: Scratch, keepsConnection: Bool
  ) {
    let problem = ProblemDocument(failure)
    let hasHead = headBytes > 0
    let form = AnswerForm(
      problem, route: route,
      requestID: hasHead ? scratch.identity.withBytes { RequestIdentity.requestID($0).text } : "",
      signIn: signInLink(problem, connection), reader: reader)
    let body = form.body
    // What waits in the output is the rest of an interim response that the caller may have the beginning of.
    HeadWriter.statusLine(form.status, into: &scratch.responseOutput)
    HeadWriter.field("Content-Type", form.contentType, into: &scratch.responseOutput)
    for field in form.fields {
      HeadWriter.field(field.name, Array(field.value.utf8).span, into: &scratch.responseOutput)
    }
    HeadWriter.field("Content-Length", decimal: UInt64(body.count), into: &scratch.responseOutput)
    HeadWriter.field("Cache-Control", "no-store", into: &scratch.responseOutput)
    connection.state.clock.refreshDate()
    connection.state.clock.dateText.withBytes { HeadWriter.field("Date", $0, into: &scratch.responseOutput) }
    if let seconds = problem.retryAfter {
      HeadWriter.field("Retry-After", decimal: UInt64(max(seconds, 1)), into: &scratch.responseOutput)
    }
    if let interaction = problem.interaction, form.status == 401 {
      HeadWriter.field("WWW-Authenticate", Array(interaction.challenge.utf8).span, into: &scratch.responseOutput)
    }
    if !scratch.reader.isEmpty {
      scratch.reader.withBytes { SiteSharing.writeGrant(origin: $0, into: &scratch.responseOutput) }
    }
    if case .caller(.untrustedToken) = failure {
      HeadWriter.field("WWW-Authenticate", #"Bearer realm="bearer-proxy""#, into: &scratch.responseOutput)
    }
    if case .methodNotAllowed = failure, let allow = route?.allow {
      HeadWriter.field("Allow", allow.span, into: &scratch.responseOutput)
    }
    if !keepsConnection {
      HeadWriter.field("Connection", "close", into: &scratch.responseOutput)
    } else if scratch.requestParser.head.version == .http10 {
      HeadWriter.field("Connection", "keep-alive", into: &scratch.responseOutput)
    }
    HeadWriter.end(into: &scratch.responseOutput)
    if !hasHead || scratch.requestParser.head.method != .head { scratch.responseOutput.append(body) }
    record.status = UInt16(form.status)
    record.bytesOut = UInt64(body.count)
    record.outcome = failure.outcome
    record.fault = failure.upstreamFault
    if let limit = failure.limit {
      connection.state.metrics.add(connection.state.service.metrics.limits[limit.row])
    }
  }

  /// Whether everything was sent.
  mutating func flush(_ connection: DownstreamConnection, _ scratch: Scratch) async -> Bool {
    let deadline = connection.state.loop.now + connection.state.service.limits.idle
    while !scratch.responseOutput.isEmpty {
      switch scratch.responseOutput.send(to: connection.stream) {
      case .moved: continue
      case .endOfStream, .failed:
        record.outcome = .abortedByDownstream
        return false
      case .wouldBlock:
        connection.waiter.watch(connection.stream.channel, connection.stream.sendInterest)
        if await connection.waiter.wait(until: deadline) == .timedOut {
          connection.stream.reset()
          return false
        }
      }
    }
    return true
  }

  // MARK: Afterwards

  /// Counts and records the request.
  mutating func finish(_ state: LoopState, _ scratch: Scratch, _ connection: DownstreamConnection) {
    record.total = (state.loop.now - start).nanoseconds
    let metrics = state.service.metrics
    let row = metrics.row(record.route)
    let statusClass = ServiceMetrics.statusClass(record.status)
    state.metrics.add(metrics.requests[row, statusClass])
    state.metrics.add(metrics.tokenSources[row, Int(record.tokenSource.rawValue)])
    state.metrics.observe(metrics.durations[row, statusClass], nanoseconds: record.total)
    if let fault = record.fault { state.metrics.add(metrics.upstreamFailures[row, Int(fault.rawValue)]) }
    trace?.end(record, route: route, now: state.loop.now)
    guard state.service.accessLog != nil else { return }
    // A head that was refused is not recorded beyond its answer.
    RecordedHead(scratch.requestParser.head, isParsed: headBytes > 0).record(
      record, scratch.recorded, scratch.identity, caller: connection.ingress.peer, in: state)
  }
}
