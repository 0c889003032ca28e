// The part of a loop that outlives every reload: its callers' connections, the acceptors, and the current generation of
// the configuration. Only its loop touches it.

internal import HTTP
internal import HTTPClient
internal import Platform
internal import Routing
internal import Telemetry

/// The part of an event loop that serves callers. Confined to its loop.
final class ProxyLoop {
  let loop: EventLoop
  /// The state for requests that begin now.
  private(set) var current: LoopState
  /// True if answers end their connections, because the process ends.
  private(set) var isEnding = false
  /// Since when waiting connections are being ended; nil as long as they may wait.
  private(set) var drainingSince: MonotonicTime?
  let lent: LentMemory
  private(set) var connections: [ObjectIdentifier: DownstreamConnection] = [:]
  /// Connections that were accepted and whose tasks have not begun: they are not among `connections` yet.
  var arriving = 0
  /// The connections to end first if room is needed.
  var longestWaiting = LongestWaiting()
  /// The number of connections in a handshake or with a part of a head, and the ones to end first if there are too
  /// many.
  private var unfinished = 0
  private var longestUnfinished = LongestWaiting()
  private let loops: Int
  /// The other loops, which may release what they can spare.
  var others: [Confined<ProxyLoop>] = []
  /// The acceptors, by listener, so that they can be stopped.
  var acceptors: [ObjectIdentifier: Acceptor] = [:]

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
    lent = state.lent
    current = state
  }

  // MARK: Generations

  /// Changes to another generation of the configuration. Idle connections follow at once, busy ones with their next
  /// request.
  func adopt(_ service: Service, contexts: [ObjectIdentifier: ListenerContext]) {
    let former = current
    current = LoopState(service, contexts: contexts, loop: loop, succeeding: former)
    former.isSucceeded(by: current)
    for connection in connections.values { connection.generationChanged() }
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

  /// Counts a connection that begins a handshake, or waits for the rest of a head. If that exceeds this loop's share of
  /// `limits.unfinished`, the oldest such connection ends.
  func beginsUnfinished() {
    unfinished += 1
    let service = current.service
    guard unfinished > max(service.limits.unfinished / loops, 1),
      let longest = longestUnfinished.next(of: connections.values.lazy.filter(\.isUnfinished))
    else { return }
    current.metrics.add(service.metrics.limits[Limit.unfinished.position])
    longest.makeRoom()
  }

  func endsUnfinished() { unfinished -= 1 }

  /// From now on answers close their connections.
  func announceEnd() {
    isEnding = true
    for connection in connections.values { connection.drain() }
  }

  /// From now on nothing is accepted either, and connections that wait for a request end after a grace.
  func drain() {
    isEnding = true
    drainingSince = loop.now
    for acceptor in acceptors.values { acceptor.stop() }
    for connection in connections.values { connection.drain() }
    for pool in current.pools { pool.closeIdle() }
  }

  /// The connections with HTTP/2 to upstreams of the current generation.
  func sharedConnections() -> [SharedConnectionReport] { current.pools.flatMap(\.sharedConnections) }

  /// Closes every connection at once.
  func abandon() {
    for connection in connections.values { connection.abandon() }
  }

  // MARK: Housekeeping

  /// Drops buffers that have not been needed for a while. Call every few seconds. Returns the number dropped.
  func sweep() -> Int {
    for pool in current.pools { pool.sweep() }
    longestWaiting.forget()
    longestUnfinished.forget()
    current.flushAccessRecords()
    return lent.sweep()
  }
}

extension ProxyLoop {
  /// The waiting connections, the longest last, as found by one look at all of them.
  struct LongestWaiting {
    private var found: [(connection: DownstreamConnection, since: MonotonicTime)] = []
    /// Connections kept of one look, so that a flood does not cost a look for each.
    private static let kept = 64

    /// Removes the connection that has waited longest, if it is waiting at `now`.
    mutating func next(
      of all: some Sequence<DownstreamConnection>, at now: MonotonicTime = .distantFuture
    ) -> DownstreamConnection? {
      if let known = nextKnown(at: now) { return known }
      let waiting = all.compactMap { connection in connection.waitingSince.map { (connection, $0) } }
      found = waiting.sorted { $0.1 > $1.1 }.suffix(Self.kept)
      return nextKnown(at: now)
    }

    /// The next one that has waited ever since.
    private mutating func nextKnown(at now: MonotonicTime) -> DownstreamConnection? {
      while let (connection, since) = found.last, since <= now {
        found.removeLast()
        if connection.waitingSince == since { return connection }
      }
      return nil
    }

    /// True if the last look has found connections that have not waited yet.
    var areNew: Bool { !found.isEmpty }

    /// Forgets them: they must not be kept for this.
    mutating func forget() { found = [] }
  }

  /// The room for another connection.
  enum Room: Sendable {
    /// A connection ends. It is closed before a task that yields now continues.
    case made
    /// New connections are given the time to send a request.
    case soon
    /// All are busy.
    case none
  }

  /// Ends the connection of the caller that has waited longest for a request, to make room for one that may have one.
  func endLongestWaiting() -> Room {
    guard let connection = longestWaiting.next(of: connections.values, at: loop.now) else {
      return longestWaiting.areNew || arriving > 0 ? .soon : .none
    }
    connection.makeRoom()
    return .made
  }

  /// Releases a descriptor: an idle connection to an upstream, or that of a waiting caller.
  func giveUpDescriptor() -> Room {
    for pool in current.pools where pool.closeOldest() { return .made }
    return endLongestWaiting()
  }

  /// Asks this loop, then the others, until one of them has released something and its closing is done.
  func makeRoom(_ giveUp: @escaping @Sendable (ProxyLoop) -> Room) async -> Room {
    var room = giveUp(self)
    if case .made = room { await Task.yield() }
    for other in others {
      if case .made = room { return room }
      let asked = Task(executorPreference: other.loop) {
        let room = giveUp(other.value)
        if case .made = room { await Task.yield() }
        return room
      }
      let answer = await asked.value
      if case .none = answer {} else { room = answer }
    }
    return room
  }
}
