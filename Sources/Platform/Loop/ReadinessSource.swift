internal import CSystem

/// A source of readiness for which tasks wait: a descriptor, or the answer to a question.
///
/// Readiness is latched: an event sets it, and only the call that finds nothing more to do clears it, so no event
/// between a call and the next wait is lost. Any number of waiters may watch one source.
///
/// `@unchecked Sendable`: confined to its loop; `EventLoop.assertOnLoop` checks that in debug builds.
public class ReadinessSource: @unchecked Sendable {
  /// The loop this source belongs to.
  public final let loop: EventLoop
  // Nearly every source has one waiter; the others come behind it.
  private final var watch: Watch?
  /// Latched readiness.
  public internal(set) final var ready: Readiness = []
  private final var otherWatches: [Watch] = []

  /// A waiter that watches this source.
  struct Watch {
    // Not retained: a waiting task keeps its waiter, which ends its watches at the end of the wait.
    let waiter: Unmanaged<Waiter>
    var next: Unmanaged<ReadinessSource>?
    var interest: Readiness

    @inline(__always)
    func belongs(to other: Waiter) -> Bool { waiter.toOpaque() == Unmanaged.passUnretained(other).toOpaque() }

    func wake(_ readiness: Readiness) {
      if !interest.isDisjoint(with: readiness) { waiter._withUnsafeGuaranteedRef { $0.wake(.ready) } }
    }
  }

  init(_ loop: EventLoop) {
    self.loop = loop
  }

  /// True if both directions are known to be over.
  public final var isHungUp: Bool { ready.contains(.hangUp) }

  /// Clears the latch of reading, after a call found no more. Once the peer has ended its direction, another call is
  /// needed to see that, and the latch stays.
  @inline(__always)
  final func nothingMoreToRead() {
    if !ready.contains(.readClosed) { ready.remove(.read) }
  }

  /// Sets latches, and wakes the waiters that watch for one of them.
  final func post(_ readiness: Readiness) {
    ready.formUnion(readiness)
    watch?.wake(readiness)
    if !otherWatches.isEmpty { for other in otherWatches { other.wake(readiness) } }
  }

  // MARK: Watches

  /// Adds a waiter in front of the sources that it watches already, or joins the interests. False: it was there.
  @inline(__always)
  final func add(_ waiter: Waiter, _ interest: Readiness, before next: Unmanaged<ReadinessSource>?) -> Bool {
    if watch == nil {
      watch = Watch(waiter: .passUnretained(waiter), next: next, interest: interest)
      return true
    }
    return addBesideFirst(waiter, interest, before: next)
  }

  @inline(never)
  private final func addBesideFirst(
    _ waiter: Waiter, _ interest: Readiness, before next: Unmanaged<ReadinessSource>?
  ) -> Bool {
    if update(waiter, { $0.interest.formUnion(interest) }) { return false }
    otherWatches.append(Watch(waiter: .passUnretained(waiter), next: next, interest: interest))
    return true
  }

  /// Removes a waiter. Returns the next of its sources.
  @inline(__always)
  final func remove(_ waiter: Waiter) -> Unmanaged<ReadinessSource>? {
    if let first = watch, first.belongs(to: waiter), otherWatches.isEmpty {
      watch = nil
      return first.next
    }
    return removeOfMany(waiter)
  }

  @inline(never)
  private final func removeOfMany(_ waiter: Waiter) -> Unmanaged<ReadinessSource>? {
    if let first = watch, first.belongs(to: waiter) {
      watch = otherWatches.popLast()
      return first.next
    }
    guard let index = otherWatches.firstIndex(where: { $0.belongs(to: waiter) }) else { return nil }
    return otherWatches.remove(at: index).next
  }

  /// Changes a waiter's watch. False: it has none.
  @discardableResult
  final func update(_ waiter: Waiter, _ change: (inout Watch) -> Void) -> Bool {
    if var first = watch, first.belongs(to: waiter) {
      change(&first)
      watch = first
      return true
    }
    guard let index = otherWatches.firstIndex(where: { $0.belongs(to: waiter) }) else { return false }
    change(&otherWatches[index])
    return true
  }

  /// Removes every waiter, and wakes none.
  final func removeWaiters() {
    while let first = watch { first.waiter._withUnsafeGuaranteedRef { $0.unwatch(self) } }
  }
}

/// The answer to a question that another task works on. A waiter watches it for reading. If the asker has gone, the
/// answer wakes nothing.
///
/// `@unchecked Sendable`: confined to its loop, like every source.
public final class PendingAnswer<Answer: Sendable>: ReadinessSource, @unchecked Sendable {
  private var arrived: Answer?

  /// Runs `work` in a task on the loop.
  public init(_ loop: EventLoop, _ work: @escaping @Sendable () async -> Answer) {
    super.init(loop)
    Task(executorPreference: loop) {
      let answer = await work()
      self.arrive(answer)
    }
  }

  /// The answer, once there is one.
  public var value: Answer? { arrived }

  private func arrive(_ answer: Answer) {
    loop.assertOnLoop()
    arrived = answer
    post(.read)
  }
}

/// A descriptor's readiness, or the interest of a waiting task.
public struct Readiness: OptionSet, Sendable {
  /// The bits.
  public let rawValue: UInt8

  /// A set from its bits.
  public init(rawValue: UInt8) {
    self.rawValue = rawValue
  }

  /// Bytes, an end of stream or an error can be received.
  public static let read = Readiness(rawValue: 1)
  /// Bytes can be sent, or sending fails at once.
  public static let write = Readiness(rawValue: 2)
  /// The peer has ended its direction; what it sent before may still be unread.
  public static let readClosed = Readiness(rawValue: 4)
  /// Both directions are over: reset, or closed by both sides.
  public static let hangUp = Readiness(rawValue: 8)

  /// Translates an epoll event. Errors and hang-ups also count as readable and writable, so that a task that waits for
  /// either gets them from the system call.
  init(epollEvents events: UInt32) {
    var readiness: Readiness = []
    if events & CSYSTEM_IN != 0 { readiness.insert(.read) }
    if events & CSYSTEM_OUT != 0 { readiness.insert(.write) }
    if events & CSYSTEM_RDHUP != 0 { readiness.formUnion([.read, .readClosed]) }
    if events & (CSYSTEM_HUP | CSYSTEM_ERR) != 0 {
      readiness.formUnion([.read, .write, .readClosed, .hangUp])
    }
    self = readiness
  }
}
