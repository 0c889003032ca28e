// Owns the line of a terminal that shows how long a code is still good. Where nobody watches, there is none.

import Glibc
import Identity
import Network
import Tokens

/// A line that counts down.
final class WaitingLine: Sendable {
  private let now: @Sendable () -> UnixTime
  private let tell: @Sendable (String) -> Void
  private let task = Locked<Task<Void, Never>?>(nil)
  private let isShown: Bool

  /// A line on a terminal; nothing is shown where standard error is none.
  init(
    now: @escaping @Sendable () -> UnixTime, tell: @escaping @Sendable (String) -> Void,
    isShown: Bool = isatty(STDERR_FILENO) == 1
  ) {
    self.now = now
    self.tell = tell
    self.isShown = isShown
  }

  /// Begins to count down to an instant.
  func begin(until end: UnixTime) {
    guard isShown else { return }
    let (now, tell, task) = (now, tell, task)
    let counting = Task {
      while !Task.isCancelled, now() < end {
        // Under the lock, so that nothing is drawn once the line has been taken away.
        task.withLock { _ in if !Task.isCancelled { tell("\r\(Self.words(end - now()))  ") } }
        await TokenBroker.sleep(1)
      }
    }
    task.withLock { $0 = counting }
  }

  /// Takes the line away.
  func end() {
    task.withLock { counting in
      guard let counting else { return }
      counting.cancel()
      tell("\r\u{1B}[K")
    }
  }

  static func words(_ seconds: Int64) -> String {
    let rest = seconds % 60
    return "Waiting for the sign-in, \(seconds / 60):\(rest < 10 ? "0" : "")\(rest) left"
  }
}
