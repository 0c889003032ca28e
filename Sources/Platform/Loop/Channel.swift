internal import CSystem
internal import Glibc

/// A non-blocking descriptor registered once with an event loop, edge-triggered in both directions.
///
/// Readiness is latched: an edge sets it, and only the system call that finds nothing more to do clears it, so no edge
/// between a call and the next wait is lost.
///
/// `@unchecked Sendable`: confined to its loop; `EventLoop.assertOnLoop` checks that in debug builds.
public final class Channel: @unchecked Sendable {
  /// The loop this descriptor belongs to.
  public let loop: EventLoop
  /// The descriptor; negative once closed.
  @exclusivity(unchecked) public private(set) var descriptor: Int32
  /// Latched readiness.
  @exclusivity(unchecked) public internal(set) var ready: Readiness = []
  @exclusivity(unchecked) var interest: Readiness = []
  // Not retained: a waiting task keeps its waiter, and clears this at the end of the wait.
  @exclusivity(unchecked) var waiter: Unmanaged<Waiter>?
  /// The next of the channels that the waiter watches.
  @exclusivity(unchecked) var nextWatched: Unmanaged<Channel>?
  private let slot: UInt32

  /// Takes over `descriptor`, which must be non-blocking. Call on the loop.
  public init(_ descriptor: Int32, loop: EventLoop) throws(SystemError) {
    self.loop = loop
    self.descriptor = descriptor
    slot = loop.reserveSlot()
    do throws(SystemError) {
      try loop.register(self, slot: slot)
    } catch {
      loop.releaseSlot(slot)
      _ = Glibc.close(descriptor)
      throw error
    }
  }

  deinit {
    assert(descriptor < 0, "a channel was dropped without being closed")
  }

  /// True if the peer has closed, reset or ended its direction: an idle connection in this state is stale.
  public var isStale: Bool { !ready.isDisjoint(with: [.read, .readClosed, .hangUp]) || descriptor < 0 }

  /// True if the peer has ended its direction; what it sent before may still be unread.
  public var isReadClosed: Bool { ready.contains(.readClosed) }

  /// Asks the kernel for bytes or an end that the loop has not heard of yet.
  public func looksOnceMore() -> Bool {
    var question = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    if descriptor >= 0, poll(&question, 1, 0) > 0 { ready.insert(.read) }
    return ready.contains(.read)
  }

  /// True if both directions are known to be over.
  public var isHungUp: Bool { ready.contains(.hangUp) }

  /// Clears the latch of reading, after a call found no more. Once the peer has ended its direction, another call is
  /// needed to see that, and the latch stays.
  @inline(__always)
  func nothingMoreToRead() {
    if !ready.contains(.readClosed) { ready.remove(.read) }
  }

  func post(_ readiness: Readiness) {
    ready.formUnion(readiness)
    if let waiter, !interest.isDisjoint(with: readiness) { waiter._withUnsafeGuaranteedRef { $0.wake(.ready) } }
  }

  /// Leaves the loop and closes the descriptor. A second call does nothing.
  public func close() {
    guard descriptor >= 0 else { return }
    loop.assertOnLoop()
    loop.releaseSlot(slot)
    waiter?._withUnsafeGuaranteedRef { $0.unwatch(self) }
    // Closing the last descriptor of a file takes it out of every epoll set.
    _ = Glibc.close(descriptor)
    descriptor = -1
    // A later attempt fails at once.
    ready = [.read, .write, .readClosed, .hangUp]
  }
}
