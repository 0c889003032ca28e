// Carries out the decisions of `PoolState` with the sockets. The Proxy module decides if an exchange may be repeated on
// another connection.

package import HTTP
package import Platform

/// A connection to an upstream. Confined to its loop.
package final class UpstreamConnection {
  package let stream: ByteStream
  /// True if an exchange was completed on it before: the peer may have closed it since.
  package var isReused: Bool { wasUsed }
  /// True if it belongs to one caller, who may have authenticated it.
  package var isReserved: Bool { hasOwner }
  // Stored apart: read from another module, a stored property's access is checked, whatever its attribute says.
  @exclusivity(unchecked) fileprivate var wasUsed = false
  @exclusivity(unchecked) fileprivate var hasOwner = false
  fileprivate let id: PoolState.ID

  fileprivate init(_ stream: ByteStream, _ id: PoolState.ID) {
    self.stream = stream
    self.id = id
  }

  /// True if it can no longer be used. Not inlined: the pool would count a reference to the stream, too.
  fileprivate var isStale: Bool { @inline(never) get { stream.isStale } }

  @inline(never)
  fileprivate func lookOnceMore() { _ = stream.channel.looksOnceMore() }

  /// Closes the socket at once; the pool learns of it when the connection is given back.
  package func close() {
    stream.close()
  }
}

/// The connections of one loop to one origin. Confined to its loop.
package final class OriginPool {
  private let connector: OriginConnector
  private let loop: EventLoop
  @exclusivity(unchecked) private var state: PoolState
  /// By number.
  @exclusivity(unchecked) private var connections: [UpstreamConnection?] = []
  @exclusivity(unchecked) private var resumption: TLSResumption?

  package init(_ origin: Origin, limits: PoolLimits, resolver: Resolver, loop: EventLoop) {
    connector = OriginConnector(origin, resolver: resolver, loop: loop)
    self.loop = loop
    state = PoolState(limits)
    connections.reserveCapacity(min(limits.maximumIdle, 64))
  }

  package var origin: Origin { connector.origin }
  package var idleCount: Int { state.idleCount }
  /// True if the origin is no longer used.
  package var isRetired: Bool { state.isRetired }

  // MARK: Lending

  /// An open connection that the peer has not closed, most recently used first; `nil` if a new one is needed.
  /// - Parameter looksOnceMore: asks the kernel for an end that the loop has not heard of yet, for a request that
  ///   cannot be sent a second time.
  package func lease(looksOnceMore: Bool = false) -> UpstreamConnection? {
    while let action = state.leaseRequested(at: loop.now) {
      switch action {
      case .lend(let id), .keep(let id):
        guard let connection = connections[id.index] else { return nil }
        if looksOnceMore { connection.lookOnceMore() }
        if !connection.isStale { return connection }
        carryOut(state.lentInVain(id))
      case .close: carryOut(action)
      }
    }
    return nil
  }

  /// A new connection, TLS included.
  package func connect(
    _ waiter: Waiter, until deadline: MonotonicTime
  ) async throws(UpstreamError) -> UpstreamConnection {
    let id = state.connectionRequested()
    let stream: ByteStream
    do throws(UpstreamError) {
      stream = try await connector.connect(waiter, until: deadline, resuming: resumption)
    } catch {
      state.connectionFailed(id)
      throw error
    }
    let connection = UpstreamConnection(stream, id)
    while connections.count <= id.index { connections.append(nil) }
    connections[id.index] = connection
    carryOut(state.connectionMade(id))
    return connection
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
  @discardableResult
  package func giveBack(_ connection: UpstreamConnection, _ condition: PoolState.Condition = .reusable) -> Bool {
    var condition = condition
    switch condition {
    case .reusable:
      if let tls = connection.stream.tls, resumption == nil || !connection.wasUsed { resumption = tls.resumption }
    case .reserved: connection.hasOwner = true
    case .reset, .unusable: break
    }
    connection.wasUsed = true
    if connection.isStale { condition = .unusable }
    let action = state.exchangeEnded(connection.id, condition, at: loop.now)
    if case .keep = action { return true }
    carryOut(action)
    return false
  }

  // MARK: Closing

  /// Closes connections that have been idle too long or were closed by the peer. Call every few seconds.
  package func sweep() {
    for connection in connections {
      guard let connection, state.isIdle(connection.id), connection.isStale else { continue }
      carryOut(state.closedByPeer(connection.id))
    }
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
