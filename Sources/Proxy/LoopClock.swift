// Owns what a loop knows of time and chance without a system call for each request: the wall clock, `Date` as text, numbers to
// tell requests apart. It outlives every reload.

internal import HTTP
internal import Network

/// A loop's clock. Confined to its loop.
final class LoopClock {
  private let loop: EventLoop
  @exclusivity(unchecked) private var clock = (
    monotonic: MonotonicTime(nanoseconds: 0), wall: WallClock.Instant(seconds: 0, nanoseconds: 0)
  )
  @exclusivity(unchecked) private var random: UInt64
  /// The value of `Date`, as of the last `refreshDate`.
  @exclusivity(unchecked) private(set) var dateText = ByteBuffer(capacity: HTTPDate.byteCount)
  @exclusivity(unchecked) private var dateSecond: Int64 = -1

  init(_ loop: EventLoop) {
    self.loop = loop
    var generator = SystemRandomNumberGenerator()
    random = generator.next()
  }

  /// The wall clock, at most a tenth of a second old.
  func wallClock() -> WallClock.Instant {
    if loop.now - clock.monotonic > .milliseconds(100) { clock = (loop.now, WallClock.now) }
    return clock.wall.advanced(by: loop.now - clock.monotonic)
  }

  /// Brings `dateText` to what `Date` says in a message sent now.
  func refreshDate() {
    let second = wallClock().seconds
    guard second != dateSecond else { return }
    dateSecond = second
    dateText.removeAll()
    HTTPDate.write(second, into: &dateText)
  }

  /// Numbers to tell requests apart, not to keep secrets: SplitMix64 from a random seed.
  func nextRandom() -> UInt64 {
    random &+= 0x9E37_79B9_7F4A_7C15
    var value = random
    value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
    value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
    return value ^ (value >> 31)
  }
}
