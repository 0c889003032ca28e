// Owns how slow a caller may be: one that moves a byte whenever its time without any is nearly over would keep a connection, its
// buffers and an upstream busy for good.

internal import Network

/// What a caller moves while it is waited for, measured over one window after the other.
struct CallerPace {
  private var windowStart = MonotonicTime.distantFuture
  private var bytesBefore: UInt64 = 0

  /// Takes note of a wait that begins now, after `bytes` altogether. Whether the caller has moved less than `rate` bytes a second
  /// throughout a window of at least `window`. Time in which somebody else was waited for is no part of a window.
  mutating func isTooSlow(
    waitsForCaller: Bool, bytes: UInt64, rate: UInt64, window: TimeSpan, now: MonotonicTime
  ) -> Bool {
    guard waitsForCaller else {
      windowStart = .distantFuture
      return false
    }
    if windowStart == .distantFuture {
      windowStart = now
      bytesBefore = bytes
      return false
    }
    let passed = now - windowStart
    if passed < window { return false }
    // In milliseconds, so that no window of a year overflows.
    let (owed, overflow) = rate.multipliedReportingOverflow(by: passed.nanoseconds / 1_000_000)
    let moved = bytes - bytesBefore
    windowStart = now
    bytesBefore = bytes
    return overflow || moved < owed / 1000
  }
}
