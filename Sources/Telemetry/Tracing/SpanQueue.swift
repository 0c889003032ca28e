// The spans on their way out: how many are kept, which are lost when there are too many, and when there are enough to
// be sent.

/// Spans that wait to be exported. One thread at a time uses it.
package struct SpanQueue: Sendable {
  /// How many are kept.
  package let capacity: Int
  /// How many are exported in one request.
  package let batchSize: Int
  private var spans: [SpanRecord] = []
  private var dropped = 0

  /// An empty queue. A batch is no larger than the queue.
  package init(capacity: Int, batchSize: Int) {
    self.capacity = max(capacity, 1)
    self.batchSize = min(max(batchSize, 1), self.capacity)
  }

  /// How many wait.
  package var count: Int { spans.count }

  /// Adds spans as far as there is room: the newest are dropped, as OpenTelemetry has it. Whether a whole batch waits
  /// since now.
  package mutating func add(_ new: [SpanRecord]) -> Bool {
    let room = capacity - spans.count
    let before = spans.count
    spans.append(contentsOf: new.prefix(room))
    dropped += max(new.count - room, 0)
    return before < batchSize && spans.count >= batchSize
  }

  /// How many were dropped since this was asked.
  package mutating func takeDropped() -> Int {
    defer { dropped = 0 }
    return dropped
  }

  /// Takes the oldest out, at most a batch.
  package mutating func take() -> [SpanRecord] {
    let batch = Array(spans.prefix(batchSize))
    spans.removeFirst(batch.count)
    return batch
  }
}
