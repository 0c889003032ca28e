// Owns how long a server that cannot be used is left alone.

internal import Network

/// The pause after failures: 100 ms, doubled each time up to 2 s, and up to a quarter less so that replicas do not come back in step.
struct RedisPause: Sendable {
  private var failures = 0
  private var end = MonotonicTime(nanoseconds: 0)

  static let first = TimeSpan.milliseconds(100)
  static let longest = TimeSpan.seconds(2)

  /// Whether the server is to be left alone now.
  func isOn(at now: MonotonicTime) -> Bool { now < end }

  /// Begins a pause. `jitter` is 0 up to 1.
  mutating func failed(at now: MonotonicTime, jitter: Double) {
    let whole = min(Self.first.nanoseconds << UInt64(min(failures, 10)), Self.longest.nanoseconds)
    failures += 1
    end = now + TimeSpan(nanoseconds: whole - UInt64(Double(whole) * 0.25 * jitter))
  }

  /// Ends it.
  mutating func succeeded() {
    self = RedisPause()
  }
}
