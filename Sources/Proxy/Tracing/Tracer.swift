// Takes spans from the requests to the exporter. A request's spans come together at its end: one lock for a traced
// request, and none for any other.

internal import Bytes
internal import HTTP
package import HTTPClient
internal import Platform
package import Telemetry

/// Traces requests. There is one in a process with an address for traces, whatever its configuration.
package final class Tracer: Sendable {
  let rules: TracingRules
  private let queue: Locked<SpanQueue>
  private let wake: AsyncStream<Void>.Continuation
  /// Yields when a whole batch waits.
  let batches: AsyncStream<Void>

  package init(_ rules: TracingRules, queue: SpanQueue) {
    self.rules = rules
    self.queue = Locked(queue)
    (batches, wake) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
  }

  func add(_ spans: [SpanRecord]) {
    if queue.withLock({ $0.add(spans) }) { wake.yield() }
  }

  func tell() { wake.yield() }

  /// No batch follows.
  func finish() { wake.finish() }

  /// Removes the oldest spans, at most a batch.
  func take() -> [SpanRecord] { queue.withLock { $0.take() } }

  /// The number of spans dropped since the last call.
  func takeDropped() -> Int { queue.withLock { $0.takeDropped() } }

  /// Spans that wait.
  var count: Int { queue.withLock { $0.count } }

  /// A fetch whose requests are spans of the request that waits for them, if that is traced. The provider does not
  /// learn of the trace.
  package func tracing(_ fetch: @escaping Fetch) -> Fetch {
    { [self] (request) async throws(FetchError) in
      guard let scope = RequestScope.current?.spans else { return try await fetch(request) }
      let began = WallTime.now.unixNanoseconds
      let result: Result<FetchResponse, FetchError>
      do throws(FetchError) {
        result = .success(try await fetch(request))
      } catch {
        result = .failure(error)
      }
      scope.note()
      add([SpanRecord(fetch: request, result, scope, began...max(began, WallTime.now.unixNanoseconds))])
      return try result.get()
    }
  }
}

extension SpanRecord {
  /// A request to an identity provider.
  fileprivate init(
    fetch request: FetchRequest, _ result: Result<FetchResponse, FetchError>, _ scope: SpanScope,
    _ time: ClosedRange<UInt64>
  ) {
    let method = if case .get = request.method { "GET" } else { "POST" }
    self.init(
      scope.parent.sibling(.random(in: 1 ... .max)), parent: .local(scope.parent.span), name: method, kind: .client,
      start: time.lowerBound, end: time.upperBound)
    let path = request.url.target.prefix { $0 != "?" }
    attributes = [
      ("http.request.method", .string(method)), ("url.full", .string(request.url.origin + path)),
      ("server.address", .string(request.url.host)), ("server.port", .integer(Int64(request.url.port))),
    ]
    switch result {
    case .success(let response):
      attributes.append(("http.response.status_code", .integer(Int64(response.status))))
      if response.status >= 400 {
        isError = true
        attributes.append(("error.type", .string("\(response.status)")))
      }
    case .failure(let error):
      isError = true
      attributes.append(("error.type", .string(error.kind)))
    }
  }
}

extension FetchError {
  /// One of few words.
  fileprivate var kind: String {
    switch self {
    case .unresolved: "unresolved"
    case .unreachable: "unreachable"
    case .proxy: "proxy"
    case .tls: "tls"
    case .closed: "closed"
    case .malformed, .answeredWithTLS: "malformed"
    case .tooLarge: "too_large"
    case .timedOut: "timed_out"
    }
  }
}

extension WallTime {
  /// Nanoseconds since 1970; 0 before.
  var unixNanoseconds: UInt64 {
    UInt64(clamping: seconds).multipliedReportingOverflow(by: 1_000_000_000).partialValue + UInt64(nanoseconds)
  }
}

/// The outcome of spans.
package enum TraceEvent: Sendable, Hashable {
  /// The collector has accepted so many.
  case exported(Int)
  /// The queue had no room for so many.
  case dropped(Int)
  /// So many were given up, because the collector was away for too long or refused them all.
  case lost(Int)
  /// The collector rejected so many of an accepted batch.
  case rejected(Int)
  case repeated
}

package struct TraceMetrics: Sendable {
  private let spans: CounterTable
  private let repeated: Counter
  private let failures: Counter

  package init(_ catalog: inout MetricsCatalog) {
    spans = catalog.counters(
      "bearer_proxy_trace_spans_total", help: "Spans of traced requests, by outcome.",
      by: MetricLabel("result", ["exported", "dropped", "lost", "rejected"]))
    repeated = catalog.counter(
      "bearer_proxy_trace_export_retries_total", help: "Batches of spans that were sent to the collector once more.")
    failures = catalog.counter(
      "bearer_proxy_trace_export_failures_total", help: "Batches of spans that were given up.")
  }

  package func count(_ event: TraceEvent, in writer: SharedMetricsWriter) {
    switch event {
    case .exported(let count): writer.add(spans[0], UInt64(clamping: count))
    case .dropped(let count): writer.add(spans[1], UInt64(clamping: count))
    case .lost(let count):
      writer.add(spans[2], UInt64(clamping: count))
      writer.add(failures)
    case .rejected(let count): writer.add(spans[3], UInt64(clamping: count))
    case .repeated: writer.add(repeated)
    }
  }
}
