// Listening sockets: binding and accepting. The Proxy module decides who may call.

public import Bytes
internal import CSystem
internal import Glibc

/// A bound and listening socket, before loops take it.
package struct BoundSocket: Sendable {
  /// Its real address: if port 0 was requested, with the port that the kernel chose.
  package let address: SocketAddress
  let descriptor: Int32
  /// True if another process opened it, and owns its file.
  var isInherited = false

  /// Connections the kernel may queue.
  private static let backlog: Int32 = 4096

  /// Binds `count` sockets to one address, one per loop, among which the kernel distributes new connections
  /// (`SO_REUSEPORT`). A unix socket is bound once and shared.
  /// Fails with `EADDRINUSE` also if the other holder of the address would share it: two proxies must not serve one
  /// address by accident. A unix socket file without a listener is replaced.
  package static func bind(_ address: SocketAddress, count: Int) throws(SystemError) -> [BoundSocket] {
    if case .unix(let path) = address.kind {
      try removeStaleSocket(path)
      let socket = try bound(address, sharing: false)
      do throws(SystemError) {
        try listen(socket)
      } catch {
        socket.removeSocketFile()
        socket.close()
        throw error
      }
      return [socket]
    }
    // Without SO_REUSEPORT this fails if there is another listener; then the sharing sockets take its place.
    let probe = try bound(address, sharing: false)
    _ = Glibc.close(probe.descriptor)
    var sockets: [BoundSocket] = []
    do throws(SystemError) {
      for _ in 0..<count {
        let socket = try bound(sockets.first?.address ?? probe.address, sharing: true)
        sockets.append(socket)
        try listen(socket)
      }
    } catch {
      for socket in sockets { _ = Glibc.close(socket.descriptor) }
      throw error
    }
    return sockets
  }

  /// A socket at `port` of 127.0.0.1, or at another one if that is in use.
  package static func loopback(preferring port: UInt16 = 0) throws(SystemError) -> BoundSocket {
    do throws(SystemError) {
      return try bind(SocketAddress(.ipv4(0x7F00_0001, port: port)), count: 1)[0]
    } catch {
      if port == 0 { throw error }
      return try loopback()
    }
  }

  private static func bound(_ address: SocketAddress, sharing: Bool) throws(SystemError) -> BoundSocket {
    let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
    let descriptor = socket(address.family, type, 0)
    guard descriptor >= 0 else { throw SystemError("socket") }
    var on: Int32 = 1
    let size = socklen_t(MemoryLayout<Int32>.size)
    if address.family != AF_UNIX {
      setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &on, size)
      if sharing { setsockopt(descriptor, SOL_SOCKET, SO_REUSEPORT, &on, size) }
      if address.family == AF_INET6 { setsockopt(descriptor, Int32(IPPROTO_IPV6), IPV6_V6ONLY, &on, size) }
    }
    guard address.withSockaddr({ Glibc.bind(descriptor, $0, $1) }) == 0 else {
      let error = SystemError("bind")
      _ = Glibc.close(descriptor)
      throw error
    }
    return BoundSocket(address: localAddress(descriptor) ?? address, descriptor: descriptor)
  }

  private static func listen(_ socket: BoundSocket) throws(SystemError) {
    guard Glibc.listen(socket.descriptor, backlog) == 0 else { throw SystemError("listen") }
  }

  private static func removeStaleSocket(_ path: String) throws(SystemError) {
    var status = stat()
    guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFSOCK else { return }
    // Non-blocking: connecting to a live listener with a full queue would wait for it.
    let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
    let descriptor = socket(AF_UNIX, type, 0)
    guard descriptor >= 0 else { throw SystemError("socket") }
    defer { _ = Glibc.close(descriptor) }
    let connected = SocketAddress(.unix(path: path)).withSockaddr { connect(descriptor, $0, $1) }
    if connected == 0 || errno == EAGAIN { throw SystemError("bind", EADDRINUSE) }
    if errno == ECONNREFUSED { unlink(path) }
  }

  static func localAddress(_ descriptor: Int32) -> SocketAddress? {
    SocketAddress.read { getsockname(descriptor, $0, &$1) }
  }

  /// Removes the file of a unix socket, which outlives its descriptor. An inherited socket's file is left to its owner.
  package func removeSocketFile() {
    if case .unix(let path) = address.kind, !isInherited { unlink(path) }
  }

  /// Makes the kernel refuse further connections, so that the queue can be emptied before the socket is closed: closing
  /// resets queued connections. An inherited socket stays as it is: its queue waits for the process that takes it next.
  /// Removes the file of a unix socket.
  package func stopQueueing() {
    if isInherited { return }
    if address.family == AF_UNIX {
      removeSocketFile()
      _ = Glibc.shutdown(descriptor, Int32(SHUT_RD))
    } else {
      // If the kernel refuses that, connections between the last look and the end are lost.
      _ = csystem_refuse_connection_requests(descriptor)
    }
  }

  /// True if connections may still arrive after `stopQueueing`: those whose handshake the kernel had begun.
  var mayStillFill: Bool { !isInherited && address.family != AF_UNIX }

  /// Closes a socket that no loop has taken.
  package func close() {
    _ = Glibc.close(descriptor)
  }
}

