/// The request that waits for the work of a task. Tasks inherit it, so that brokers and caches need not pass it on.
public struct RequestScope: Sendable {
  /// The ids in log records about the work.
  public var request: LogRequest
  /// The parent of the work's spans; nil if the request is not traced.
  package var spans: SpanScope?

  package init(_ request: LogRequest, spans: SpanScope? = nil) {
    self.request = request
    self.spans = spans
  }

  /// The request that waits for the present task; nil if none does. Tasks made in a scope are in it, too: make a task
  /// that outlives the request outside.
  @TaskLocal public static var current: RequestScope?

  /// Runs `body` in a scope; in none, if it is nil.
  public static func around<Answer, Failure: Error>(
    _ scope: RequestScope?, _ body: () async throws(Failure) -> Answer
  ) async throws(Failure) -> Answer {
    let result = await $current.withValue(scope) { () async -> Result<Answer, Failure> in
      do throws(Failure) { return .success(try await body()) } catch { return .failure(error) }
    }
    return try result.get()
  }
}

/// The ids of a record's request across systems.
public struct LogRequest: Sendable, Hashable {
  /// The `X-Request-ID`.
  public var requestID: String
  /// The trace it belongs to, in hexadecimal.
  public var traceID: String

  /// The ids of a request.
  public init(requestID: String, traceID: String) {
    self.requestID = requestID
    self.traceID = traceID
  }
}
