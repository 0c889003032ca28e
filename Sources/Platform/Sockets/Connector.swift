public import Bytes
internal import Glibc

/// A failed connection attempt.
public enum ConnectError: Error, Sendable, Hashable {
  /// The name has no address.
  case unresolved(ResolveError)
  /// Upstreams must have none of the addresses (link-local, cloud metadata).
  case forbiddenAddress
  /// No address accepted; the last reason.
  case refused(SystemError)
  /// The deadline passed.
  case timedOut
}

/// Connects to the first address that accepts, by the rules of happy eyeballs.
public enum Connector {
  /// Between the start of one attempt and the next (RFC 8305 §5, "Connection Attempt Delay").
  private static let attemptDelay = TimeSpan.milliseconds(250)

  /// Connects a socket to one of `addresses`, trying them in order of RFC 8305: families alternate, a new attempt
  /// starts 250 ms after the last or as soon as all others have failed, and the first to connect wins.
  public static func connect(
    to addresses: [SocketAddress], waiter: Waiter, until deadline: MonotonicTime
  ) async throws(ConnectError) -> Channel {
    var untried = interleaved(addresses)[...]
    var attempts: [Channel] = []
    var lastError = SystemError("connect", ENETUNREACH)
    defer { for attempt in attempts { attempt.close() } }
    while true {
      if let address = untried.popFirst() {
        do throws(SystemError) {
          attempts.append(try start(address, loop: waiter.loop))
        } catch {
          lastError = error
          continue
        }
      } else if attempts.isEmpty {
        throw .refused(lastError)
      }
      let pause = untried.isEmpty ? deadline : min(deadline, waiter.loop.now + attemptDelay)
      var isOver = false
      while !attempts.isEmpty, !isOver {
        for attempt in attempts { waiter.watch(attempt, .write) }
        let wake = await waiter.wait(until: pause)
        for (index, attempt) in attempts.enumerated().reversed() where attempt.ready.contains(.write) {
          attempts.remove(at: index)
          let status = pendingError(attempt.descriptor)
          if status == 0 { return attempt }
          lastError = SystemError("connect", status)
          attempt.close()
        }
        if wake == .timedOut {
          if waiter.loop.now >= deadline { throw .timedOut }
          isOver = true
        }
      }
    }
  }

  /// Alternates families, beginning with that of the first address (RFC 8305 §4); keeps the order within each.
  static func interleaved(_ addresses: [SocketAddress]) -> [SocketAddress] {
    guard let first = addresses.first else { return [] }
    let preferred = addresses.filter { $0.family == first.family }
    let others = addresses.filter { $0.family != first.family }
    var result: [SocketAddress] = []
    for index in 0..<max(preferred.count, others.count) {
      if index < preferred.count { result.append(preferred[index]) }
      if index < others.count { result.append(others[index]) }
    }
    return result
  }

  private static func start(_ address: SocketAddress, loop: EventLoop) throws(SystemError) -> Channel {
    let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
    let descriptor = socket(address.family, type, 0)
    guard descriptor >= 0 else { throw SystemError("socket") }
    if address.family != AF_UNIX { setTCPOptions(descriptor) }
    let result = address.withSockaddr { Glibc.connect(descriptor, $0, $1) }
    if result != 0, errno != EINPROGRESS {
      let error = SystemError("connect")
      close(descriptor)
      throw error
    }
    return try Channel(descriptor, loop: loop)
  }

  /// Bytes that the kernel keeps for a peer beyond those in flight. Without a bound it is megabytes, which a slow
  /// reader would tie up; and the kernel would ask for more so rarely that the peer would seem to do nothing.
  private static let unsentLimit: Int32 = 256 * 1024

  static func setTCPOptions(_ descriptor: Int32) {
    let size = socklen_t(MemoryLayout<Int32>.size)
    // Small messages go out at once: a proxy writes whole heads, so Nagle's algorithm has nothing to gather.
    var on: Int32 = 1
    setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &on, size)
    var limit = unsentLimit
    setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NOTSENT_LOWAT, &limit, size)
  }

  private static func pendingError(_ descriptor: Int32) -> Int32 {
    var status: Int32 = 0
    var size = socklen_t(MemoryLayout<Int32>.size)
    return getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &status, &size) == 0 ? status : errno
  }
}
