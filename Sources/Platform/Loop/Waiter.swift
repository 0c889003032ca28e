/// The waiting place of one task: until one of several sources is ready, until a deadline, or until a signal. A
/// connection uses one for every wait of its life, so that waiting allocates nothing: watch one or more sources, then
/// `wait`.
/// `@unchecked Sendable`: confined to its loop; `EventLoop.assertOnLoop` checks that in debug builds.
public final class Waiter: @unchecked Sendable {
  /// The reason why a wait ended.
  public enum Wake: Sendable, Hashable {
    /// A watched source may be ready: try the call.
    case ready
    /// The deadline has passed.
    case timedOut
    /// `signal` was called: what the task depends on has changed.
    case signalled
  }

  /// The loop whose tasks wait here.
  public let loop: EventLoop
  private var continuation: UnsafeContinuation<Void, Never>?
  private var reason = Wake.ready
  private var isSignalled = false
  private var isReady = false
  // The first of a list of sources. Not retained: the waiting task keeps its sources, and a closed channel removes
  // itself.
  private var watched: Unmanaged<ReadinessSource>?
  var deadline = MonotonicTime.distantFuture
  /// The index of this waiter in the timer queue; its instant there is at or before `deadline`.
  var timerIndex = -1
  var timerKey = MonotonicTime.distantFuture

  /// A waiting place on `loop`. End it with `close`.
  public init(_ loop: EventLoop) {
    self.loop = loop
  }

  /// Makes the next `wait` end when `source` becomes ready for any of `interest`, or at once if it already is. Watching
  /// one source twice joins the interests; an empty interest is none.
  @inline(__always)
  public func watch(_ source: ReadinessSource, _ interest: Readiness) {
    if interest.isEmpty { return }
    if !source.ready.isDisjoint(with: interest) { isReady = true }
    if source.add(self, interest, before: watched) { watched = .passUnretained(source) }
  }

  /// Suspends the task until a watched source is ready, `deadline` passes or `signal` is called, then watches nothing.
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
    while let source = watched { watched = source._withUnsafeGuaranteedRef { $0.remove(self) } }
  }

  /// Ends the present wait, or the next one if none is under way.
  public func signal() {
    isSignalled = true
    wake(.signalled)
  }

  func wake(_ reason: Wake) {
    guard let continuation else {
      if reason == .ready { isReady = true }
      return
    }
    self.continuation = nil
    self.reason = reason
    continuation.resume()
  }

  /// Ends the watch of one source.
  func unwatch(_ source: ReadinessSource) {
    let leaving = Unmanaged.passUnretained(source).toOpaque()
    let behind = source.remove(self)
    var next = watched
    if watched?.toOpaque() == leaving { (watched, next) = (behind, nil) }
    while let other = next {
      next = nil
      other._withUnsafeGuaranteedRef {
        _ = $0.update(self) { watch in
          if watch.next?.toOpaque() == leaving { watch.next = behind } else { next = watch.next }
        }
      }
    }
  }

  /// Leaves the timer queue and the watched sources. No task waits here any more.
  public func close() {
    unwatchAll()
    loop.timers.remove(self)
  }
}
