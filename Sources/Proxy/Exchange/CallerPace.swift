// The least pace of a caller: one that moves a byte whenever its idle time is nearly over would keep a connection, its
// buffers and an upstream busy for ever.

internal import Bytes
internal import Platform

/// The bytes that a caller moves while it is waited for. Waits for another side do not count, but neither do they
/// restart the measurement: a slow caller is as slow beside an upstream that is sometimes slow too.
struct CallerPace {
  private var waitingSince: MonotonicTime?
  /// The time that the caller has been waited for since the last verdict, and the bytes that had been moved then.
  private var waited = TimeSpan.zero
  private var bytesBefore: UInt64 = 0

  /// Records a wait that begins now, after `bytes` altogether. Returns true if the caller has moved less than `rate`
  /// bytes for each second of the last `window` or more in which it was waited for.
  mutating func isTooSlow(
    waitsForCaller: Bool, bytes: UInt64, rate: UInt64, window: TimeSpan, now: MonotonicTime
  ) -> Bool {
    if let waitingSince { waited.nanoseconds += (now - waitingSince).nanoseconds }
    waitingSince = waitsForCaller ? now : nil
    if waited < window { return false }
    // In milliseconds, so that no window of a year overflows.
    let (owed, overflow) = rate.multipliedReportingOverflow(by: waited.nanoseconds / 1_000_000)
    let moved = bytes - bytesBefore
    waited = .zero
    bytesBefore = bytes
    return overflow || moved < owed / 1000
  }
}
