/// The request that waits for the work of a task. Tasks inherit it, so that brokers and caches need not hand it on.
public struct RequestScope: Sendable {
  /// What log records about the work name.
  public var request: LogRequest
  /// Where spans of the work belong; nil where the request is not traced.
  package var spans: SpanScope?

  package init(_ request: LogRequest, spans: SpanScope? = nil) {
    self.request = request
    self.spans = spans
  }

  /// The request that waits for the present task; nil where none does. Tasks made in a scope are in
  /// it, too: a task that outlives the request has to be made outside.
  @TaskLocal public static var current: RequestScope?

  /// Does something in a scope; in none, where that is nil.
  public static func around<Answer, Failure: Error>(
    _ scope: RequestScope?, _ body: () async throws(Failure) -> Answer
  ) async throws(Failure) -> Answer {
    let result = await $current.withValue(scope) { () async -> Result<Answer, Failure> in
      do throws(Failure) {
        return .success(try await body())
      } catch {
        return .failure(error)
      }
    }
    return try result.get()
  }
}

/// What a record's request is called across systems.
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
