// Log lines are written to a descriptor by a Dispatch queue, so that a slow terminal or disk never stops a loop.

package import Bytes
internal import Dispatch
internal import Glibc

/// A destination of log lines: standard output, standard error or a file, written in order by one queue.
package final class OutputFile: Sendable {
  private struct State {
    var pending: [UInt8] = []
    var spare: [UInt8] = []
    var isWriting = false
    var dropped: UInt64 = 0
    var failure: SystemError?
    var hearing: (@Sendable (SystemError?) -> Void)?
  }

  // Changed by `queue` alone.
  private nonisolated(unsafe) var descriptor: Int32
  /// True after a line that could not be written to its end. Used by `queue` alone.
  private nonisolated(unsafe) var isInsideLine = false
  private let path: String?
  private let queue: DispatchQueue
  private let state = Locked(State())

  /// Bytes kept for a slow reader; further lines are dropped and counted.
  private static let limit = 4 * 1024 * 1024

  init(_ descriptor: Int32) {
    self.descriptor = descriptor
    path = nil
    queue = DispatchQueue(label: "bearer-proxy.output.\(descriptor)")
  }

  /// A file at a path, to which lines are appended; made with mode 0640 if there is none. A link is not followed.
  package init(path: String) throws(SystemError) {
    descriptor = try Self.open(path)
    self.path = path
    queue = DispatchQueue(label: "bearer-proxy.output.\(path)")
  }

  deinit {
    if path != nil { close(descriptor) }
  }

  private static func open(_ path: String) throws(SystemError) -> Int32 {
    let place = FilePlace(path)
    let directory = try Directory(place.directory)
    // Does not wait for the reader of a pipe: without one, opening fails.
    let flags = O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC
    let descriptor = openat(directory.descriptor, place.name, flags, 0o640)
    guard descriptor >= 0 else { throw SystemError("open") }
    do throws(SystemError) {
      try FileOwnership.hand(descriptor, over: directory)
    } catch {
      close(descriptor)
      throw error
    }
    return descriptor
  }

  /// Continues in a new file at the same path after the queued lines, since the old one was moved away. With `ifMoved`,
  /// only if another file, or none, is at the path. If no file can be made, the old one stays in use. `done` gets the
  /// error.
  package func reopen(ifMoved: Bool, done: @escaping @Sendable (SystemError?) -> Void = { _ in }) {
    guard let path else { return }
    queue.async {
      if ifMoved, Self.isSame(self.descriptor, path) { return }
      do throws(SystemError) {
        let new = try Self.open(path)
        close(self.descriptor)
        self.descriptor = new
        self.isInsideLine = false
        done(nil)
      } catch {
        done(error)
      }
    }
  }

  private static func isSame(_ descriptor: Int32, _ path: String) -> Bool {
    var open = stat()
    var there = stat()
    guard fstat(descriptor, &open) == 0, lstat(path, &there) == 0 else { return false }
    return open.st_dev == there.st_dev && open.st_ino == there.st_ino
  }

  /// The process's standard output.
  package static let standardOutput = OutputFile(STDOUT_FILENO)
  /// The process's standard error.
  package static let standardError = OutputFile(STDERR_FILENO)

  /// Lines lost: the reader was too slow, or writing failed.
  package var droppedLines: UInt64 { state.withLock { $0.dropped } }

  /// The reason why the last lines could not be written; nil if they were.
  package var failure: SystemError? { state.withLock { $0.failure } }

  /// Calls `hear` when lines can no longer be written, or for another reason, and with nil when they can again. It
  /// replaces the earlier handler.
  package func onFailure(_ hear: @escaping @Sendable (SystemError?) -> Void) {
    state.withLock { $0.hearing = hear }
  }

  /// Queues bytes that end with a line end. Copies them; never blocks.
  package func write(_ bytes: UnsafeRawBufferPointer) {
    let mustStart = state.withLock { state in
      guard state.pending.count + bytes.count <= Self.limit else {
        state.dropped += 1
        return false
      }
      state.pending.append(contentsOf: bytes)
      defer { state.isWriting = true }
      return !state.isWriting
    }
    if mustStart { queue.async { self.drain() } }
  }

  package func write(_ bytes: Span<UInt8>) {
    bytes.withUnsafeBytes { write($0) }
  }

  private func drain() {
    while true {
      // The two arrays are swapped, so that neither is allocated again.
      let batch: [UInt8]? = state.withLock { state in
        guard !state.pending.isEmpty else {
          state.isWriting = false
          return nil
        }
        let batch = state.pending
        state.pending = state.spare
        state.spare = []
        return batch
      }
      guard var batch else { return }
      let failure = writeLines(batch)
      batch.removeAll(keepingCapacity: true)
      let hearing = state.withLock { state in
        defer { state.failure = failure?.error }
        state.spare = batch
        state.dropped += failure?.lostLines ?? 0
        return state.failure == failure?.error ? nil : state.hearing
      }
      hearing?(failure?.error)
    }
  }

  /// Writes whole lines, as many as there is room for.
  private func writeLines(_ bytes: [UInt8]) -> (error: SystemError, lostLines: UInt64)? {
    bytes.withUnsafeBytes { bytes in
      if isInsideLine {
        // The part of a line that was written must not join the next line.
        let end = [UInt8(ascii: "\n")]
        if let (error, _) = end.withUnsafeBytes({ writeAll($0, to: descriptor) }) {
          return (error, Self.lines(in: bytes[...]))
        }
        isInsideLine = false
      }
      guard let (error, rest) = writeAll(bytes, to: descriptor) else { return nil }
      isInsideLine = rest.startIndex > 0 && bytes[rest.startIndex - 1] != UInt8(ascii: "\n")
      return (error, Self.lines(in: rest))
    }
  }

  private static func lines(in bytes: Slice<UnsafeRawBufferPointer>) -> UInt64 {
    bytes.reduce(0) { $0 + ($1 == UInt8(ascii: "\n") ? 1 : 0) }
  }

  /// Waits until everything queued so far is written, at most for `limit`; false if it is not. For the end of the
  /// process, which a slow reader must not delay.
  @discardableResult
  package func flush(within limit: TimeSpan = .seconds(2)) -> Bool {
    let mark = DispatchWorkItem {}
    queue.async(execute: mark)
    return mark.wait(timeout: .now() + .nanoseconds(Int(clamping: limit.nanoseconds))) == .success
  }
}

/// Writes bytes to a descriptor, and waits for room if that does not wait by itself. Returns the rest, and the reason;
/// nil if there is none.
package func writeAll(
  _ bytes: UnsafeRawBufferPointer, to descriptor: Int32
) -> (error: SystemError, rest: Slice<UnsafeRawBufferPointer>)? {
  var rest = bytes[...]
  while !rest.isEmpty {
    let chunk = UnsafeRawBufferPointer(rebasing: rest)
    let count = Glibc.write(descriptor, chunk.baseAddress, chunk.count)
    if count > 0 {
      rest = rest.dropFirst(count)
    } else if count < 0, errno == EAGAIN {
      var item = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
      poll(&item, 1, 1000)
    } else if count == 0 || errno != EINTR {
      return (SystemError("write"), rest)
    }
  }
  return nil
}
