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
        timer?.fire()
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
  func at(_ time: Double, _ action: @escaping () -> Void) {
    let timer = SimulatedTimer()
    timer.action = .run(action)
    timers.insert(timer, at: max(time, now))
  }

  /// Returns after seconds, or when the task is cancelled.
  func sleep(_ seconds: Double) async {
    let timer = SimulatedTimer()
    await withTaskCancellationHandler {
      await withUnsafeContinuation { continuation in
        if Task.isCancelled { return continuation.resume() }
        timer.action = .resume(continuation)
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
  fileprivate enum Action {
    case none
    case run(() -> Void)
    case resume(UnsafeContinuation<Void, Never>)
  }

  fileprivate var action = Action.none

  /// Runs the action now, if it has not run.
  func fire() {
    let action = action
    self.action = .none
    switch action {
    case .none: break
    case .run(let action): action()
    case .resume(let continuation): continuation.resume()
    }
  }

  fileprivate var isSpent: Bool { if case .none = action { true } else { false } }
}

/// Timers by time; those of one time in the order of their making. The heap has numbers alone: a million timers move
/// through it.
private struct TimerHeap {
  private struct Entry {
    var time: Double
    /// The number of the timer among all that were made, and its place.
    var number: UInt64

    func isBefore(_ other: Entry) -> Bool { time != other.time ? time < other.time : number < other.number }
  }

  private static let placeBits: UInt64 = 24

  private var entries: [Entry] = []
  private var timers: [SimulatedTimer?] = []
  private var freePlaces: [Int] = []
  private var made: UInt64 = 0

  var waiting: Int { timers.count { $0?.isSpent == false } }

  /// The time of the first timer that has not fired.
  var nextTime: Double? {
    mutating get {
      while let first = entries.first, timers[Self.place(first)]?.isSpent == true { _ = removeFirst() }
      return entries.first?.time
    }
  }

  private static func place(_ entry: Entry) -> Int { Int(entry.number & (1 << placeBits - 1)) }

  mutating func insert(_ timer: SimulatedTimer, at time: Double) {
    made += 1
    let place = freePlaces.popLast() ?? timers.count
    precondition(place < 1 << Self.placeBits, "too many timers")
    if place == timers.count { timers.append(timer) } else { timers[place] = timer }
    let entry = Entry(time: time, number: made << Self.placeBits | UInt64(place))
    entries.append(entry)
    var child = entries.count - 1
    while child > 0, entry.isBefore(entries[(child - 1) / 4]) {
      entries[child] = entries[(child - 1) / 4]
      child = (child - 1) / 4
    }
    entries[child] = entry
  }

  mutating func removeFirst() -> SimulatedTimer? {
    let place = Self.place(entries[0])
    let first = timers[place]
    timers[place] = nil
    freePlaces.append(place)
    let last = entries.removeLast()
    if entries.isEmpty { return first }
    var parent = 0
    while parent * 4 + 1 < entries.count {
      var child = parent * 4 + 1
      for other in child..<min(child + 4, entries.count) where entries[other].isBefore(entries[child]) { child = other }
      guard entries[child].isBefore(last) else { break }
      entries[parent] = entries[child]
      parent = child
    }
    entries[parent] = last
    return first
  }
}
