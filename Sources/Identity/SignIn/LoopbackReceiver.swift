// Owns the wait for a browser on loopback: one listener, until its owner has what it waits for, the time limit or the
// end of interest. What a request means is judged elsewhere; how one is read stands in LoopbackConnection.

internal import Glibc
internal import HTTP
internal import Network

/// Listens on 127.0.0.1. Make and use it on its loop.
final class LoopbackReceiver: Sendable {
  /// How the wait ended.
  enum Ending: Sendable {
    /// A request brought what was waited for.
    case done
    case timedOut
    case cancelled
    case failed(SystemError)
  }

  /// What becomes of a request.
  enum Verdict: Sendable {
    /// The page, and the wait goes on.
    case show(LoopbackPage)
    /// The page, and the wait is over.
    case end(LoopbackPage)
  }

  private struct State {
    var ending: Ending?
    var waiters: [Waiter] = []
  }

  /// The port it listens at.
  var port: UInt16 { address.port }
  private let address: SocketAddress
  private let listener: Listener
  private let loop: EventLoop
  private let deadline: MonotonicTime
  /// The users whose connections count; nil takes everybody's.
  private let users: Set<UInt32>?
  private let state = Locked(State())

  /// Connections served at once: a browser opens a few, some of which it never uses. Beyond that the oldest has to go,
  /// for it has had the most time to say something: whoever opens many and says nothing keeps nobody out.
  private static let connectionLimit = 16

  /// - Parameter port: nil lets the kernel choose.
  init(loop: EventLoop, port: UInt16?, timeout: TimeSpan, users: Set<UInt32>?) throws(SignInError) {
    do throws(SystemError) {
      let socket = try BoundSocket.bind(SocketAddress(.ipv4(0x7F00_0001, port: port ?? 0)), count: 1)[0]
      defer { socket.close() }
      listener = try Listener(socket, loop: loop)
      address = socket.address
    } catch {
      throw .listener(error, port: port)
    }
    self.loop = loop
    self.users = users
    deadline = .now + timeout
  }

  /// Serves requests until one ends the wait; call once. Afterwards nothing is listened at.
  func receive(_ judge: @escaping @Sendable (LoopbackRequest) async -> Verdict) async -> Ending {
    let waiter = Waiter(loop)
    watch(waiter)
    await withDiscardingTaskGroup { group in
      while ending == nil {
        switch listener.accept() {
        case .connection(let channel, let peer):
          if let connection = admit(channel) { group.addTask { await self.serve(connection, peer, judge) } }
        case .none:
          waiter.watch(listener.channel, .read)
          if await waiter.wait(until: deadline) == .timedOut { end(.timedOut) }
        case .exhausted(let error):
          end(.failed(error))
        }
      }
    }
    listener.close()
    waiter.close()
    return ending ?? .cancelled
  }

  /// Gives the wait up. Call on the loop.
  func cancel() { end(.cancelled) }

  /// The connection, in its place among the others; nil where the system gives it none.
  private func admit(_ channel: Channel) -> sending LoopbackConnection? {
    let connection: LoopbackConnection
    do throws(StreamError) {
      connection = try LoopbackConnection(channel, port: port)
    } catch {
      return nil
    }
    // The first waiter is the listener's. Nobody leaves the list before the loop has run, so the oldest is taken out at
    // once.
    let oldest = state.withLock { state -> Waiter? in
      state.waiters.append(connection.waiter)
      return state.waiters.count > Self.connectionLimit + 1 ? state.waiters.remove(at: 1) : nil
    }
    oldest?.signal()
    return connection
  }

  private func serve(
    _ connection: LoopbackConnection, _ peer: SocketAddress, _ judge: @Sendable (LoopbackRequest) async -> Verdict
  ) async {
    // Whoever comes after the end is told nothing; nobody would wake this connection again.
    if ending == nil, let request = await connection.request() {
      if isAllowed(peer) {
        switch await judge(request) {
        case .show(let page): await connection.send(page)
        case .end(let page):
          await connection.send(page)
          end(.done)
        }
      } else {
        await connection.send(.otherUser)
      }
    }
    unwatch(connection.waiter)
    connection.close()
  }

  /// Whether a connection was made by somebody whose connections count. Where the kernel does not tell, everybody's do.
  private func isAllowed(_ peer: SocketAddress) -> Bool {
    guard let users else { return true }
    switch LoopbackPeer(of: peer, to: address) {
    case .user(let user): return users.contains(user)
    case .unlisted: return false
    case .unknown: return true
    }
  }

  private var ending: Ending? { state.withLock { $0.ending } }

  /// Ends everything, unless it is over already. Call on the loop.
  private func end(_ ending: Ending) {
    let waiters = state.withLock { state -> [Waiter] in
      if state.ending != nil { return [] }
      state.ending = ending
      return state.waiters
    }
    for waiter in waiters { waiter.signal() }
  }

  private func watch(_ waiter: Waiter) {
    state.withLock { state in state.waiters.append(waiter) }
  }

  private func unwatch(_ waiter: Waiter) {
    state.withLock { state in state.waiters.removeAll { $0 === waiter } }
  }
}
