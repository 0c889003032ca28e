// Owns for whom a task works: the request that waits for what the task obtains. It goes along with tasks by itself, so
// that brokers, caches and whatever else has no business with requests need not hand it on.

/// The request that waits for the work at hand.
public struct RequestScope: Sendable {
  /// What log records about the work name.
  public var request: LogRequest
  /// Where spans of the work belong; nil where the request is not traced.
  public var spans: SpanScope?

  /// A scope of one request.
  public init(_ request: LogRequest, spans: SpanScope? = nil) {
    self.request = request
    self.spans = spans
  }

  /// Whoever waits for the present task; nil where nobody does. Tasks made in a scope are in it, too: where one of them
  /// lives on when the request has its answer, it is to be made outside.
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
