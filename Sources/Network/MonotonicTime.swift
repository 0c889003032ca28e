// Owns instants for deadlines: the kernel's monotonic clock in nanoseconds. Wall-clock times are the Tokens module's.

internal import Glibc

/// An instant of the monotonic clock. Only differences mean something.
public struct MonotonicTime: Sendable, Hashable, Comparable {
  /// Nanoseconds since an arbitrary start.
  public var nanoseconds: UInt64

  /// An instant `nanoseconds` after the clock's start.
  public init(nanoseconds: UInt64) {
    self.nanoseconds = nanoseconds
  }

  /// The present.
  public static var now: MonotonicTime {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return MonotonicTime(nanoseconds: UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec))
  }

  /// Later than every other instant: no deadline.
  public static let distantFuture = MonotonicTime(nanoseconds: .max)

  /// The instant `duration` later; `distantFuture` where that is past the clock's range.
  public static func + (time: MonotonicTime, duration: Duration) -> MonotonicTime {
    let (seconds, attoseconds) = duration.components
    let span = UInt64(clamping: seconds).multipliedReportingOverflow(by: 1_000_000_000)
    if span.overflow { return .distantFuture }
    let nanoseconds = span.partialValue + UInt64(clamping: attoseconds / 1_000_000_000)
    let sum = time.nanoseconds.addingReportingOverflow(nanoseconds)
    return sum.overflow ? .distantFuture : MonotonicTime(nanoseconds: sum.partialValue)
  }

  /// The time from `earlier` to `later`; zero where `earlier` is the later one.
  public static func - (later: MonotonicTime, earlier: MonotonicTime) -> Duration {
    .nanoseconds(Int64(clamping: later.nanoseconds > earlier.nanoseconds ? later.nanoseconds - earlier.nanoseconds : 0))
  }

  /// Whether `left` comes first.
  public static func < (left: MonotonicTime, right: MonotonicTime) -> Bool {
    left.nanoseconds < right.nanoseconds
  }
}

extension Duration {
  /// The duration in whole nanoseconds; 0 where it is negative, the maximum where it is longer than five centuries.
  public var wholeNanoseconds: UInt64 {
    let (seconds, attoseconds) = components
    guard seconds >= 0, attoseconds >= 0 else { return 0 }
    let (product, overflow) = UInt64(seconds).multipliedReportingOverflow(by: 1_000_000_000)
    return overflow ? .max : product.addingReportingOverflow(UInt64(attoseconds / 1_000_000_000)).partialValue
  }
}
