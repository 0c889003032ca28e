// Owns what a loop keeps through every reload: its callers' connections, free scratch, who accepts, and which generation of the
// configuration new requests belong to. Touched by its loop alone.

internal import HTTP
internal import HTTPClient
internal import Network
internal import Telemetry

/// An event loop as far as it serves callers. Confined to its loop.
final class ServingLoop {
  let loop: EventLoop
  /// The state that requests take which begin now.
  @exclusivity(unchecked) private(set) var current: LoopState
  /// Whether answers say that their connections end, because the process does.
  @exclusivity(unchecked) private(set) var isEnding = false
  /// Since when connections that wait for a request are on their way out; nil as long as they may wait.
  @exclusivity(unchecked) private(set) var drainingSince: MonotonicTime?
  @exclusivity(unchecked) private var freeScratch: [Scratch] = []
  @exclusivity(unchecked) private var fewestFree = 0
  private(set) var connections: [ObjectIdentifier: DownstreamConnection] = [:]
  /// Whose connections are ended first where room is needed.
  var longestWaiting = LongestWaiting()
  /// Connections in a handshake or with a part of a head, and which of them end first where there are too many.
  @exclusivity(unchecked) private var unfinished = 0
  private var longestUnfinished = LongestWaiting()
  private let loops: Int
  /// Those who accept, by where, so that they can be told to stop.
  var acceptors: [ObjectIdentifier: Acceptor] = [:]

  /// Whoever accepts at one place.
  final class Acceptor {
    let waiter: Waiter
    fileprivate(set) var isStopped = false

    init(_ loop: EventLoop) {
      waiter = Waiter(loop)
    }

    func stop() {
      isStopped = true
      waiter.signal()
    }
  }

  /// The part of one of so many loops.
  init(_ state: LoopState, of loops: Int) {
    loop = state.loop
    self.loops = loops
    current = state
  }

  // MARK: Generations

  /// Goes over to another generation of the configuration. Idle connections follow at once, busy ones with their next request.
  func adopt(_ service: Service, contexts: [ObjectIdentifier: ListenerContext]) {
    let former = current
    current = LoopState(service, contexts: contexts, loop: loop, clock: former.clock, succeeding: former)
    former.isSucceeded(by: current)
    for connection in connections.values { connection.generationChanged() }
  }

  // MARK: Scratch

  func takeScratch() -> Scratch {
    guard let scratch = freeScratch.popLast() else {
      return Scratch(fieldCount: current.service.limits.head.fieldCount)
    }
    fewestFree = min(fewestFree, freeScratch.count)
    return scratch
  }

  func giveBack(_ scratch: Scratch) {
    if scratch.isGrown, freeScratch.count >= 16 { return }
    scratch.reset()
    freeScratch.append(scratch)
  }

  // MARK: Connections

  func opened(_ connection: DownstreamConnection) {
    connections[ObjectIdentifier(connection)] = connection
    current.metrics.add(current.service.metrics.connectionsAccepted)
    current.metrics.add(current.service.metrics.connectionsOpen, 1)
  }

  func closed(_ connection: DownstreamConnection) {
    connections[ObjectIdentifier(connection)] = nil
    current.metrics.add(current.service.metrics.connectionsOpen, -1)
  }

  /// A connection begins a handshake, or waits for the rest of a head. Where that makes more than this loop's share of
  /// `limits.unfinished`, the one that has been at it longest ends.
  func beginsUnfinished() {
    unfinished += 1
    let service = current.service
    guard unfinished > max(service.limits.unfinished / loops, 1),
      let longest = longestUnfinished.next(of: connections.values.lazy.filter(\.isUnfinished))
    else { return }
    current.metrics.add(service.metrics.limits[Limit.unfinished.row])
    longest.makeRoom()
  }

  func endsUnfinished() { unfinished -= 1 }

  /// From now on answers close their connections.
  func announceEnd() { isEnding = true }

  /// From now on nothing is accepted either, and connections that wait for a request end after a grace.
  func drain() {
    isEnding = true
    drainingSince = loop.now
    for acceptor in acceptors.values { acceptor.stop() }
    for connection in connections.values { connection.drain() }
    for pool in current.pools { pool.closeIdle() }
  }

  /// Closes every connection as it stands.
  func abandon() {
    for connection in connections.values { connection.abandon() }
  }

  // MARK: Housekeeping

  /// Drops what has not been needed for a while. Call every few seconds.
  func sweep() {
    for pool in current.pools { pool.sweep() }
    longestWaiting.forget()
    longestUnfinished.forget()
    let unneeded = min(fewestFree, freeScratch.count)
    freeScratch.removeLast(unneeded)
    if unneeded >= 16 { Machine.trimHeap() }
    fewestFree = freeScratch.count
    current.flushAccessRecords()
  }
}
