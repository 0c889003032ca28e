// Owns writing log lines to a descriptor from a Dispatch queue, so that a slow terminal or disk never stops a loop.

internal import Dispatch
internal import Glibc

/// Where log lines go: standard output or standard error, written in the order given, by one queue.
public final class OutputFile: Sendable {
  private struct State {
    var pending: [UInt8] = []
    var spare: [UInt8] = []
    var isWriting = false
    var dropped: UInt64 = 0
  }

  private let descriptor: Int32
  private let queue: DispatchQueue
  private let state = Locked(State())

  /// Bytes kept for a reader that does not read; past that, lines are dropped and counted.
  private static let limit = 4 * 1024 * 1024

  init(_ descriptor: Int32) {
    self.descriptor = descriptor
    queue = DispatchQueue(label: "bearer-proxy.output.\(descriptor)")
  }

  /// The process's standard output.
  public static let standardOutput = OutputFile(STDOUT_FILENO)
  /// The process's standard error.
  public static let standardError = OutputFile(STDERR_FILENO)

  /// Lines lost because nobody read them.
  public var droppedLines: UInt64 { state.withLock { $0.dropped } }

  /// Queues bytes that end with a line end. Copies them; never blocks.
  public func write(_ bytes: UnsafeRawBufferPointer) {
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

  /// Queues the bytes of a span.
  public func write(_ bytes: Span<UInt8>) {
    bytes.withUnsafeBytes { write($0) }
  }

  private func drain() {
    while true {
      // The two arrays change places, so that neither is allocated again.
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
      writeAll(batch)
      batch.removeAll(keepingCapacity: true)
      state.withLock { $0.spare = batch }
    }
  }

  private func writeAll(_ bytes: [UInt8]) {
    bytes.withUnsafeBytes { bytes in
      var rest = bytes[...]
      while !rest.isEmpty {
        let chunk = UnsafeRawBufferPointer(rebasing: rest)
        let count = Glibc.write(descriptor, chunk.baseAddress, chunk.count)
        if count > 0 {
          rest = rest.dropFirst(count)
        } else if errno == EAGAIN {
          var item = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
          poll(&item, 1, 1000)
        } else if errno != EINTR {
          // Nowhere left to say so: standard output or error itself is gone.
          return
        }
      }
    }
  }

  /// Waits until everything queued so far is written, at most for `limit`, and says whether it was. For the end of the
  /// process, which a reader that does not read must not hold up.
  @discardableResult
  public func flush(within limit: TimeSpan = .seconds(2)) -> Bool {
    let mark = DispatchWorkItem {}
    queue.async(execute: mark)
    return mark.wait(timeout: .now() + .nanoseconds(Int(clamping: limit.nanoseconds))) == .success
  }
}
