// The exchange's data for its trace, which knows no connections and buffers.

internal import Bytes
internal import HTTP
internal import Platform
internal import Telemetry

extension ExchangeTrace {
  @inline(never)
  convenience init(_ trace: RequestTrace, _ tracer: Tracer, _ caller: CallerFacts, _ request: RequestContext) {
    func text(_ range: ByteRange) -> String { request.headBytes.withBytes { $0.extracting(range).text } }
    var attributes: [(StaticString, SpanValue)] = [
      ("url.path", .string(text(request.head.target.path))),
      ("url.scheme", .string(caller.ingress.isTLS ? "https" : "http")),
      ("network.protocol.version", .string("\(request.head.version.number)")),
      ("bearer_proxy.request_id", .string(request.logRequest.requestID)),
    ]
    var host = text(request.head.authority)
    if let colon = host.lastIndex(of: ":"), let port = UInt16(host[host.index(after: colon)...]) {
      attributes.append(("server.port", .integer(Int64(port))))
      host = String(host[..<colon])
    }
    if !host.isEmpty { attributes.append(("server.address", .string(host))) }
    let peer = String(decoding: caller.ingress.peer, as: UTF8.self)
    if !peer.isEmpty { attributes.append(("client.address", .string(peer))) }
    var traceStates: [String] = []
    for index in 0..<request.head.fields.count where request.head.fields[index].known == .tracestate {
      traceStates.append(text(request.head.fields[index].value))
    }
    let clock = caller.state.clock
    self.init(
      trace, tracer, method: request.head.method == .other ? nil : text(request.head.methodName), attributes,
      traceStates: traceStates, start: request.start,
      epoch: clock.wallClock().unixNanoseconds &- caller.state.loop.now.nanoseconds,
      random: { clock.random.next() })
  }

  /// Begins an attempt at the upstream, whose request is to name its span as its parent.
  @inline(never)
  func beginAttempt(_ request: RequestContext, now: MonotonicTime) {
    RequestIdentity.replace(parent: beginAttempt(now: now), in: &request.identity)
  }

  @inline(never)
  func sends(_ attempt: UpstreamAttempt) {
    attempt.output.withBytes { sends($0) }
  }
}
