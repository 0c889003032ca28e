// The one lock of this code base. Nothing on the request path takes it.

internal import Glibc

/// A value that one thread at a time may touch, behind a POSIX mutex.
///
/// The standard library's `Mutex` would do the same, but the thread sanitizer cannot see it lock: it would report every
/// use, and the real races would drown.
///
/// `@unchecked Sendable`: the value is reached through `withLock` alone, and the mutex orders those who reach it.
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

  /// Runs `body` with the value, alone. `body` must not take long, and must not lock again.
  public func withLock<Result, Failure: Error>(_ body: (inout Value) throws(Failure) -> Result) throws(Failure)
    -> Result
  {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    return try body(&value)
  }
}
