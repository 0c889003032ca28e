/// The pauses between two renewals of a lease, which end when a test says so.
struct LeasePauses: Sendable {
  private let begun = AsyncStream<Void>.makeStream()
  private let ended = AsyncStream<Void>.makeStream()

  /// The store's pause: returns when the test ends it, or the task is cancelled.
  func pause() async {
    begun.continuation.yield()
    for await _ in ended.stream { break }
  }

  /// Waits until the store pauses.
  func begin() async {
    for await _ in begun.stream { break }
  }

  func end() { ended.continuation.yield() }
}
