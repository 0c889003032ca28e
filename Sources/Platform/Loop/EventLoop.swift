// The event loop: an epoll set that one Dispatch source wakes, the jobs of the tasks that prefer it as their executor,
// and the timers. ReadinessSource and Waiter interpret readiness.

internal import Bytes
internal import CSystem
internal import Dispatch
internal import Glibc
internal import Synchronization

/// An executor for connection tasks that also watches their descriptors.
/// A busy loop keeps a Dispatch worker and behaves like a dedicated thread; after `linger` without an event it returns
/// the worker. It runs on a serial queue of its own, which Dispatch serves with an overcommitted thread, so a busy loop
/// takes no thread from other Dispatch or Swift concurrency work.
/// `@unchecked Sendable`: `turn` and the jobs inside it touch everything mutable, one thread at a time by the serial
/// queue, except `inbox` (a mutex) and `runner` (an atomic).
public final class EventLoop: TaskExecutor, @unchecked Sendable {
  /// Position among the process's loops.
  public let index: Int
  /// The time, read once per batch of events.
  public private(set) var now = MonotonicTime.now
  var timers = TimerQueue()

  private var onIdle: () -> Void = {}
  private var onTurn: ((_ nanoseconds: UInt64) -> Void)?

  private let epoll: Int32
  private let wakeUp: Int32
  private let timer: Int32
  private let queue: DispatchQueue
  private let source: any DispatchSourceRead
  private var jobs = JobQueue()
  private var slots: [Slot] = []
  private var freeSlots: [UInt32] = []
  private let inbox = Locked<[UnownedJob]>([])
  /// The thread inside `turn`, or 0.
  private let runner = Atomic<UInt>(0)
  private let events = UnsafeMutableBufferPointer<csystem_event>.allocate(capacity: 256)
  private var armedFor = MonotonicTime.distantFuture

  private struct Slot {
    // Not retained: a channel leaves its slot when it is closed, before it is released.
    var channel: Unmanaged<Channel>?
    var generation: UInt32
  }

  /// Time that a loop without events keeps its thread. A wait that ends before the next tick of the kernel's clock (1
  /// to 10 ms) sets the processor's timer before each sleep and resets it after, which costs a fifth of a request on a
  /// single connection.
  private static let linger = TimeSpan.milliseconds(20)
  /// Jobs that arise in a turn and run before the loop looks at its descriptors again: a task that yields because it
  /// always has work must not starve others.
  private static let furtherJobsPerTurn = 16

  /// Creates a loop and starts it.
  public init(index: Int = 0) throws(SystemError) {
    self.index = index
    epoll = csystem_epoll_create()
    guard epoll >= 0 else { throw SystemError("epoll_create") }
    wakeUp = csystem_eventfd()
    guard wakeUp >= 0 else { throw SystemError("eventfd") }
    timer = csystem_timerfd()
    guard timer >= 0 else { throw SystemError("timerfd_create") }
    queue = DispatchQueue(label: "bearer-proxy.loop.\(index)")
    source = DispatchSource.makeReadSource(fileDescriptor: epoll, queue: queue)
    // Edge-triggered: each write and each expiry is an edge, and neither descriptor is ever read.
    for descriptor in [wakeUp, timer] {
      guard csystem_epoll_add(epoll, descriptor, CSYSTEM_IN | CSYSTEM_EDGE, .max) == 0 else {
        throw SystemError("epoll_ctl")
      }
    }
    source.setEventHandler { [weak self] in self?.turn() }
    let (descriptors, buffer) = ((epoll, wakeUp, timer), SendablePointer(events))
    source.setCancelHandler {
      _ = close(descriptors.0)
      _ = close(descriptors.1)
      _ = close(descriptors.2)
      buffer.buffer.deallocate()
    }
    source.activate()
  }

  deinit {
    source.cancel()
  }

  /// Stops watching. Tasks that still wait on this loop are never resumed; only a test or a short command ends a loop.
  public func shutDown() {
    source.cancel()
  }

  private struct SendablePointer: @unchecked Sendable {
    // Handed over once, from the loop that no longer runs to the handler that frees it.
    let buffer: UnsafeMutableBufferPointer<csystem_event>

    init(_ buffer: UnsafeMutableBufferPointer<csystem_event>) { self.buffer = buffer }
  }

  /// Runs `action` whenever the loop was idle for a while. Call on the loop.
  public func whenIdle(_ action: @escaping () -> Void) {
    assertOnLoop()
    onIdle = action
  }

  /// Runs `action` after every batch of events, with the duration of the batch: the delay of events that became ready
  /// meanwhile. Call on the loop.
  public func afterTurn(_ action: @escaping (_ nanoseconds: UInt64) -> Void) {
    assertOnLoop()
    onTurn = action
  }

  // MARK: Executor

  /// True if the calling thread is inside this loop.
  @inline(__always)
  public var isRunningHere: Bool { runner.load(ordering: .relaxed) == UInt(pthread_self()) }

  /// Traps in debug builds when called from outside the loop.
  @inline(__always)
  public func assertOnLoop() {
    assert(isRunningHere, "loop-confined state touched from outside its loop")
  }

