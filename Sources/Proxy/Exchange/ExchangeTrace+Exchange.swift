// The exchange's data for its trace, which knows no connections and buffers.

internal import Bytes
internal import HTTP
internal import Platform
internal import Telemetry

extension ExchangeTrace {
  @inline(never)
  convenience init(
    _ trace: RequestTrace, _ tracer: Tracer, _ caller: CallerFacts, _ request: RequestContext
  ) {
    let state = caller.state
    let clock = state.clock
    self.init(
      trace, of: TracedRequest(caller.ingress, request), tracer, start: request.start,
      epoch: state.clock.wallClock().unixNanoseconds &- state.loop.now.nanoseconds, random: { clock.random.next() })
  }

  /// Begins an attempt at the upstream, whose request is to name its span as its parent.
  @inline(never)
  func beginAttempt(_ request: RequestContext, now: MonotonicTime) {
    let (trace, span) = beginAttempt(now: now)
    RequestIdentity.replace(parent: span, of: trace, in: &request.identity)
  }

  @inline(never)
  func sends(_ attempt: UpstreamAttempt) {
    attempt.output.withBytes { sends($0) }
  }
}

extension TracedRequest {
  fileprivate init(_ ingress: Ingress, _ request: RequestContext) {
    func text(_ range: ByteRange) -> String { request.headBytes.withBytes { $0.extracting(range).text } }
    method = request.head.method
    path = text(request.head.target.path)
    host = text(request.head.authority)
    if let colon = host.lastIndex(of: ":"), let number = UInt16(host[host.index(after: colon)...]) {
      port = Int(number)
      host = String(host[..<colon])
    }
    for index in 0..<request.head.fields.count where request.head.fields[index].known == .tracestate {
      traceStates.append(text(request.head.fields[index].value))
    }
    version = request.head.version
    isTLS = ingress.isTLS
    requestID = request.logRequest.requestID
    peer = String(decoding: ingress.peer, as: UTF8.self)
  }
}
