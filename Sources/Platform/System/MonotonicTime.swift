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

extension WallTime {
  /// The present.
  public static var now: WallTime {
    let (seconds, nanoseconds) = csystem_wall_time().quotientAndRemainder(dividingBy: 1_000_000_000)
    return WallTime(seconds: Int64(seconds), nanoseconds: UInt32(nanoseconds))
  }
}

extension UnixTime {
  /// The present.
  public static var now: UnixTime { UnixTime(WallTime.now.seconds) }
}
