// The spans of one traced request: the exchange itself, each attempt at its upstream, each token it waits for. Requests
// that are not traced have none of this.

internal import Bytes
internal import HTTP
internal import HTTPClient
internal import Identity
internal import Platform
internal import Telemetry

/// The spans of a request under way. Confined to its loop. Nothing of it is inlined, to keep the frames of untraced
/// requests small.
final class ExchangeTrace {
  private let trace: RequestTrace
  private let tracer: Tracer
  private let random: () -> UInt64
  /// The difference from a loop's instant to nanoseconds since 1970.
  private let epoch: UInt64
  private let start: MonotonicTime
  private let method: String
  /// The spans' name.
  private let name: String
  private let attributes: [(StaticString, SpanValue)]
  private let traceState: String?
  private var spans: [SpanRecord] = []
  private var attempt: Attempt?
  private var attempts = 0
  /// The type of the proxy's own problem answer.
  var problem: String?

  private struct Attempt {
    var context: TraceContext
    var start: MonotonicTime
    var path = ""
  }

  /// - Parameters:
  ///   - method: nil for unknown ones, of which a caller could make any number.
  ///   - traceStates: the values of the caller's `tracestate`.
  @inline(never)
  init(
    _ trace: RequestTrace, _ tracer: Tracer, method: String?, _ attributes: [(StaticString, SpanValue)],
    traceStates: [String], start: MonotonicTime, epoch: UInt64, random: @escaping () -> UInt64
  ) {
    (self.trace, self.tracer, self.start, self.epoch, self.random) = (trace, tracer, start, epoch, random)
    self.method = method ?? "_OTHER"
    name = method ?? "HTTP"
    self.attributes = [("http.request.method", .string(self.method))] + attributes
    traceState = trace.caller == nil ? nil : TraceState(traceStates)?.text
  }

  private var context: TraceContext { trace.own }

  /// The parent for work on the request as a whole.
  var whole: SpanScope { SpanScope(context) }

  private func unix(_ time: MonotonicTime) -> UInt64 { time.nanoseconds &+ epoch }

  // MARK: Tokens

  /// The parent for work while a token is awaited.
  func beginToken() -> SpanScope { SpanScope(context.sibling(random())) }

  /// Ends the wait for a token. A token that came from the cache at once has no span.
  @inline(never)
  func endToken(
    _ scope: SpanScope?, of subscription: TokenSubscription, since began: MonotonicTime, now: MonotonicTime,
    source: TokenSource, rejection: String? = nil, error: AcquisitionError?
  ) {
    guard let scope, source == .identityProvider || error != nil || scope.hasChildren else { return }
    var span = SpanRecord(
      scope.parent, parent: .local(context.span), name: "acquire token", kind: .internal, start: unix(began),
      end: unix(now))
    span.attributes = [("bearer_proxy.application", .string(subscription.application.name))]
    if let rejection { span.attributes.append(("bearer_proxy.token.rejection", .string(rejection))) }
    if let error {
      span.attributes.append(("error.type", .string(error.reason)))
      span.isError = true
    } else {
      span.attributes.append(("bearer_proxy.token.source", .string(source.word)))
    }
    spans.append(span)
  }

  // MARK: Attempts

  /// Begins an attempt at the upstream. Returns the span that its request names as its parent.
  @inline(never)
  func beginAttempt(now: MonotonicTime) -> TraceContext {
    let span = context.sibling(random())
    attempt = Attempt(context: span, start: now)
    return span
  }

  /// Reads the target from the head that is about to be sent.
  @inline(never)
  func sends(_ head: Span<UInt8>) {
    let words = head.array.split(separator: ASCII.space, maxSplits: 2)
    if words.count > 1 {
      self.attempt?.path = String(decoding: words[1].prefix { $0 != ASCII.question }, as: UTF8.self)
    }
  }

  /// Ends the attempt. `status`: of the answer; 0 if there is none.
  @inline(never)
  func endAttempt(_ route: Route, _ origin: Origin, status: Int, error: String?, now: MonotonicTime) {
    guard let attempt else { return }
    self.attempt = nil
    defer { attempts += 1 }
    var span = SpanRecord(
      attempt.context, parent: .local(context.span), name: name, kind: .client,
      start: unix(attempt.start), end: unix(now))
    span.traceState = traceState
    span.attributes = [
      ("http.request.method", .string(method)),
      ("url.full", .string(route.upstreamOrigin + attempt.path)),
      ("server.address", .string(origin.host)), ("server.port", .integer(Int64(origin.port))),
      ("network.protocol.version", .string("1.1")),
    ]
    if attempts > 0 { span.attributes.append(("http.request.resend_count", .integer(Int64(attempts)))) }
    if status > 0 { span.attributes.append(("http.response.status_code", .integer(Int64(status)))) }
    if let type = error ?? (status >= 400 ? "\(status)" : nil) {
      span.attributes.append(("error.type", .string(type)))
      span.isError = true
    }
    spans.append(span)
  }

  // MARK: The end

  /// Passes on all spans at the end of the request.
  @inline(never)
  func end(_ record: AccessRecord, route: Route?, now: MonotonicTime) {
    let path = route.map { String(decoding: $0.path, as: UTF8.self) }
    var span = SpanRecord(
      context, parent: trace.caller.map { .remote($0) } ?? .none, name: path.map { "\(name) \($0)" } ?? name,
      kind: .server, start: unix(start), end: unix(now))
    span.traceState = traceState
    span.attributes = attributes
    if let route, let path {
      span.attributes.append(("http.route", .string(path)))
      span.attributes.append(("bearer_proxy.route", .string(route.name)))
    }
    if record.status > 0 { span.attributes.append(("http.response.status_code", .integer(Int64(record.status)))) }
    if let type = errorType(record) {
      span.attributes.append(("error.type", .string(type)))
      // A caller's fault is no error of the server.
      span.isError = record.status >= 500 || record.outcome != .answeredByProxy
    }
    spans.append(span)
    tracer.add(spans)
  }

  private func errorType(_ record: AccessRecord) -> String? {
    if record.outcome == .abortedByDownstream { return record.outcome.errorType }
    return problem ?? record.outcome.errorType ?? (record.status >= 500 ? "\(record.status)" : nil)
  }
}

extension RequestOutcome {
  /// The error of an exchange that the proxy did not answer itself; nil if its status is enough.
  var errorType: String? {
    switch self {
    case .completed, .answeredByProxy: nil
    case .abortedByDownstream, .upstreamFailed, .timedOut: rawValue
    }
  }
}

struct RequestTrace: Hashable {
  /// The trace, with this proxy's span in it.
  var own: TraceContext
  /// The caller's span; nil if the trace begins here.
  var caller: UInt64?
  var isRecorded = false

  /// Continues the caller's trace, or begins one. Without rules nothing is recorded, and the caller's decision is
  /// passed on.
  init(sent: TraceContext?, _ rules: TracingRules?, using random: inout some RandomNumberGenerator) {
    let continued = rules?.propagates == false ? nil : sent
    if let continued {
      own = continued.sibling(random.next())
      caller = continued.span
    } else {
      own = TraceContext(
        randomHigh: random.next(), randomLow: random.next(), randomSpan: random.next(), isSampled: false)
    }
    guard let rules else { return }
    isRecorded = rules.sampler.records(own, isContinued: continued != nil)
    own.isSampled = isRecorded
  }
}
