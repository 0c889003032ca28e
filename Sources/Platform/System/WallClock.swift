// Owns the reading of the wall clock. Deadlines never use it; it may be set at any time.

public import Bytes
internal import CSystem

/// The wall clock.
public enum WallClock {
  /// An instant in seconds and nanoseconds since 1970-01-01T00:00:00Z.
  public struct Instant: Sendable, Hashable {
    /// Whole seconds.
    public var seconds: Int64
    /// Nanoseconds behind them, below 1,000,000,000.
    public var nanoseconds: UInt32

    /// An instant.
    public init(seconds: Int64, nanoseconds: UInt32) {
      self.seconds = seconds
      self.nanoseconds = nanoseconds
    }

    /// The instant `span` later.
    public func advanced(by span: TimeSpan) -> Instant {
      let sum = UInt64(nanoseconds) + span.nanoseconds
      return Instant(
        seconds: seconds + Int64(sum / 1_000_000_000), nanoseconds: UInt32(sum % 1_000_000_000))
    }
  }

  /// The present.
  public static var now: Instant {
    let (seconds, nanoseconds) = csystem_wall_time().quotientAndRemainder(dividingBy: 1_000_000_000)
    return Instant(seconds: Int64(seconds), nanoseconds: UInt32(nanoseconds))
  }
}
