internal import Glibc

/// A value behind a POSIX mutex, the one lock of this code base. The request path does not take it.
/// The standard library's `Mutex` would do the same, but the thread sanitizer cannot see it lock: it would report every
/// use and hide the real races.
/// `@unchecked Sendable`: the value is reached through `withLock` alone, and the mutex orders its users.
public final class Locked<Value>: @unchecked Sendable {
  private let mutex: UnsafeMutablePointer<pthread_mutex_t>
  private var value: Value

  /// A lock around `value`.
  public init(_ value: sending Value) {
    self.value = value
    mutex = .allocate(capacity: 1)
    mutex.initialize(to: pthread_mutex_t())
    pthread_mutex_init(mutex, nil)
  }

  deinit {
    pthread_mutex_destroy(mutex)
    mutex.deallocate()
  }

  /// Runs `body` with the value, exclusively. `body` must be short, and must not lock again.
  public func withLock<Result, Failure: Error>(_ body: (inout Value) throws(Failure) -> Result) throws(Failure)
    -> Result
  {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    return try body(&value)
  }
}
