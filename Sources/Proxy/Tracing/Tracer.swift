// Takes spans from the requests to the exporter. A request's spans come together at its end: one lock for a traced
// request, and none for any other.

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
      let began = WallClock.now.unixNanoseconds
      let result: Result<FetchResponse, FetchError>
      do throws(FetchError) {
        result = .success(try await fetch(request))
      } catch {
        result = .failure(error)
      }
      scope.note()
      add([SpanRecord(fetch: request, result, scope, began...max(began, WallClock.now.unixNanoseconds))])
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

extension WallClock.Instant {
  /// Nanoseconds since 1970; 0 before.
  var unixNanoseconds: UInt64 {
    UInt64(clamping: seconds).multipliedReportingOverflow(by: 1_000_000_000).partialValue + UInt64(nanoseconds)
  }
}
