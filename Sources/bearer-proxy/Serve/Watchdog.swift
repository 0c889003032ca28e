// Owns what a sign of life means: that every event loop has just run something.

import Bytes
import Platform

extension ServiceNotifier {
  /// Gives signs of life until the task is cancelled, twice as often as they are waited for. A loop that is stuck ends
  /// that, and the service manager starts the process anew.
  func proveLife(of loops: [EventLoop]) async {
    guard let watchdog else { return }
    while !Task.isCancelled {
      for loop in loops { await Task(executorPreference: loop) { loop.assertOnLoop() }.value }
      alive()
      do { try await Task.sleep(for: Duration(watchdog) / 2) } catch { return }
    }
  }
}
