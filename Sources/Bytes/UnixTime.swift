// Wall-clock instants of the token side: whole seconds since 1970, as in caches and token replies. Reads no clock;
// deadlines of I/O are the Platform module's monotonic instants.

/// An instant in seconds since 1970-01-01T00:00:00Z. Sums stop at the ends of the range instead of overflowing.
public struct UnixTime: Sendable, Hashable, Comparable {
  /// Seconds since 1970, negative before.
  public var seconds: Int64

  /// The instant `seconds` after 1970 began.
  public init(_ seconds: Int64) { self.seconds = seconds }

  /// The end of the range: never.
  public static let distantFuture = UnixTime(.max)

  /// Orders instants by time.
  public static func < (left: UnixTime, right: UnixTime) -> Bool { left.seconds < right.seconds }

  /// The instant `seconds` later.
  public static func + (time: UnixTime, seconds: Int64) -> UnixTime {
    let (sum, overflow) = time.seconds.addingReportingOverflow(seconds)
    return UnixTime(overflow ? (seconds > 0 ? .max : .min) : sum)
  }

  /// The instant `seconds` earlier.
  public static func - (time: UnixTime, seconds: Int64) -> UnixTime {
    let (difference, overflow) = time.seconds.subtractingReportingOverflow(seconds)
    return UnixTime(overflow ? (seconds > 0 ? .min : .max) : difference)
  }

  /// Seconds from `earlier` to `later`, negative if `earlier` is the later one.
  public static func - (later: UnixTime, earlier: UnixTime) -> Int64 {
    let (difference, overflow) = later.seconds.subtractingReportingOverflow(earlier.seconds)
    return overflow ? (later > earlier ? .max : .min) : difference
  }
}
