/// Spans that wait to be exported; if there are too many, the newest are lost. One thread at a time uses it.
package struct SpanQueue: Sendable {
  /// Maximum number of spans.
  package let capacity: Int
  /// Spans in one export request.
  package let batchSize: Int
  private var spans: [SpanRecord] = []
  private var dropped = 0

  /// An empty queue. A batch is no larger than the queue.
  package init(capacity: Int, batchSize: Int) {
    self.capacity = max(capacity, 1)
    self.batchSize = min(max(batchSize, 1), self.capacity)
  }

  /// The number of waiting spans.
  package var count: Int { spans.count }

  /// Adds spans as far as there is room: the newest are dropped, as in OpenTelemetry. Returns true if a whole batch has
  /// just become complete.
  package mutating func add(_ new: [SpanRecord]) -> Bool {
    let room = capacity - spans.count
    let before = spans.count
    spans.append(contentsOf: new.prefix(room))
    dropped += max(new.count - room, 0)
    return before < batchSize && spans.count >= batchSize
  }

  /// The number dropped since the last call.
  package mutating func takeDropped() -> Int {
    defer { dropped = 0 }
    return dropped
  }

  /// Removes the oldest spans, at most a batch.
  package mutating func take() -> [SpanRecord] {
    let batch = Array(spans.prefix(batchSize))
    spans.removeFirst(batch.count)
    return batch
  }
}
