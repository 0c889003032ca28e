internal import CSystem
internal import Glibc

/// A non-blocking descriptor registered once with an event loop, edge-triggered in both directions: an edge sets the
/// latch.
///
/// `@unchecked Sendable`: confined to its loop, like every source.
public final class Channel: ReadinessSource, @unchecked Sendable {
  /// The descriptor; negative once closed.
  public private(set) var descriptor: Int32
  private let slot: UInt32

  /// Takes over `descriptor`, which must be non-blocking. Call on the loop.
  public init(_ descriptor: Int32, loop: EventLoop) throws(SystemError) {
    self.descriptor = descriptor
    slot = loop.reserveSlot()
    super.init(loop)
    do throws(SystemError) {
      try loop.register(self, slot: slot)
    } catch {
      loop.releaseSlot(slot)
      _ = Glibc.close(descriptor)
      throw error
    }
  }

  /// The readiness of a stream that has no descriptor of its own. Call on the loop.
  init(carriedOn loop: EventLoop) {
    descriptor = -1
    slot = 0
    super.init(loop)
    ready = [.read, .write]
  }

  deinit {
    assert(descriptor < 0, "a channel was dropped without being closed")
  }

  /// True if the peer has closed, reset or ended its direction: an idle connection in this state is stale.
  public var isStale: Bool { !ready.isDisjoint(with: [.read, .readClosed, .hangUp]) || descriptor < 0 }

  /// Asks the kernel for bytes or an end that the loop has not heard of yet.
  public func looksOnceMore() -> Bool {
    var question = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    if descriptor >= 0, poll(&question, 1, 0) > 0 { ready.insert(.read) }
    return ready.contains(.read)
  }

  /// Leaves the loop and closes the descriptor. A second call does nothing.
  public func close() {
    guard descriptor >= 0 else { return }
    loop.assertOnLoop()
    loop.releaseSlot(slot)
    removeWaiters()
    // Closing the last descriptor of a file takes it out of every epoll set.
    _ = Glibc.close(descriptor)
    descriptor = -1
    // A later attempt fails at once.
    ready = [.read, .write, .readClosed, .hangUp]
  }
}
