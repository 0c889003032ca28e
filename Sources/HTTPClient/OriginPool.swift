// Carries out the decisions of `PoolState` with the sockets. The Proxy module decides if an exchange may be repeated on
// another connection.

package import HTTP
package import HTTP2
package import Platform

/// A connection to an upstream, or a stream of one with HTTP/2: what carries one exchange. Confined to its loop.
package final class UpstreamConnection {
  package let stream: ByteStream
  /// True if an exchange was completed on it before: the peer may have closed it since.
  package fileprivate(set) var isReused = false
  /// True if it belongs to one caller, who may have authenticated it.
  package fileprivate(set) var isReserved = false
  /// True if it was made for one exchange that others could not share, and ends with it unless its caller keeps it.
  package let isAlone: Bool
  fileprivate let id: PoolState.ID
  /// The stream of HTTP/2; nil if the connection is for one exchange at a time.
  private let carried: UpstreamStream?
  /// The connection whose streams are lent in place of this one; nil if it is lent itself.
  fileprivate let shared: SharedConnection?

  fileprivate init(_ stream: ByteStream, _ id: PoolState.ID, shared: SharedConnection? = nil, isAlone: Bool) {
    self.stream = stream
    self.id = id
    self.shared = shared
    self.isAlone = isAlone
    carried = nil
  }

  init(_ stream: ByteStream, _ id: PoolState.ID, _ carried: UpstreamStream, isReused: Bool) {
    self.stream = stream
    self.id = id
    self.carried = carried
    shared = nil
    isAlone = carried.connection.isAlone
    self.isReused = isReused
  }

  /// Begins another exchange in the place of one that is over, on the same connection.
  func renew(isReused: Bool, at now: MonotonicTime) -> SessionStream? {
    self.isReused = isReused
    stream.renew()
    return carried?.renew(at: now)
  }

  /// True if it is a stream of HTTP/2.
  package var isHTTP2: Bool { carried != nil }

  /// True if it can carry a WebSocket. A stream of HTTP/2 can if the upstream says so, which is waited for.
  package func permitsWebSocket(_ waiter: Waiter, until deadline: MonotonicTime) async throws(UpstreamError) -> Bool {
    guard let carried else { return true }
    guard let permits = await carried.connection.permitsTunnels(waiter, until: deadline) else { throw .timedOut }
    return permits
  }

  /// The end of the stream of HTTP/2 before its response was whole; nil if it was not that.
  package var streamFault: AnswerProgress.Fault? { carried?.stream.answer.fault }

  /// True if it can no longer be used. Not inlined: the pool would count a reference to the stream, too.
  fileprivate var isStale: Bool {
    @inline(never) get { shared.map { !$0.takesStreams } ?? stream.isStale }
  }

  @inline(never)
  fileprivate func lookOnceMore() {
    if let shared { shared.lookOnceMore() } else { _ = stream.channel.looksOnceMore() }
  }

  fileprivate func distrust() {
    if let carried { carried.connection.distrust(silentSince: carried.began) }
  }

  /// Ends the exchange on a stream of HTTP/2. Its connection, if it is one.
  fileprivate func finishStream() -> SharedConnection? {
    guard let carried else { return nil }
    carried.connection.finish(carried.stream)
    carried.connection.keep(self, carried.stream)
    return carried.connection
  }

  /// Closes the socket at once; the pool learns of it when the connection is given back.
  package func close() {
    if let shared { shared.close() } else { stream.close() }
  }
}

