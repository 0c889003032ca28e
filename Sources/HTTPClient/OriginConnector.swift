// Makes connections to one origin: name, TCP, the tunnel through a proxy, TLS. The pool keeps them.

package import Bytes
internal import HTTP
package import Platform

/// Connects one loop to one origin.
package struct OriginConnector {
  package let origin: Origin
  private let resolver: Resolver
  private let loop: EventLoop
  /// The address to connect to, if it is not looked up.
  private let address: SocketAddress?
  /// True if addresses of private networks, and of this machine, are refused.
  var refusesPrivateAddresses = false

  package init(_ origin: Origin, resolver: Resolver, loop: EventLoop, address: SocketAddress? = nil) {
    self.origin = origin
    self.resolver = resolver
    self.loop = loop
    self.address = address
  }

  /// A new connection, TLS included.
  package func connect(
    _ waiter: Waiter, until deadline: MonotonicTime, resuming resumption: TLSResumption? = nil,
    offering offer: OfferedProtocols = .http11
  ) async throws(UpstreamError) -> ByteStream {
    let channel = try await channel(waiter, until: deadline)
    return try await secured(channel, waiter, until: deadline, resuming: resumption, offering: offer)
  }

  /// The bytes of a connected socket, after the TLS handshake if there is one.
  func secured(
    _ channel: Channel, _ waiter: Waiter, until deadline: MonotonicTime, resuming resumption: TLSResumption? = nil,
    offering offer: OfferedProtocols = .http11
  ) async throws(UpstreamError) -> ByteStream {
    let stream = try mapping(
      UpstreamError.tls,
      ByteStream(
        channel, tls: origin.tls, serverName: origin.serverName ?? origin.host, resuming: resumption, offering: offer))
    var wake = Waiter.Wake.signalled
    do throws(StreamError) {
      // A signal is meant for another wait of the same task; the handshake continues.
      while wake == .signalled { wake = try await stream.handshake(waiter, until: deadline) }
    } catch {
      stream.close()
      if offer == .http2, case .tls(let failure) = error, failure.refusesProtocols { throw .withoutHTTP2 }
      throw .tls(error)
    }
    if wake == .timedOut {
      stream.close()
      throw .timedOut
    }
    if offer == .http2, let tls = stream.tls, !tls.isHTTP2 {
      stream.close()
      throw .withoutHTTP2
    }
    return stream
  }

  /// A connection with the origin at the other end, before TLS.
  func channel(_ waiter: Waiter, until deadline: MonotonicTime) async throws(UpstreamError) -> Channel {
    guard let proxy = origin.proxy, address == nil else {
      return try await connectedChannel(
        origin.host, origin.port, waiter, until: deadline, orThrow: UpstreamError.connect)
    }
    // The proxy resolves the name, so only a literal address or a well-known name can be judged here.
    let literal = SocketAddress(literal: origin.host, port: origin.port)
    if literal.map({ isForbidden($0) }) ?? MetadataService.isNamed(origin.host) {
      throw .connect(.forbiddenAddress)
    }
    let channel = try await connectedChannel(
      proxy.host, proxy.port, waiter, until: deadline, orThrow: UpstreamError.proxyUnreachable)
    do throws(UpstreamError) {
      try await ConnectTunnel.open(channel, through: proxy, to: origin.host, origin.port, waiter, until: deadline)
      return channel
    } catch {
      channel.close()
      throw error
    }
  }

  private func connectedChannel(
    _ host: String, _ port: UInt16, _ waiter: Waiter, until deadline: MonotonicTime,
    orThrow failure: (ConnectError) -> UpstreamError
  ) async throws(UpstreamError) -> Channel {
    do throws(ConnectError) {
      if let address { return try await Connector.connect(to: [address], waiter: waiter, until: deadline) }
      return try await Connector.connect(
        to: try await allowedAddresses(host, port, waiter, until: deadline), waiter: waiter, until: deadline)
    } catch {
      throw error == .timedOut ? .timedOut : failure(error)
    }
  }

  /// The permitted addresses of the name that is resolved here: the origin's, or its proxy's.
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
    let found = try await mapping(
      ConnectError.unresolved,
      awaiting: await resolver.addresses(of: host, port: port, waiter: waiter, until: deadline))
    guard let addresses = found else { throw .timedOut }
    // Checked after resolution, so that a name that later leads to a metadata service is refused as well.
    let allowed = addresses.filter { !isForbidden($0) }
    if allowed.isEmpty { throw .forbiddenAddress }
    return allowed
  }

  private func isForbidden(_ address: SocketAddress) -> Bool {
    MetadataService.mayBe(at: address.bytes) || refusesPrivateAddresses && address.ipAddress?.isPublic != true
  }
}
