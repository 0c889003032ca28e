// Instants of the wall clock, finer than the token side's whole seconds. Reads no clock.

/// An instant of the wall clock.
public struct WallTime: Sendable, Hashable {
  /// Seconds since 1970-01-01T00:00:00Z.
  public var seconds: Int64
  /// Nanoseconds after that, below 1,000,000,000.
  public var nanoseconds: UInt32

  /// An instant, as `clock_gettime` counts it.
  public init(seconds: Int64, nanoseconds: UInt32 = 0) {
    self.seconds = seconds
    self.nanoseconds = nanoseconds
  }

  /// The instant `span` later.
  public func advanced(by span: TimeSpan) -> WallTime {
    let sum = UInt64(nanoseconds) + span.nanoseconds
    return WallTime(seconds: seconds + Int64(sum / 1_000_000_000), nanoseconds: UInt32(sum % 1_000_000_000))
  }

  /// Time passed until `now`; zero if that is earlier. Any user of a directory chooses the times of his files, so they
  /// may be far away.
  package func age(at now: WallTime) -> TimeSpan {
    let (passed, isFar) = now.seconds.subtractingReportingOverflow(seconds)
    if isFar { return seconds < 0 ? TimeSpan(nanoseconds: .max) : .zero }
    return TimeSpan(.seconds(passed) + .nanoseconds(Int64(now.nanoseconds) - Int64(nanoseconds)))
  }
}
