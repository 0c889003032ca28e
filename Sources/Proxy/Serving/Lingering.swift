// Limits the reading from a caller that is still sending after its last answer. Closing at once would make the kernel
// send a reset, which can overtake the answer: a caller that reads only after it has sent everything would never see
// it.

internal import Bytes
internal import Platform

/// The reading of bytes that no request needs: as long as the caller sends fast enough.
struct Lingering {
  private let start: MonotonicTime
  private var windowStart: MonotonicTime
  private var windowBytes = 0

  /// Time that a caller may be silent, and in which it must send `windowMinimum`.
  static let window = TimeSpan.seconds(5)
  /// Bytes in each window: 4 KiB a second.
  static let windowMinimum = 20 * 1024
  /// The end, however fast it sends.
  static let whole = TimeSpan.seconds(300)

  /// Begins with the end of the answer.
  init(at now: MonotonicTime) {
    start = now
    windowStart = now
  }

  /// Counts bytes that arrived.
  mutating func received(_ count: Int) { windowBytes += count }

  /// The deadline for more bytes; nil if it was enough.
  mutating func deadline(at now: MonotonicTime) -> MonotonicTime? {
    if now - start >= Self.whole { return nil }
    if now - windowStart >= Self.window {
      if windowBytes < Self.windowMinimum { return nil }
      windowStart = now
      windowBytes = 0
    }
    return min(windowStart + Self.window, start + Self.whole)
  }
}