  /// Runs `job` on this loop, after those before it.
  public func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    if isRunningHere {
      jobs.append(job)
      return
    }
    let isFirst = inbox.withLock { inbox in
      inbox.append(job)
      return inbox.count == 1
    }
    if isFirst { wake() }
  }

  private func wake() {
    var one: UInt64 = 1
    // The counter cannot overflow into EAGAIN: that takes 2^64 writes.
    _ = write(wakeUp, &one, MemoryLayout<UInt64>.size)
  }

  private func takeInbox() {
    let arrived = inbox.withLock { inbox in
      let arrived = inbox
      inbox = []
      return arrived
    }
    for job in arrived { jobs.append(job) }
  }

  // MARK: The loop

  private func turn() {
    runner.store(UInt(pthread_self()), ordering: .relaxed)
    now = .now
    var lastActivity = now
    while true {
      if runJobs(), let onTurn { onTurn((MonotonicTime.now - now).nanoseconds) }
      let wait = jobs.isEmpty ? pollMilliseconds(lastActivity) : 0
      let count = csystem_epoll_wait(epoll, events.baseAddress, Int32(events.count), wait)
      now = .now
      if count > 0 { post(Int(count)) }
      let expired = timers.expire(now)
      if count > 0 || expired {
        lastActivity = now
      } else if jobs.isEmpty, now - lastActivity >= Self.linger {
        break
      }
    }
    onIdle()
    armTimer()
    runner.store(0, ordering: .relaxed)
  }

  private func runJobs() -> Bool {
    if jobs.isEmpty { return false }
    var left = jobs.count + Self.furtherJobsPerTurn
    while left > 0, let job = jobs.popFirst() {
      job.runSynchronously(on: asUnownedTaskExecutor())
      left -= 1
    }
    return true
  }

  private func pollMilliseconds(_ lastActivity: MonotonicTime) -> Int32 {
    let end = min(lastActivity + Self.linger, timers.next)
    if end <= now { return 0 }
    return Int32(clamping: (end.nanoseconds - now.nanoseconds + 999_999) / 1_000_000)
  }

  private func post(_ count: Int) {
    for index in 0..<count {
      let event = events[index]
      let word = event.word
      if word == .max {
        takeInbox()
        continue
      }
      let slot = Int(word & 0xFFFF_FFFF)
      // The generation detects a descriptor that was closed and its slot reused within one batch.
      guard slots[slot].generation == UInt32(word >> 32), let channel = slots[slot].channel else { continue }
      channel._withUnsafeGuaranteedRef { $0.post(Readiness(epollEvents: event.events)) }
    }
  }

  /// While the loop has no thread, only the timer descriptor can wake it for a deadline.
  private func armTimer() {
    let next = timers.next
    if next == armedFor, next > now { return }
    armedFor = next
    // Zero disarms.
    csystem_timerfd_set(timer, next < .distantFuture ? max(next.nanoseconds, 1) : 0)
  }

  // MARK: Registration

  func reserveSlot() -> UInt32 {
    assertOnLoop()
    if let free = freeSlots.popLast() { return free }
    slots.append(Slot(channel: nil, generation: 0))
    return UInt32(slots.count - 1)
  }

  func register(_ channel: Channel, slot: UInt32) throws(SystemError) {
    slots[Int(slot)].channel = .passUnretained(channel)
    let word = UInt64(slots[Int(slot)].generation) << 32 | UInt64(slot)
    let events = CSYSTEM_IN | CSYSTEM_OUT | CSYSTEM_RDHUP | CSYSTEM_EDGE
    guard csystem_epoll_add(epoll, channel.descriptor, events, word) == 0 else { throw SystemError("epoll_ctl") }
  }

  func releaseSlot(_ slot: UInt32) {
    slots[Int(slot)].channel = nil
    slots[Int(slot)].generation &+= 1
    // The word of all ones is the loop's own.
    if slots[Int(slot)].generation == .max { slots[Int(slot)].generation = 0 }
    freeSlots.append(slot)
  }
}

/// A first-in-first-out ring of jobs that allocates only to grow.
struct JobQueue {
  private var ring: [UnownedJob?] = Array(repeating: nil, count: 64)
  private var head = 0
  private(set) var count = 0

  var isEmpty: Bool { count == 0 }

  @inline(__always)
  mutating func append(_ job: UnownedJob) {
    if count == ring.count { grow() }
    ring[(head + count) & (ring.count - 1)] = job
    count += 1
  }

  @inline(__always)
  mutating func popFirst() -> UnownedJob? {
    if count == 0 { return nil }
    let job = ring[head]
    head = (head + 1) & (ring.count - 1)
    count -= 1
    return job
  }

  private mutating func grow() {
    var grown: [UnownedJob?] = []
    grown.reserveCapacity(ring.count * 2)
    for offset in 0..<count { grown.append(ring[(head + offset) & (ring.count - 1)]) }
    grown.append(contentsOf: repeatElement(nil, count: ring.count * 2 - count))
    ring = grown
    head = 0
  }
}
