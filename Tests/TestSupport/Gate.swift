// Waits that end with an event: for threads and for tasks.

import Glibc
import Platform

/// A gate at which any number of threads wait until it is opened: for code under test that blocks.
package final class Gate: Sendable {
  private let ends: (reader: Int32, writer: Int32)
  private let isOpen = Locked(false)

  package init() {
    var ends: [Int32] = [-1, -1]
    _ = pipe(&ends)
    // A child that inherited the writer would keep the gate closed.
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    self.ends = (ends[0], ends[1])
  }

  deinit {
    open()
    close(ends.reader)
  }

  /// Returns once the gate is open.
  package func wait() {
    var question = pollfd(fd: ends.reader, events: Int16(POLLIN), revents: 0)
    // The end of the pipe is news to everyone who asks.
    while poll(&question, 1, -1) < 0, errno == EINTR {}
  }

  package func open() {
    isOpen.withLock { isOpen in
      if !isOpen { close(ends.writer) }
      isOpen = true
    }
  }
}

/// Counts what happens, for tasks that wait for it.
package final class Tally: Sendable {
  private struct State {
    var count = 0
    var waiting: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []
  }

  private let state = Locked(State())

  package init() {}

  package var count: Int { state.withLock { $0.count } }

  package func signal() {
    let due = state.withLock { state in
      state.count += 1
      let due = state.waiting.filter { $0.count <= state.count }
      state.waiting.removeAll { $0.count <= state.count }
      return due
    }
    for each in due { each.continuation.resume() }
  }

  package func wait(for count: Int) async {
    await withCheckedContinuation { continuation in
      let isDue = state.withLock { state in
        if state.count < count { state.waiting.append((count, continuation)) }
        return state.count >= count
      }
      if isDue { continuation.resume() }
    }
  }

  /// Waits until a condition that what happens may change holds.
  package func wait(until condition: () async throws -> Bool) async rethrows {
    while true {
      let known = count
      if try await condition() { return }
      await wait(for: known + 1)
    }
  }
}

/// Waits until `condition` holds, which changes of the file at `path` may bring about.
package func waitForFile(_ path: String, until condition: () async throws -> Bool) async throws {
  let changes = Tally()
  let watch = try DirectoryWatch(path: path) { _ in changes.signal() }
  try await changes.wait(until: condition)
  withExtendedLifetime(watch) {}
}
