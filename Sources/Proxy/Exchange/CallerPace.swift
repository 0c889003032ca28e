// How slow a caller may be: one that moves a byte whenever its time without any is nearly over would keep a connection,
// its buffers and an upstream busy for good.

internal import Bytes
internal import Platform

/// What a caller moves while it is waited for. Time in which another side is waited for does not count, but neither
/// does it begin the account anew: a caller that reads slowly is as slow beside an upstream that now and then is slow
/// too.
struct CallerPace {
  private var waitingSince: MonotonicTime?
  /// What the caller has been waited for since the last verdict, and the bytes that had been moved then.
  private var waited = TimeSpan.zero
  private var bytesBefore: UInt64 = 0

  /// Takes note of a wait that begins now, after `bytes` altogether. Whether the caller has moved less than `rate`
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
