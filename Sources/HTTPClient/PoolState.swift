// Decides which connection carries the next exchange and the fate of one when an exchange on it ends. A value without
// sockets, waits or a clock: `OriginPool` reports events and carries the actions out.

internal import Bytes
package import HTTP
package import Platform

/// The connections of one loop to one origin, as a state machine.
///
/// A connection carries as many exchanges at once as its protocol allows: one for HTTP/1.1, its peer's limit of streams
/// for HTTP/2. Events that close several connections return one action each and are repeated until they return `nil`,
/// so that no list is allocated.
package struct PoolState: Sendable {
  /// The number of a connection within its pool. It is used again after the connection is closed.
  package struct ID: Hashable, Sendable {
    package let index: Int
  }

  package enum Action: Hashable, Sendable {
    /// Begin an exchange on it.
    case lend(ID)
    /// Leave it open.
    case keep(ID)
    /// Close it. The pool no longer knows it.
    case close(ID)
  }

  /// The condition in which an exchange left its connection.
  package enum Condition: Hashable, Sendable {
    /// Both messages ended if they should: another exchange may follow.
    case reusable
    /// Another exchange may follow, of the same caller only: the caller may have authenticated the connection.
    case reserved
    /// The exchange was reset by itself: the other exchanges of a shared connection go on, and more may follow. A
    /// connection for one exchange at a time ends with it.
    case reset
    /// Nothing may follow.
    case unusable
  }

  private enum Use: Sendable {
    /// The number is free.
    case none
    case connecting
    /// Carries this many exchanges, 1 or more.
    case busy(Int)
    case idle(since: MonotonicTime)
    /// Idle, for the caller that it belongs to.
    case reserved(since: MonotonicTime)
    /// Carries this many exchanges, 1 or more, and is closed after the last of them.
    case leaving(Int)
  }

  private struct Connection: Sendable {
    var use: Use
    /// Exchanges it carries at once.
    var capacity = 1
    /// True if it was made for several at once, whatever its capacity is now.
    var isShared = false
    /// True until it is known if it has room for more than the exchange that asked for it.
    var isOpening = false

    func hasRoom(beside exchanges: Int) -> Bool { exchanges < capacity }
  }

  /// The expectation about connections that carry several exchanges at once.
  package enum Sharing: Sendable {
    /// No connection does.
    case never
    /// The next connection may.
    case possible
    /// The last one does not: each exchange that needs a connection makes one at once.
    case unusual
  }

  private let limits: PoolLimits
  private var sharing: Sharing
  private var openingCount = 0
  private var connections: [Connection] = []
  private var unused: [Int] = []
  /// The connections that have room for another exchange; the one that got it last is at the end and is lent first.
  private var open: [Int] = []
  /// The connections without any exchange that any caller may use.
  package private(set) var idleCount = 0
  /// True if the origin is no longer used: a connection closes with the last of its exchanges.
  package private(set) var isRetired = false

  package init(_ limits: PoolLimits, sharing: Sharing = .never) {
    self.limits = limits
    self.sharing = sharing
    let expected = min(limits.maximumIdle, 64)
    connections.reserveCapacity(expected)
    unused.reserveCapacity(expected)
    open.reserveCapacity(expected)
  }

  /// One more than the highest number in use.
  package var count: Int { connections.count }

  /// True if a connection is idle and any caller may use it.
  package func isIdle(_ id: ID) -> Bool {
    if case .idle = connections[id.index].use { true } else { false }
  }

  // MARK: Lending

  /// An exchange asks for a connection. `.close`: the connection at hand has been idle too long; ask again. `nil`: a
  /// new connection is needed. `isFresh`: one that was idle for a moment only.
  package mutating func leaseRequested(at now: MonotonicTime, isFresh: Bool = false) -> Action? {
    guard let index = open.last else { return nil }
    switch connections[index].use {
    case .idle(let since):
      let limit = isFresh ? min(limits.freshness, limits.idleTimeout) : limits.idleTimeout
      if now - since >= limit { return close(index) }
      idleCount -= 1
      connections[index].use = .busy(1)
      if !connections[index].hasRoom(beside: 1) { open.removeLast() }
    case .busy(let exchanges):
      connections[index].use = .busy(exchanges + 1)
      if !connections[index].hasRoom(beside: exchanges + 1) { open.removeLast() }
    case .none, .connecting, .reserved, .leaving:
      preconditionFailure("a connection without room was among those with room")
    }
    return .lend(ID(index: index))
  }

  /// An exchange needs a new connection. `nil`: one is being made that may have room for it; ask again when that is
  /// known.
  package mutating func connectionWanted() -> ID? {
    guard sharing == .possible else { return connectionRequested() }
    if openingCount > 0 { return nil }
    let id = connectionRequested()
    connections[id.index].isOpening = true
    openingCount += 1
    return id
  }

  /// An exchange asks for a connection of its own making.
  package mutating func connectionRequested() -> ID {
    guard let index = unused.popLast() else {
      connections.append(Connection(use: .connecting))
      return ID(index: connections.count - 1)
    }
    connections[index] = Connection(use: .connecting)
    return ID(index: index)
  }

  /// A requested connection is there. It carries the exchange that asked for it, and up to `capacity` at once.
  /// `isShared`: its peer has yet to say how many.
  package mutating func connectionMade(_ id: ID, capacity: Int = 1, isShared: Bool = false) -> Action {
    let former = connections[id.index]
    guard case .connecting = former.use else { preconditionFailure("a connection was made twice") }
    if former.isOpening, !isShared { settle(id.index) }
    if sharing != .never, former.isOpening || isShared { sharing = isShared ? .possible : .unusual }
    connections[id.index] = Connection(
      use: isRetired ? .leaving(1) : .busy(1), capacity: capacity, isShared: isShared || capacity > 1,
      isOpening: former.isOpening && isShared)
    if capacity > 1, !isRetired { open.append(id.index) }
    return .lend(id)
  }

  /// The peer changed the number of exchanges that a connection carries at once. Those on it go on. A peer that takes
  /// none (0) is left.
  package mutating func capacityChanged(_ id: ID, to capacity: Int) -> Action {
    let index = id.index
    settle(index)
    if capacity == 0 { return closedByPeer(id) }
    let former = connections[index]
    connections[index].capacity = capacity
    switch former.use {
    case .busy(let exchanges):
      switch (former.hasRoom(beside: exchanges), connections[index].hasRoom(beside: exchanges)) {
      case (true, false): close(to: index)
      case (false, true): open.append(index)
      case (true, true), (false, false): break
      }
    case .idle, .reserved, .leaving: break
    case .none, .connecting: preconditionFailure("a connection was changed before it was made")
    }
    return .keep(id)
  }

  /// A requested connection could not be made.
  package mutating func connectionFailed(_ id: ID) {
    forget(id.index)
  }

  /// A caller asks for the connection reserved for it.
  package mutating func reservedRequested(_ id: ID, at now: MonotonicTime) -> Action {
    guard case .reserved(let since) = connections[id.index].use else { preconditionFailure("nothing was reserved") }
    if now - since >= limits.idleTimeout { return close(id.index) }
    connections[id.index].use = .busy(1)
    return .lend(id)
  }

  // MARK: Taking back

  /// An exchange on a connection is over.
  package mutating func exchangeEnded(_ id: ID, _ condition: Condition, at now: MonotonicTime) -> Action {
    let index = id.index
    switch connections[index].use {
    case .leaving(let exchanges): return leave(index, exchanges - 1)
    case .busy(let exchanges):
      let connection = connections[index]
      let hadRoom = connection.hasRoom(beside: exchanges)
      if condition == .unusable || condition == .reset && !connection.isShared || isRetired {
        if hadRoom { close(to: index) }
        return leave(index, exchanges - 1)
      }
      if exchanges > 1 {
        connections[index].use = .busy(exchanges - 1)
      } else if condition == .reserved {
        if hadRoom { close(to: index) }
        connections[index].use = .reserved(since: now)
        return .keep(id)
      } else if idleCount >= limits.maximumIdle {
        return close(index)
      } else {
        idleCount += 1
        connections[index].use = .idle(since: now)
      }
      if !hadRoom, connection.hasRoom(beside: exchanges - 1) { open.append(index) }
      return .keep(id)
    case .none, .connecting, .idle, .reserved: preconditionFailure("an exchange ended where there was none")
    }
  }

  // MARK: Closing

  /// The peer closed a connection, sent unexpected bytes, or takes no further exchange (HTTP/2 GOAWAY).
  package mutating func closedByPeer(_ id: ID) -> Action {
    switch connections[id.index].use {
    case .busy(let exchanges):
      close(to: id.index)
      return leave(id.index, exchanges)
    case .leaving: return .keep(id)
    case .none, .connecting: preconditionFailure("a connection was closed before it was made")
    case .idle, .reserved: return close(id.index)
    }
  }

  /// A connection that was just lent turned out to be closed. The exchange has not begun and asks again.
  package mutating func lentInVain(_ id: ID) -> Action {
    switch connections[id.index].use {
    case .busy(let exchanges):
      close(to: id.index)
      return leave(id.index, exchanges - 1)
    // A look at it may have told before.
    case .leaving(let exchanges): return leave(id.index, exchanges - 1)
    case .none, .connecting, .idle, .reserved: return closedByPeer(id)
    }
  }

  /// The caller that a reserved connection belongs to is gone.
  package mutating func reservationEnded(_ id: ID) -> Action { close(id.index) }

  /// Time has passed. Repeated until `nil`: every connection that was idle too long is closed.
  package mutating func timePassed(_ now: MonotonicTime) -> Action? {
    for index in open {
      if case .idle(let since) = connections[index].use, now - since >= limits.idleTimeout { return close(index) }
    }
    return nil
  }

  /// A descriptor is needed: the connection that has been idle longest is closed. `nil`: none is idle.
  package mutating func roomNeeded() -> Action? {
    for index in open {
      if case .idle = connections[index].use { return close(index) }
    }
    return nil
  }

  /// The origin is no longer used. Repeated until `nil`: idle connections are closed, and the rest as soon as they are
  /// idle.
  package mutating func retired() -> Action? {
    isRetired = true
    return roomNeeded()
  }

  /// A connection keeps this many exchanges and takes no more.
  private mutating func leave(_ index: Int, _ exchanges: Int) -> Action {
    settle(index)
    if exchanges == 0 {
      forget(index)
      return .close(ID(index: index))
    }
    connections[index].use = .leaving(exchanges)
    return .keep(ID(index: index))
  }

  private mutating func close(_ index: Int) -> Action {
    if case .idle = connections[index].use { idleCount -= 1 }
    close(to: index)
    forget(index)
    return .close(ID(index: index))
  }

  /// No exchange begins on the connection any more.
  private mutating func close(to index: Int) {
    if open.last == index {
      open.removeLast()
    } else if let place = open.firstIndex(of: index) {
      open.remove(at: place)
    }
  }

  /// It is known how many exchanges the connection carries.
  private mutating func settle(_ index: Int) {
    if !connections[index].isOpening { return }
    connections[index].isOpening = false
    openingCount -= 1
  }

  private mutating func forget(_ index: Int) {
    settle(index)
    connections[index].use = .none
    unused.append(index)
  }
}
