import Bytes
import Platform

/// One life of a process, from start to end. `@unchecked Sendable`: one thread.
final class ProcessLife: @unchecked Sendable {
  /// The wall clock when a world begins.
  static let epoch: Int64 = 1_700_000_000

  let number: Int
  /// The processes that share a cache.
  let group: Int
  let address: Int
  private let schedule: Schedule
  private(set) var isAlive = true
  /// Seconds by which its clock is ahead.
  private(set) var skew: Double
  private var clockSetAt = -Double.infinity
  /// The number of the wait for the outside, from 1, at which it ends.
  var endAt: Int?
  /// Waits for the outside that have ended.
  private(set) var waits = 0
  var whenOver: () -> Void = {}

  init(number: Int, group: Int, address: Int, skew: Double, _ schedule: Schedule) {
    self.number = number
    self.group = group
    self.address = address
    self.skew = skew
    self.schedule = schedule
  }

  var now: UnixTime { UnixTime(Self.epoch + Int64((schedule.now + skew).rounded(.down))) }

  /// The present of the monotonic clock.
  var monotonicNow: MonotonicTime { MonotonicTime(nanoseconds: UInt64((schedule.now + 1) * 1e9)) }

  func setClock(ahead seconds: Double) {
    skew = seconds
    clockSetAt = schedule.now
  }

  /// True if its clock was not set since a time.
  func isClockSteady(since time: Double) -> Bool { clockSetAt < time }

  /// Waits for an instant of the wall clock, as long as it is not set.
  func wait(for instant: UnixTime) async {
    let start = schedule.now
    repeat {
      // At once to the end: a process looks at its clock in between, and finds it as it was.
      let seconds = max(Double(instant.seconds - Self.epoch) - skew - schedule.now, 1)
      await sleep(isClockMoving ? min(seconds, 60) : seconds)
    } while now < instant && isClockSteady(since: start) && !Task.isCancelled && isAlive
  }

  /// True if its clock may be set while it runs.
  var isClockMoving = false

  /// A process that has ended still winds up its tasks, which have no effect: it sleeps without an end that matters.
  func sleep(_ seconds: Double) async {
    await schedule.sleep(isAlive ? seconds : max(seconds, 1))
    pass()
  }

  /// Ends a wait for the outside.
  func pass() {
    waits += 1
    if waits == endAt { end() }
  }

  /// `kill -9`.
  func end() {
    guard isAlive else { return }
    isAlive = false
    whenOver()
  }
}
