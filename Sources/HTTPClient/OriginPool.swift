// Owns the connections of one loop to one origin: lending an idle one, making a new one, taking one back, dropping what
// has been idle too long. Whether an exchange may be repeated on another connection is the Proxy module's rule.

internal import HTTP
public import Network

/// How many idle connections are kept, and how long.
public struct PoolLimits: Sendable, Hashable {
  /// Idle connections kept per origin and loop.
  public var maximumIdle: Int
  /// How long one is kept; shorter than the upstream's own limit avoids requests that race with its close.
  public var idleTimeout: TimeSpan

  /// The limits as configured.
  public init(maximumIdle: Int = 64, idleTimeout: TimeSpan = .seconds(55)) {
    self.maximumIdle = maximumIdle
    self.idleTimeout = idleTimeout
  }
}

/// The connections of one loop to one origin. Confined to its loop.
public final class OriginPool {
  /// Whom the connections lead to.
  public let origin: Origin
  private let limits: PoolLimits
  private let resolver: Resolver
  private let loop: EventLoop
  /// Where to connect to, where that is not looked up.
  private let address: SocketAddress?
  @exclusivity(unchecked) private var idle: [UpstreamConnection] = []
  @exclusivity(unchecked) private var resumption: TLSResumption?
  /// Whether the origin is used no more: whatever comes back is closed.
  @exclusivity(unchecked) public private(set) var isRetired = false

  /// An empty pool.
  public convenience init(_ origin: Origin, limits: PoolLimits, resolver: Resolver, loop: EventLoop) {
    self.init(origin, limits: limits, resolver: resolver, loop: loop, address: nil)
  }

  init(_ origin: Origin, limits: PoolLimits, resolver: Resolver, loop: EventLoop, address: SocketAddress?) {
    self.address = address
    self.origin = origin
    self.limits = limits
    self.resolver = resolver
    self.loop = loop
    idle.reserveCapacity(min(limits.maximumIdle, 64))
  }

  /// The number of idle connections.
  public var idleCount: Int { idle.count }

  /// An idle connection that the peer has not closed, most recently used first; `nil` where there is none.
  public func lease() -> UpstreamConnection? {
    while let connection = idle.popLast() {
      if isUsable(connection) { return connection }
      connection.close()
    }
    return nil
  }

  /// Whether an idle connection may carry another exchange: the peer has not closed it, and it has not been idle too long.
  public func isUsable(_ connection: UpstreamConnection) -> Bool {
    !connection.stream.isStale && loop.now - connection.idleSince < limits.idleTimeout
  }

  /// A new connection, TLS included.
  public func connect(
    _ waiter: Waiter, until deadline: MonotonicTime
  ) async throws(UpstreamError) -> UpstreamConnection {
    let channel = try await channel(waiter, until: deadline)
    return UpstreamConnection(try await secured(channel, waiter, until: deadline))
  }

  /// The bytes of a connected socket, after the TLS handshake where there is one.
  func secured(
    _ channel: Channel, _ waiter: Waiter, until deadline: MonotonicTime
  ) async throws(UpstreamError) -> ByteStream {
    let stream: ByteStream
    do throws(StreamError) {
      stream = try ByteStream(
        channel, tls: origin.tls, serverName: origin.serverName ?? origin.host, resuming: resumption)
    } catch {
      throw .tls(error)
    }
    var wake = Waiter.Wake.signalled
    do throws(StreamError) {
      // A signal is for whoever waits for the caller; the handshake goes on.
      while wake == .signalled { wake = try await stream.handshake(waiter, until: deadline) }
    } catch {
      stream.close()
      throw .tls(error)
    }
    if wake == .timedOut {
      stream.close()
      throw .timedOut
    }
    return stream
  }

