public import Bytes
internal import CSystem

/// An instant of the kernel's monotonic clock. Only differences mean something.
public struct MonotonicTime: Sendable, Hashable, Comparable {
  /// Nanoseconds since an arbitrary start.
  public var nanoseconds: UInt64

  /// An instant `nanoseconds` after the clock's start.
  public init(nanoseconds: UInt64) {
    self.nanoseconds = nanoseconds
  }

  /// The present.
  public static var now: MonotonicTime {
    MonotonicTime(nanoseconds: csystem_monotonic_time())
  }

  /// Later than every other instant: no deadline.
  public static let distantFuture = MonotonicTime(nanoseconds: .max)

  /// The instant `span` later; `distantFuture` if that is past the clock's range.
  @inline(__always)
  public static func + (time: MonotonicTime, span: TimeSpan) -> MonotonicTime {
    let sum = time.nanoseconds.addingReportingOverflow(span.nanoseconds)
    return sum.overflow ? .distantFuture : MonotonicTime(nanoseconds: sum.partialValue)
  }

  /// The time from `earlier` to `later`; zero if `earlier` is the later one.
  @inline(__always)
  public static func - (later: MonotonicTime, earlier: MonotonicTime) -> TimeSpan {
    TimeSpan(nanoseconds: later.nanoseconds > earlier.nanoseconds ? later.nanoseconds - earlier.nanoseconds : 0)
  }

  /// Orders instants by time.
  public static func < (left: MonotonicTime, right: MonotonicTime) -> Bool {
    left.nanoseconds < right.nanoseconds
  }
}

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