/// A listening socket on a loop.
///
/// `@unchecked Sendable`: confined to its loop.
public final class Listener: @unchecked Sendable {
  /// The result of one attempt to accept.
  public enum Accepted {
    case connection(Channel, peer: SocketAddress)
    /// No connection is pending: watch the channel.
    case none
    /// The process or the machine has no descriptor or memory left: pause before the next attempt.
    case exhausted(SystemError)
  }

  /// The listening descriptor's registration.
  public let channel: Channel
  /// The address listened on.
  public let address: SocketAddress
  private let mayStillFill: Bool

  /// Takes `socket` onto `loop`. A unix socket may be taken by several loops, each with a descriptor of its own.
  package init(_ socket: BoundSocket, loop: EventLoop) throws(SystemError) {
    let descriptor = fcntl(socket.descriptor, F_DUPFD_CLOEXEC, 3)
    guard descriptor >= 0 else { throw SystemError("fcntl") }
    address = socket.address
    mayStillFill = socket.mayStillFill
    channel = try Channel(descriptor, loop: loop)
  }

  /// Accepts one connection, if one is waiting.
  public func accept() -> Accepted {
    withUnsafeTemporaryAllocation(byteCount: MemoryLayout<sockaddr_storage>.size, alignment: 8) { raw in
      while true {
        var length = UInt32(raw.count)
        let descriptor = csystem_accept(channel.descriptor, raw.baseAddress, &length)
        if descriptor >= 0 {
          let bytes = UnsafeRawBufferPointer(rebasing: raw.prefix(Int(length)))
          let peer = SocketAddress(bytes) ?? SocketAddress(.unix(path: ""))
          if peer.family != AF_UNIX { Connector.setTCPOptions(descriptor) }
          do throws(SystemError) {
            return .connection(try Channel(descriptor, loop: channel.loop), peer: peer)
          } catch {
            return .exhausted(error)
          }
        }
        switch errno {
        // After `stopQueueing` an empty unix socket returns EINVAL.
        case EAGAIN, EINVAL:
          channel.ready.remove(.read)
          return .none
        // The connection ended before it was accepted; there may be more (accept(2), "error handling").
        case EINTR, ECONNABORTED, EPROTO, ENETDOWN, ENOPROTOOPT, EHOSTDOWN, ENONET, EHOSTUNREACH, EOPNOTSUPP,
          ENETUNREACH, EPERM:
          continue
        default:
          return .exhausted(SystemError("accept"))
        }
      }
    }
  }

  /// Stops listening on this loop.
  public func close() {
    channel.close()
  }
}

extension Listener {
  /// Pause of accepting after descriptors or memory ran out.
  private static let pause = TimeSpan.milliseconds(100)

  /// Waits for a pending connection without accepting it. False: `waiter` was signalled.
  package func callerIsWaiting(_ waiter: Waiter) async -> Bool {
    while true {
      var question = pollfd(fd: channel.descriptor, events: Int16(POLLIN), revents: 0)
      if poll(&question, 1, 0) != 0 { return true }
      // A later connection is an event of its own.
      channel.ready.remove(.read)
      waiter.watch(channel, .read)
      if await waiter.wait(until: .distantFuture) == .signalled { return false }
    }
  }

  /// Time for handshakes that the kernel had begun to arrive in the queue after `BoundSocket.stopQueueing`.
  private static let settling = TimeSpan.milliseconds(250)

  /// Accepts the rest of the queue after `BoundSocket.stopQueueing`, until nothing more can arrive. If descriptors or
  /// memory run out, `onExhaustion` is asked to release something.
  package func emptyQueue(
    _ waiter: Waiter, onExhaustion: () -> Void, accepted: (Channel, SocketAddress) -> Void
  ) async {
    // Not the loop's time: on a busy machine the batch of events may have begun earlier than settling takes.
    let end = MonotonicTime.now + Self.settling
    var isLast = !mayStillFill
    while true {
      switch accept() {
      case .connection(let channel, let peer): accepted(channel, peer)
      case .none:
        if isLast { return }
        waiter.watch(channel, .read)
        // One more attempt: the loop may not have heard of the last ones.
        isLast = await waiter.wait(until: end) == .timedOut
      case .exhausted:
        if channel.loop.now > end + Self.settling { return }
        onExhaustion()
        _ = await waiter.wait(until: channel.loop.now + .milliseconds(10))
      }
    }
  }

  /// The reaction when descriptors or memory have run out.
  public enum AfterExhaustion: Sendable {
    /// Pause before the next attempt, instead of spinning.
    case pause
    /// A connection was ended: let it close, and try again.
    case tryAgain
  }

  /// Waits for the next connection; `nil` once `waiter` is signalled. If descriptors or memory have run out, asks for
  /// the reaction.
  public func nextConnection(
    _ waiter: Waiter, onExhaustion: (SystemError) -> AfterExhaustion = { _ in .pause }
  ) async -> (channel: Channel, peer: SocketAddress)? {
    while true {
      switch accept() {
      case .connection(let channel, let peer):
        return (channel, peer)
      case .none:
        waiter.watch(channel, .read)
        if await waiter.wait(until: .distantFuture) == .signalled { return nil }
      case .exhausted(let error):
        switch onExhaustion(error) {
        case .pause: if await waiter.wait(until: channel.loop.now + Self.pause) == .signalled { return nil }
        case .tryAgain: await Task.yield()
        }
      }
    }
  }
}
