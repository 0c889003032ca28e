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
  @exclusivity(unchecked) private(set) var isDraining = false
  @exclusivity(unchecked) private var freeScratch: [Scratch] = []
  @exclusivity(unchecked) private var fewestFree = 0
  private(set) var connections: [ObjectIdentifier: DownstreamConnection] = [:]
  /// Whose connections are ended first where room is needed.
  var longestWaiting = LongestWaiting()
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

  init(_ state: LoopState) {
    loop = state.loop
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

  /// From now on nothing is accepted and responses close their connections; those that wait for a request are closed.
  func drain() {
    isDraining = true
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
    let unneeded = min(fewestFree, freeScratch.count)
    freeScratch.removeLast(unneeded)
    if unneeded >= 16 { Machine.trimHeap() }
    fewestFree = freeScratch.count
    current.flushAccessRecords()
  }
}
