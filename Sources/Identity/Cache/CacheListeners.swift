// Owns who wants to know of changes. What a change is, the stores say.

/// The streams a store has given out.
struct CacheListeners {
  private var continuations: [AsyncStream<Void>.Continuation] = []

  /// A stream that holds one change until it is taken.
  mutating func add() -> AsyncStream<Void> {
    let (stream, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    continuations.append(continuation)
    return stream
  }

  /// Tells all of them, and forgets those whose streams are gone.
  mutating func tell() {
    continuations.removeAll { continuation in
      if case .terminated = continuation.yield() { true } else { false }
    }
  }
}
