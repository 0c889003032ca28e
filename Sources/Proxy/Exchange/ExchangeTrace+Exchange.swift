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
      epoch: state.wallClock().unixNanoseconds &- state.loop.now.nanoseconds, random: { clock.random.next() })
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
    let requestID = request.logRequest.requestID
    let peer = String(decoding: ingress.peer, as: UTF8.self)
    let isTLS = ingress.isTLS
    self = request.headBytes.withBytes { bytes in
      TracedRequest(request.head, bytes, isTLS: isTLS, requestID: requestID, peer: peer)
    }
  }

  private init(
    _ head: borrowing RequestHead, _ bytes: Span<UInt8>, isTLS: Bool, requestID: String, peer: String
  ) {
    var host = bytes.extracting(head.authority).text
    var port: Int?
    if let colon = host.lastIndex(of: ":"), let number = UInt16(host[host.index(after: colon)...]) {
      port = Int(number)
      host = String(host[..<colon])
    }
    var traceStates: [String] = []
    for index in 0..<head.fields.count where head.fields[index].known == .tracestate {
      traceStates.append(bytes.extracting(head.fields[index].value).text)
    }
    self.init(
      method: head.method, path: bytes.extracting(head.target.path).text, host: host, port: port,
      traceStates: traceStates, version: head.version, isTLS: isTLS, requestID: requestID, peer: peer)
  }
}