  /// A connection on which the origin is at the other end, before TLS.
  func channel(_ waiter: Waiter, until deadline: MonotonicTime) async throws(UpstreamError) -> Channel {
    guard let proxy = origin.proxy, address == nil else {
      do throws(ConnectError) {
        return try await connectedChannel(origin.host, origin.port, waiter, until: deadline)
      } catch {
        throw error == .timedOut ? .timedOut : .connect(error)
      }
    }
    // Names are resolved at the proxy, and only there can they be judged by what they lead to.
    let literal = SocketAddress(literal: origin.host, port: origin.port)
    if literal.map({ MetadataService.mayBe(at: $0.bytes) }) ?? MetadataService.isNamed(origin.host) {
      throw .connect(.forbiddenAddress)
    }
    let channel: Channel
    do throws(ConnectError) {
      channel = try await connectedChannel(proxy.host, proxy.port, waiter, until: deadline)
    } catch {
      throw error == .timedOut ? .timedOut : .proxyUnreachable(error)
    }
    let isOpen: Bool
    do throws(ProxyRefusal) {
      isOpen = try await ConnectTunnel.open(
        channel, through: proxy, to: origin.host, origin.port, waiter, until: deadline)
    } catch {
      channel.close()
      throw .proxy(error)
    }
    guard isOpen else {
      channel.close()
      throw .timedOut
    }
    return channel
  }

  private func connectedChannel(
    _ host: String, _ port: UInt16, _ waiter: Waiter, until deadline: MonotonicTime
  ) async throws(ConnectError) -> Channel {
    if let address { return try await Connector.connect(to: [address], waiter: waiter, until: deadline) }
    return try await Connector.connect(
      to: try await allowedAddresses(host, port, waiter, until: deadline), waiter: waiter, until: deadline)
  }

  /// Addresses that may be contacted of the name that is looked up here: the origin's, or the proxy's.
  func addresses(_ waiter: Waiter, until deadline: MonotonicTime) async throws(UpstreamError) -> [SocketAddress] {
    let (host, port) = origin.proxy.map { ($0.host, $0.port) } ?? (origin.host, origin.port)
    do throws(ConnectError) {
      return try await allowedAddresses(host, port, waiter, until: deadline)
    } catch {
      throw error == .timedOut ? .timedOut : origin.proxy == nil ? .connect(error) : .proxyUnreachable(error)
    }
  }

  private func allowedAddresses(
    _ host: String, _ port: UInt16, _ waiter: Waiter, until deadline: MonotonicTime
  ) async throws(ConnectError) -> [SocketAddress] {
    let found: [SocketAddress]?
    do throws(ResolveError) {
      found = try await resolver.addresses(of: host, port: port, waiter: waiter, until: deadline)
    } catch {
      throw .unresolved(error)
    }
    guard let addresses = found else { throw .timedOut }
    // Checked after resolution, so that a name that turns towards a metadata service later is refused as well.
    let allowed = addresses.filter { !MetadataService.mayBe(at: $0.bytes) }
    if allowed.isEmpty { throw .forbiddenAddress }
    return allowed
  }

  /// Takes back a connection whose last exchange ended in good order on both sides.
  public func giveBack(_ connection: UpstreamConnection) {
    if let tls = connection.stream.tls, resumption == nil || !connection.isReused { resumption = tls.resumption }
    guard !connection.isBound, idle.count < limits.maximumIdle, hold(connection) else {
      connection.close()
      return
    }
    idle.append(connection)
  }

  /// Marks a connection idle that stays with its caller instead of coming back. False: it is of no more use.
  public func hold(_ connection: UpstreamConnection) -> Bool {
    if connection.stream.isStale || isRetired { return false }
    connection.isReused = true
    connection.idleSince = loop.now
    return true
  }

  /// Closes what has been idle too long or was closed by the peer. Call every few seconds.
  public func sweep() {
    idle.removeAll { connection in
      let isOver = !isUsable(connection)
      if isOver { connection.close() }
      return isOver
    }
  }

  /// Closes the connection that has been idle longest. False: none is.
  public func closeOldest() -> Bool {
    if idle.isEmpty { return false }
    idle.removeFirst().close()
    return true
  }

  /// Closes everything that is idle, and what is still lent as soon as it comes back.
  public func retire() {
    isRetired = true
    closeIdle()
  }

  /// Closes everything that is idle.
  public func closeIdle() {
    for connection in idle { connection.close() }
    idle.removeAll()
  }
}
