// Owns the wait for a browser's answer on loopback: one listener, until the first answer, the time limit or the end of interest.
// What an answer is worth is judged elsewhere; what a connection is told stands in LoopbackConnection.

internal import Network
internal import Tokens

/// Listens on 127.0.0.1 at a port of the kernel's choice.
final class LoopbackReceiver: Sendable {
  /// How the wait ended.
  enum Ending: Sendable {
    case reply(Result<AuthorizationReply, AuthorizationReplyError>)
    case timedOut
    case cancelled
    case failed(SystemError)
  }

  /// Judges a redirect's query or a posted form.
  typealias Judge = @Sendable ([UInt8]) throws(AuthorizationReplyError) -> AuthorizationReply

  private struct State {
    var ending: Ending?
    var waiters: [Waiter] = []
  }

  /// Where the browser is to bring the answer. `localhost`, because Entra overlooks the port of that name alone (RFC 8252 §7.3
  /// would have it do so for the address).
  let redirectURI: String
  private let socket: BoundSocket
  private let loop: EventLoop
  private let deadline: MonotonicTime
  private let state = Locked(State())

  /// Connections served at once: a browser opens a few, some of which it never uses. Beyond that the oldest has to go, for it has
  /// had the most time to say something: whoever opens many and says nothing keeps nobody out.
  private static let connectionLimit = 16

  init(loop: EventLoop, timeout: TimeSpan) throws(SignInError) {
    do throws(SystemError) {
      socket = try BoundSocket.bind(SocketAddress(.ipv4(0x7F00_0001, port: 0)), count: 1)[0]
    } catch {
      throw .listener(error)
    }
    self.loop = loop
    deadline = .now + timeout
    redirectURI = "http://localhost:\(socket.address.port)"
  }

  /// Waits for the answer; call once.
  func receive(_ judge: @escaping Judge) async -> Ending {
    let loop = loop
    return await withTaskCancellationHandler {
      await Task(executorPreference: loop) { await self.run(judge) }.value
    } onCancel: {
      Task(executorPreference: loop) { self.end(.cancelled) }
    }
  }

  private func run(_ judge: @escaping Judge) async -> Ending {
    let listener: Listener
    do throws(SystemError) {
      listener = try Listener(socket, loop: loop)
    } catch {
      socket.close()
      return .failed(error)
    }
    socket.close()
    let waiter = Waiter(loop)
    watch(waiter)
    await withDiscardingTaskGroup { group in
      while ending == nil {
        switch listener.accept() {
        case .connection(let channel, _):
          if let connection = admit(channel) { group.addTask { await self.serve(connection, judge) } }
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

  /// The connection, in its place among the others; nil where the system gives it none.
  private func admit(_ channel: Channel) -> sending LoopbackConnection? {
    let connection: LoopbackConnection
    do throws(StreamError) {
      connection = try LoopbackConnection(channel, port: socket.address.port)
    } catch {
      return nil
    }
    // The first waiter is the listener's. Nobody leaves the list before the loop has run, so the oldest is taken out at once.
    let oldest = state.withLock { state -> Waiter? in
      state.waiters.append(connection.waiter)
      return state.waiters.count > Self.connectionLimit + 1 ? state.waiters.remove(at: 1) : nil
    }
    oldest?.signal()
    return connection
  }

  private func serve(_ connection: LoopbackConnection, _ judge: Judge) async {
    // Whoever comes after the end is told nothing; nobody would wake this connection again.
    if ending == nil, let form = await connection.answer() {
      let result: Result<AuthorizationReply, AuthorizationReplyError>
      do throws(AuthorizationReplyError) {
        result = .success(try judge(form))
        await connection.send(.received)
      } catch {
        result = .failure(error)
        await connection.send(.failed)
      }
      end(.reply(result))
    }
    unwatch(connection.waiter)
    connection.close()
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
