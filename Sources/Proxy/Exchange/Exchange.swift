// The order of one request's life: admit, token, forward, or an answer of the proxy's own, then the record. It carries
// out what the rules beside it decided. Beside this file: Credentials, Forwarding, Relay, Challenge, Answers, SignIn.

internal import Bytes
internal import HTTP
internal import HTTPClient
internal import Identity
internal import Platform
internal import Routing
internal import Telemetry
internal import Tokens

struct Exchange {
  let caller: Caller
  /// The facts at the request's start, which count to its end.
  let facts: CallerFacts
  let buffers: CallerBuffers
  let request: RequestContext
  // That of the facts; here, too, because a value one step away is passed on without counting a reference.
  let state: LoopState

  init(_ caller: Caller, _ facts: CallerFacts, _ buffers: CallerBuffers, _ request: RequestContext) {
    self.caller = caller
    self.facts = facts
    self.buffers = buffers
    self.request = request
    state = facts.state
  }

  /// Serves the request whose head was parsed. False: it is the caller's last. Inlined, since the frame of a call would
  /// be allocated for each request.
  @inline(__always)
  func run() async -> Bool {
    identify()
    let listener = facts.listener
    if listener.describesItself, let resource = describedResource() {
      if request.head.asksForTunnel { return await refuse(.tunnelRefused) }
      return await answerMetadata(of: resource)
    }
    if listener.reservesPaths, listener.programs != nil || reservedPath() == .reserved || engineMethod != nil {
      if request.head.asksForTunnel { return await refuse(.tunnelRefused) }
      return await answerReserved()
    }
    switch admit() {
    case .forward(let admitted): request.admitted = admitted
    case .preflight: return await answerPreflight(keepsConnection: mayGoOn)
    case .refused(let failure): return await refuse(failure)
    case .options:
      do throws(ExchangeFailure) {
        if try !believesCallerToken() { try await judgeCallerToken() }
      } catch {
        return await refuse(error)
      }
      return await answerOptions(keepsConnection: mayGoOn)
    }
    let route = route
    if let limit = route.timeouts.whole { request.whole = request.start + limit }
    do throws(ExchangeFailure) {
      if request.admitted.version == .http2 { try takeDeadline() }
      if try !believesCallerToken() { try await judgeCallerToken() }
      if try !takeHeldCredential(for: route) { request.credential = try await obtainCredential(for: route) }
      let goesOn = try await forward(to: route)
      finish()
      return goesOn
    } catch {
      return await refuse(inTime(error))
    }
  }

  var route: Route {
    guard let route = request.route else { preconditionFailure("what is forwarded has a route") }
    return route
  }

  @inline(never)
  private func refuse(_ failure: ExchangeFailure) async -> Bool {
    await answer(failure, keepsConnection: failure.leavesConnectionUsable && mayGoOn)
  }

  /// True if the caller's connection goes on behind an answer to a request without content.
  var mayGoOn: Bool {
    mayGoOn(isRead: !request.head.fields.contains(.contentLength) && !request.head.fields.contains(.transferEncoding))
  }

  /// True if the caller's connection goes on behind an answer of the proxy's own.
  func mayGoOn(isRead: Bool) -> Bool {
    Persistence.afterAnswer(to: .after(request: request.head), isRead: isRead, isEnding: caller.isEnding)
      == .keepAlive
  }

  var isCall: Bool {
    request.hasHead && request.headBytes.withBytes { GRPCCall.isOne(request.head, $0) }
  }

  /// Takes over the time that a gRPC call has, if it is less than the route's.
  @inline(never)
  func takeDeadline() throws(ExchangeFailure) {
    guard isCall else { return }
    switch request.headBytes.withBytes({ GRPCTimeout(request.head, $0) }) {
    case .none: break
    case .limit(let limit): request.whole = min(request.whole, request.start + limit)
    case .invalid: throw .callTimeout
    }
  }

  /// The failure, or the end of the exchange's time if a wait ended for that.
  private func inTime(_ failure: ExchangeFailure) -> ExchangeFailure {
    switch failure {
    case .unreachable(.timedOut): state.loop.now < request.whole ? failure : .delivery(.exchangeTimedOut)
    case .token(let error) where error.isProviderUnavailable:
      state.loop.now < request.whole ? failure : .delivery(.exchangeTimedOut)
    default: failure
    }
  }

  // MARK: Before the upstream

