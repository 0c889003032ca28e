// What a loop keeps through every reload: its callers' connections, free buffers, who accepts, and which generation of
// the configuration new requests belong to. Touched by its loop alone.

internal import HTTP
internal import HTTPClient
internal import Platform
internal import Routing
internal import Telemetry

/// An event loop as far as it serves callers. Confined to its loop.
final class ProxyLoop {
  let loop: EventLoop
  /// The state that requests take which begin now.
  @exclusivity(unchecked) private(set) var current: LoopState
  /// Whether answers say that their connections end, because the process does.
  @exclusivity(unchecked) private(set) var isEnding = false
  /// Since when connections that wait for a request are on their way out; nil as long as they may wait.
  @exclusivity(unchecked) private(set) var drainingSince: MonotonicTime?
  @exclusivity(unchecked) private var buffers = FreeList<CallerBuffers>()
  @exclusivity(unchecked) private var requests = FreeList<RequestContext>()
  @exclusivity(unchecked) private var attempts = FreeList<UpstreamAttempt>()
  private(set) var connections: [ObjectIdentifier: DownstreamConnection] = [:]
  /// Whose connections are ended first where room is needed.
  var longestWaiting = LongestWaiting()
  /// Connections in a handshake or with a part of a head, and which of them end first where there are too many.
  @exclusivity(unchecked) private var unfinished = 0
  private var longestUnfinished = LongestWaiting()
  private let loops: Int
  /// Those who accept, by where, so that they can be told to stop.
  var acceptors: [ObjectIdentifier: Acceptor] = [:]

  /// The acceptor at one place.
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

  /// Goes over to another generation of the configuration. Idle connections follow at once, busy ones with their next
  /// request.
  func adopt(_ service: Service, contexts: [ObjectIdentifier: ListenerContext]) {
    let former = current
    current = LoopState(service, contexts: contexts, loop: loop, clock: former.clock, succeeding: former)
    former.isSucceeded(by: current)
    for connection in connections.values { connection.generationChanged() }
  }

  // MARK: Memory that is lent

  func takeBuffers() -> CallerBuffers { buffers.take(current.service.limits.head) }
  func giveBack(_ buffers: consuming CallerBuffers) { self.buffers.giveBack(buffers) }
  func takeRequest() -> RequestContext { requests.take(current.service.limits.head) }
  func giveBack(_ request: consuming RequestContext) { requests.giveBack(request) }
  func takeAttempt() -> UpstreamAttempt { attempts.take(current.service.limits.head) }
  func giveBack(_ attempt: consuming UpstreamAttempt) { attempts.giveBack(attempt) }

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
    let unneeded = buffers.sweep() + requests.sweep() + attempts.sweep()
    if unneeded >= 16 { Machine.trimHeap() }
    current.flushAccessRecords()
  }
}

extension ProxyLoop {
  /// Those that wait, the longest last, as found by one look at all of them.
  struct LongestWaiting {
    private var found: [(connection: DownstreamConnection, since: MonotonicTime)] = []
    /// How many are kept of one look, so that a flood does not cost a look for each.
    private static let kept = 64

    /// Takes out the connection that has waited longest.
    mutating func next(of all: some Sequence<DownstreamConnection>) -> DownstreamConnection? {
      if let known = nextKnown() { return known }
      let waiting = all.compactMap { connection in connection.waitingSince.map { (connection, $0) } }
      found = waiting.sorted { $0.1 > $1.1 }.suffix(Self.kept)
      return nextKnown()
    }

    /// The next that has waited ever since.
    private mutating func nextKnown() -> DownstreamConnection? {
      while let (connection, since) = found.popLast() {
        if connection.waitingSince == since { return connection }
      }
      return nil
    }

    /// Forgets them: connections are not to be kept for this.
    mutating func forget() { found = [] }
  }

  /// Ends the connection of a caller that has waited longest for a request, to make room for one that may have one. It
  /// is closed before a task that yields now goes on. False: none waits.
  func endLongestWaiting() -> Bool {
    guard let connection = longestWaiting.next(of: connections.values) else { return false }
    connection.makeRoom()
    return true
  }

  /// Gives up a descriptor: an idle connection to an upstream, or that of a caller that waits. False: there
  /// is none.
  func giveUpDescriptor() -> Bool {
    for pool in current.pools where pool.closeOldest() { return true }
    return endLongestWaiting()
  }
}