/// The connections of one loop to one origin. Confined to its loop.
package final class OriginPool {
  private let connector: OriginConnector
  private let loop: EventLoop
  private var state: PoolState
  /// By number.
  private var connections: [UpstreamConnection?] = []
  private var resumption: TLSResumption?
  private let head: HeadLimits
  /// True if connections may have HTTP/2, and carry several exchanges at once.
  package let mayBeShared: Bool
  /// Told of each connection with HTTP/2 that begins (1) or ends (-1).
  let countsShared: (Int) -> Void
  /// The exchanges that wait for a connection which is being made.
  private var waiting: [Waiter] = []
  /// The number of connections that could not be made, and the reason of the last.
  private var failures: (count: Int, last: UpstreamError?) = (0, nil)

  package init(
    _ origin: Origin, limits: PoolLimits, head: HeadLimits = HeadLimits(), resolver: Resolver, loop: EventLoop,
    countsShared: @escaping (Int) -> Void = { _ in }
  ) {
    connector = OriginConnector(origin, resolver: resolver, loop: loop)
    self.loop = loop
    self.head = head
    self.countsShared = countsShared
    mayBeShared = origin.mayBeShared
    state = PoolState(limits, sharing: mayBeShared ? .possible : .never)
    connections.reserveCapacity(min(limits.maximumIdle, 64))
  }

  package var origin: Origin { connector.origin }
  package var idleCount: Int { state.idleCount }
  /// The connections with HTTP/2.
  package var sharedConnections: [SharedConnectionReport] { connections.compactMap { $0?.shared?.report } }
  /// True if the origin is no longer used.
  package var isRetired: Bool { state.isRetired }

  // MARK: Lending

  /// An open connection that the peer has not closed, most recently used first; `nil` if a new one is needed.
  /// - Parameter looksOnceMore: asks the kernel for an end that the loop has not heard of yet, and replaces a
  ///   connection that its peer may be closing, for a request that cannot be sent a second time.
  package func lease(looksOnceMore: Bool = false) -> UpstreamConnection? {
    while let action = state.leaseRequested(at: loop.now, isFresh: looksOnceMore) {
      switch action {
      case .lend(let id), .keep(let id):
        guard let connection = connections[id.index] else { return nil }
        if looksOnceMore { connection.lookOnceMore() }
        if !connection.isStale { return connection.shared?.open() ?? connection }
        carryOut(state.lentInVain(id))
      case .close:
        carryOut(action)
        // The others have been idle longer. They serve what can be repeated.
        if looksOnceMore { return nil }
      }
    }
    return nil
  }

  /// A new connection, TLS included; or a stream of one that another exchange has made meanwhile.
  /// - Parameter isAlone: no other exchange may use the connection, and one with HTTP/1.1 is preferred.
  package func connect(
    _ waiter: Waiter, until deadline: MonotonicTime, isAlone: Bool = false
  ) async throws(UpstreamError) -> UpstreamConnection {
    if isAlone { return try await make(state.connectionRequested(), waiter, deadline, isAlone: true) }
    var id = state.connectionWanted()
    while id == nil {
      try await awaitRoom(waiter, deadline)
      if let open = lease() { return open }
      id = state.connectionWanted()
    }
    guard let id else { throw .timedOut }
    return try await make(id, waiter, deadline, isAlone: false)
  }

  /// Waits until a connection that may be shared is made, or cannot be made, or has room.
  private func awaitRoom(_ waiter: Waiter, _ deadline: MonotonicTime) async throws(UpstreamError) {
    let before = failures.count
    waiting.append(waiter)
    let wake = await waiter.wait(until: deadline)
    waiting.removeAll { $0 === waiter }
    // Another exchange may have less time than this one.
    if failures.count != before, let error = failures.last, error != .timedOut { throw error }
    if wake == .timedOut { throw .timedOut }
  }

  private func wakeWaiting() {
    for waiter in waiting { waiter.signal() }
  }

  private func make(
    _ id: PoolState.ID, _ waiter: Waiter, _ deadline: MonotonicTime, isAlone: Bool
  ) async throws(UpstreamError) -> UpstreamConnection {
    let stream: ByteStream
    do throws(UpstreamError) {
      stream = try await connector.connect(
        waiter, until: deadline, resuming: resumption, offering: origin.offer(isAlone: isAlone))
    } catch {
      state.connectionFailed(id)
      if !isAlone { failures = (failures.count + 1, error) }
      wakeWaiting()
      throw error
    }
    while connections.count <= id.index { connections.append(nil) }
    let isHTTP2 = stream.tls.map(\.isHTTP2) ?? (origin.versions == .http2)
    let shared = isHTTP2 ? SharedConnection(stream, id, of: self, head: head, isAlone: isAlone) : nil
    let connection = UpstreamConnection(stream, id, shared: shared, isAlone: isAlone)
    connections[id.index] = connection
    carryOut(state.connectionMade(id, isShared: isHTTP2 && !isAlone))
    if mayBeShared { wakeWaiting() }
    guard let shared else { return connection }
    // Both stay on this loop, on which the task runs.
    nonisolated(unsafe) let served = shared
    let confined = Confined(served, to: loop)
    Task(executorPreference: loop) { await confined.value.serve() }
    return shared.open()
  }

  // MARK: Shared connections

  /// The peer of a connection has announced how many exchanges it takes at once.
  func capacityChanged(_ id: PoolState.ID, to capacity: Int) {
    carryOut(state.capacityChanged(id, to: capacity))
    wakeWaiting()
  }

  /// A connection takes no further exchange.
  func leaves(_ id: PoolState.ID) {
    carryOut(state.closedByPeer(id))
    wakeWaiting()
  }

  /// Lends the connection that was reserved for a caller once more. `false`: it is no longer usable, and closed.
  package func lease(reserved connection: UpstreamConnection) -> Bool {
    var action = state.reservedRequested(connection.id, at: loop.now)
    connection.lookOnceMore()
    if case .lend(let id) = action, connection.isStale { action = state.lentInVain(id) }
    carryOut(action)
    return if case .lend = action { true } else { false }
  }

  // MARK: Taking back

  /// Takes back a connection when an exchange on it is over. `false`: it is closed.
  /// - Parameter timedOut: the upstream has let a time limit pass. A connection with HTTP/2 on which it is silent
  ///   altogether takes no further exchange.
  @discardableResult
  package func giveBack(
    _ connection: UpstreamConnection, _ condition: PoolState.Condition = .reusable, timedOut: Bool = false
  ) -> Bool {
    if timedOut { connection.distrust() }
    if let shared = connection.finishStream() {
      giveBack(connection.id, of: shared, condition)
      return false
    }
    var condition = condition
    switch condition {
    case .reusable:
      if let tls = connection.stream.tls, resumption == nil || !connection.isReused { resumption = tls.resumption }
    case .reserved: connection.isReserved = true
    case .reset, .unusable: break
    }
    connection.isReused = true
    if connection.isStale || connection.isAlone && condition == .reusable { condition = .unusable }
    let action = state.exchangeEnded(connection.id, condition, at: loop.now)
    if case .keep = action { return true }
    carryOut(action)
    return false
  }

  private func giveBack(_ id: PoolState.ID, of shared: SharedConnection, _ condition: PoolState.Condition) {
    if condition == .reusable {
      if let tls = shared.tls, resumption == nil || !shared.wasUsed { resumption = tls.resumption }
      shared.wasUsed = true
    }
    // A broken exchange breaks its stream alone.
    carryOut(
      state.exchangeEnded(
        id, shared.isAlone || shared.isLost ? .unusable : condition == .reusable ? .reusable : .reset, at: loop.now))
    wakeWaiting()
  }

  // MARK: Closing

  /// Closes connections that have been idle too long or were closed by the peer. Call every few seconds.
  package func sweep() {
    for connection in connections {
      guard let connection, state.isIdle(connection.id), connection.isStale else { continue }
      carryOut(state.closedByPeer(connection.id))
    }
    for connection in connections { connection?.shared?.sweep() }
    while let action = state.timePassed(loop.now) { carryOut(action) }
  }

  /// Closes the connection that has been idle longest. `false`: none is.
  package func closeOldest() -> Bool {
    guard let action = state.roomNeeded() else { return false }
    carryOut(action)
    return true
  }

  /// Closes a connection that is reserved for a caller.
  package func closeReserved(_ connection: UpstreamConnection) {
    carryOut(state.reservationEnded(connection.id))
  }

  /// Closes every idle connection, and lent ones as soon as they come back.
  package func retire() {
    while let action = state.retired() { carryOut(action) }
  }

  /// Closes every idle connection.
  package func closeIdle() {
    while closeOldest() {}
  }

  private func carryOut(_ action: PoolState.Action) {
    guard case .close(let id) = action else { return }
    connections[id.index]?.close()
    connections[id.index] = nil
  }
}
