// The executor and the clock of a simulation. Every job of Swift's concurrency comes here instead of a thread pool: the
// runtime has a hook for that (`swift_task_enqueueGlobal_hook`), so that tasks and actors of the code under test need
// no parameter, and none escapes. A seed decides which of the ready jobs runs next; when none is ready, the clock jumps
// to the next timer.

import Glibc
import Platform

/// The jobs and timers of one simulated world. `@unchecked Sendable`: the whole program is one thread.
final class Schedule: @unchecked Sendable {
  /// The schedule that receives the jobs.
  nonisolated(unsafe) private(set) static var current = Schedule(seed: 0)

  let seed: UInt64
  /// Seconds since the world began.
  private(set) var now: Double = 0
  /// Jobs and timers that have run.
  private(set) var steps: UInt64 = 0
  /// A digest of the order of all jobs and timers: two runs of a seed have the same.
  private(set) var digest: UInt64 = 0
  var random: SeededRandom
  private var order: SeededRandom
  private var ready: [UnownedJob] = []
  private var timers = TimerHeap()

  init(seed: UInt64) {
    self.seed = seed
    random = SeededRandom(seed: seed)
    order = SeededRandom(seed: seed ^ 0x5EED)
  }

  private typealias Enqueue = @convention(thin) (UnownedJob) -> Void
  private typealias EnqueueHook = @convention(thin) (UnownedJob, Enqueue) -> Void
  private typealias DelayHook = @convention(thin) (UInt64, UnownedJob, Enqueue) -> Void

  /// Makes schedules the executor of the process. A task that sleeps in real time ends it.
  static func takeOver() {
    hook("swift_task_enqueueGlobal_hook", EnqueueHook.self) { job, _ in Schedule.current.ready.append(job) }
    hook("swift_task_enqueueGlobalWithDelay_hook", DelayHook.self) { _, _, _ in
      preconditionFailure("a task of the code under test sleeps in real time")
    }
  }

  private static func hook<Hook>(_ name: String, _: Hook.Type, _ function: Hook) {
    guard let place = dlsym(nil, name) else { preconditionFailure("the Swift runtime has no \(name)") }
    place.assumingMemoryBound(to: Hook?.self).pointee = function
  }

  /// Makes this the schedule of all jobs from now on.
  func begin() { Schedule.current = self }

  /// Runs until a time, or until `isOver`.
  func run(until end: Double, isOver: () -> Bool = { false }) {
    while !isOver() {
      if !ready.isEmpty {
        let index = order.below(ready.count)
        let job = ready[index]
        ready[index] = ready[ready.count - 1]
        ready.removeLast()
        note(UInt64(index))
        // The generic executor: no actor's, and no task's preference.
        job.runSynchronously(on: unsafeBitCast((0, 0), to: UnownedSerialExecutor.self))
      } else if let next = timers.nextTime, next <= end {
        let timer = timers.removeFirst()
        now = max(now, next)
        note(now.bitPattern)
        timer.fire()
      } else {
        now = max(now, end)
        return
      }
    }
  }

  private func note(_ value: UInt64) {
    steps += 1
    digest = (digest ^ value) &* 0x0000_0100_0000_01B3
  }

  /// Mixes a fact into the digest.
  func note(_ text: String) { for byte in text.utf8 { digest = (digest ^ UInt64(byte)) &* 0x0000_0100_0000_01B3 } }

  /// Runs `action` at a time.
  @discardableResult
  func at(_ time: Double, _ action: @escaping () -> Void) -> SimulatedTimer {
    let timer = SimulatedTimer(action)
    timers.insert(timer, at: max(time, now))
    return timer
  }

  /// Returns after seconds, or when the task is cancelled.
  func sleep(_ seconds: Double) async {
    let timer = SimulatedTimer()
    await withTaskCancellationHandler {
      await withUnsafeContinuation { continuation in
        if Task.isCancelled { return continuation.resume() }
        timer.action = { continuation.resume() }
        timers.insert(timer, at: now + max(seconds, 0))
      }
    } onCancel: {
      timer.fire()
    }
  }

  /// Timers that wait.
  var waitingTimers: Int { timers.waiting }
}

/// An action that runs once. `@unchecked Sendable`: one thread.
final class SimulatedTimer: @unchecked Sendable {
  fileprivate var action: (() -> Void)?

  fileprivate init(_ action: (() -> Void)? = nil) { self.action = action }

  /// Runs the action now, if it has not run.
  func fire() {
    let action = action
    self.action = nil
    action?()
  }

  func cancel() { action = nil }

  fileprivate var isSpent: Bool { action == nil }
}

/// Timers by time; those of one time in the order of their making.
private struct TimerHeap {
  private struct Entry {
    var time: Double
    var number: UInt64
    var timer: SimulatedTimer

    func isBefore(_ other: Entry) -> Bool { time != other.time ? time < other.time : number < other.number }
  }

  private var entries: [Entry] = []
  private var made: UInt64 = 0

  var waiting: Int { entries.count { !$0.timer.isSpent } }

  /// The time of the first timer that has not fired.
  var nextTime: Double? {
    mutating get {
      while let first = entries.first, first.timer.isSpent { _ = removeFirst() }
      return entries.first?.time
    }
  }

  mutating func insert(_ timer: SimulatedTimer, at time: Double) {
    made += 1
    entries.append(Entry(time: time, number: made, timer: timer))
    var child = entries.count - 1
    while child > 0, entries[child].isBefore(entries[(child - 1) / 2]) {
      entries.swapAt(child, (child - 1) / 2)
      child = (child - 1) / 2
    }
  }

  mutating func removeFirst() -> SimulatedTimer {
    let first = entries[0].timer
    let last = entries.removeLast()
    if entries.isEmpty { return first }
    entries[0] = last
    var parent = 0
    while true {
      var child = parent * 2 + 1
      if child >= entries.count { return first }
      if child + 1 < entries.count, entries[child + 1].isBefore(entries[child]) { child += 1 }
      guard entries[child].isBefore(entries[parent]) else { return first }
      entries.swapAt(parent, child)
      parent = child
    }
  }
}
