/// The waiting place of one task: until one of several descriptors is ready, until a deadline, or until a signal. A
/// connection uses one for every wait of its life, so that waiting allocates nothing: watch one or more channels, then
/// `wait`.
/// `@unchecked Sendable`: confined to its loop; `EventLoop.assertOnLoop` checks that in debug builds.
public final class Waiter: @unchecked Sendable {
  /// The reason why a wait ended.
  public enum Wake: Sendable, Hashable {
    /// A watched channel may be ready: try the call.
    case ready
    /// The deadline has passed.
    case timedOut
    /// `signal` was called.
    case signalled
  }

  /// The loop whose tasks wait here.
  public let loop: EventLoop
  @exclusivity(unchecked) private var continuation: UnsafeContinuation<Void, Never>?
  @exclusivity(unchecked) private var reason = Wake.ready
  @exclusivity(unchecked) private var isSignalled = false
  @exclusivity(unchecked) private var isReady = false
  // The first of a list of channels. Not retained: the waiting task keeps its channels, and a closed channel removes
  // itself.
  @exclusivity(unchecked) private var watched: Unmanaged<Channel>?
  /// The deadline of the present wait.
  @exclusivity(unchecked) var deadline = MonotonicTime.distantFuture
  /// The index of this waiter in the timer queue; its instant there is at or before `deadline`.
  @exclusivity(unchecked) var timerIndex = -1
  @exclusivity(unchecked) var timerKey = MonotonicTime.distantFuture

  /// A waiting place on `loop`. End it with `close`.
  public init(_ loop: EventLoop) {
    self.loop = loop
  }

  /// Makes the next `wait` end when `channel` becomes ready for any of `interest`, or at once if it already is.
  /// Watching one channel twice joins the interests; an empty interest is none.
  @inline(__always)
  public func watch(_ channel: Channel, _ interest: Readiness) {
    if interest.isEmpty { return }
    if !channel.ready.isDisjoint(with: interest) { isReady = true }
    channel.interest.formUnion(interest)
    let own = Unmanaged.passUnretained(self)
    if channel.waiter?.toOpaque() == own.toOpaque() { return }
    assert(channel.waiter == nil, "two tasks wait for one channel")
    channel.waiter = own
    channel.nextWatched = watched
    watched = .passUnretained(channel)
  }

  /// Suspends the task until a watched channel is ready, `deadline` passes or `signal` is called, then watches nothing.
  public func wait(until deadline: MonotonicTime) async -> Wake {
    loop.assertOnLoop()
    if isReady {
      reason = .ready
    } else if isSignalled {
      reason = .signalled
    } else {
      self.deadline = deadline
      loop.timers.schedule(self)
      // Not `withUnsafeContinuation`: it first goes to the executor, on which this function already is, and looks it up
      // under the task's lock. This form is for functions that are known to be there.
      await _unsafeInheritExecutor_withUnsafeContinuation { continuation = $0 }
    }
    if reason == .signalled { isSignalled = false }
    isReady = false
    unwatchAll()
    self.deadline = .distantFuture
    return reason
  }

  private func unwatchAll() {
    while let channel = watched {
      channel._withUnsafeGuaranteedRef {
        watched = $0.nextWatched
        $0.nextWatched = nil
        $0.waiter = nil
        $0.interest = []
      }
    }
  }

  /// Ends the present wait, or the next one if none is under way.
  public func signal() {
    isSignalled = true
    wake(.signalled)
  }

  /// Takes back a `signal` that no wait has received.
  public func forgetSignal() { isSignalled = false }

  func wake(_ reason: Wake) {
    guard let continuation else { return }
    self.continuation = nil
    self.reason = reason
    continuation.resume()
  }

  func unwatch(_ channel: Channel) {
    channel.waiter = nil
    let leaving = Unmanaged.passUnretained(channel).toOpaque()
    if watched?.toOpaque() == leaving { watched = channel.nextWatched }
    var next = watched
    while let other = next {
      other._withUnsafeGuaranteedRef {
        if $0.nextWatched?.toOpaque() == leaving { $0.nextWatched = channel.nextWatched }
        next = $0.nextWatched
      }
    }
    channel.nextWatched = nil
  }

  /// Leaves the timer queue and the watched channels. No task waits here any more.
  public func close() {
    unwatchAll()
    loop.timers.remove(self)
  }
}