  private func admit() -> Admission.Verdict {
    let service = state.service
    let isAmbiguous = facts.listener.reservesPaths && reservedPath() == .ambiguous
    request.path.removeAll()
    if let refusal = facts.refusal { return .refused(.caller(refusal)) }
    let admission = Admission(
      request.head, request.headBytes, callers: facts.listener.callers, isTLS: facts.ingress.isTLS,
      pseudonym: state.hop.pseudonym, table: service.table, bodyLimit: service.limits.bodyBytes,
      normalPath: &request.path)
    request.record.route = admission.route?.index
    request.corsOrigin = admission.corsOrigin
    let verdict = isAmbiguous && admission.reachesRoute ? .refused(.path(.otherRoute)) : admission.verdict
    request.route = admission.takeRoute()
    // A hop that removes every field may lead back here. Nothing separates such a request from a new one, so only a
    // number can end the loop.
    let unmarked = FieldNameSet(.host).with(.connection).with(.contentLength).with(.transferEncoding)
    if case .forward = verdict, request.head.fields.containsOnly(unmarked) {
      if state.unmarkedRequests >= service.limits.unmarked { return .refused(.suspectedLoop) }
      state.unmarkedRequests += 1
      request.isUnmarked = true
    }
    return verdict
  }

  private func identify() {
    let tracer = state.service.process.tracer
    let trace = RequestIdentity.write(
      request.head, request.headBytes, tracing: tracer?.rules, using: &state.clock.random,
      into: &request.identity)
    if trace.isRecorded, let tracer {
      request.trace = ExchangeTrace(trace, tracer, facts, request)
    }
  }

  // MARK: Afterwards

  func finish() {
    if request.isUnmarked {
      request.isUnmarked = false
      state.unmarkedRequests -= 1
    }
    let (metrics, now) = (state.metrics, state.loop.now)
    request.record.total = (now - request.start).nanoseconds
    request.record.credential = sentCredential
    let record = request.record
    let handles = state.service.metrics
    let row = handles.row(record.route)
    let statusClass = ServiceMetrics.statusClass(record.status)
    metrics.add(handles.requests[row, statusClass])
    metrics.add(handles.responses[row, ServiceMetrics.codeRow(record.status)])
    metrics.add(handles.tokenSources[row, Int(record.tokenSource.rawValue)])
    metrics.observe(handles.durations[row, statusClass], nanoseconds: record.total)
    if let fault = record.fault { metrics.add(handles.upstreamFailures[row, fault.position]) }
    request.trace?.end(record, route: request.route, now: now)
    guard state.service.accessLog != nil else { return }
    // A head that was refused is not recorded beyond its answer.
    let head = request.hasHead ? RecordedHead(request.head) : RecordedHead()
    var account: [UInt8] = []
    if let slot = request.slot, let bearer = request.credential.bearer {
      account = state.recordedAccount(of: bearer, slot: slot)
    }
    head.record(
      record, request.headBytes, request.identity, caller: facts.ingress.peer, account: account,
      subject: request.callerToken?.recordedSubject ?? [], in: state)
  }

  private var sentCredential: SentCredential {
    if request.slot == nil, request.credential.bearer != nil { return .fixed }
    return switch request.credential.owner {
    case .none: .none
    case .caller: request.route.flatMap(callersOwnField) == nil ? .none : .kept
    case .proxy: request.slot.map { state.service.sentCredentials[$0] } ?? .none
    }
  }
}

/// An access record's part of a request head: never the query, which may hold secrets.
struct RecordedHead {
  var method = ByteRange()
  var host = ByteRange()
  var path = ByteRange()

  init() {}

  init(_ head: borrowing RequestHead) {
    method = head.methodName
    host = head.authority
    path = head.target.path
  }

  /// Adds a request's record to the loop's.
  func record(
    _ access: AccessRecord, _ head: borrowing ByteBuffer, _ identity: borrowing ByteBuffer, caller: [UInt8],
    account: [UInt8], subject: [UInt8], in state: LoopState
  ) {
    let texts = head.bytes
    let ids = identity.bytes
    state.accessRecords.append(
      access, at: state.clock.wallClock(), method: texts.extracting(method), host: texts.extracting(host),
      path: texts.extracting(path), caller: caller.span, account: account.span, subject: subject.span,
      requestID: RequestIdentity.requestID(ids), traceID: RequestIdentity.traceID(ids))
    state.hasRecorded()
  }
}
