// Owns the running of a service: accepting on every loop, housekeeping, tokens on their way to the loops, and the end in
// good order.

public import Identity
public import Network
internal import Telemetry

/// A bound listener and who may use it.
public struct ServerListener: Sendable {
  let sockets: [BoundSocket]
  let context: ListenerContext

  /// A listener. `names`: hosts accepted in `Host`, lower case, without port; `nil`: any.
  public init(_ sockets: [BoundSocket], names: [String]?, rules: CallerRules = CallerRules(), tls: TLSContext?) {
    self.sockets = sockets
    context = ListenerContext(callers: CallerCheck(names: names, rules: rules), tls: tls)
  }

  /// The address listened on.
  public var address: SocketAddress? { sockets.first?.address }

  /// Stops listening, but for the loops that have taken a socket and close theirs themselves. The file of a unix socket
  /// goes with it: later, it may be a successor's.
  public func close() {
    sockets.first?.removeSocketFile()
    for socket in sockets { socket.close() }
  }
}

/// A proxy that serves.
public final class ProxyServer: Sendable {
  private let service: Service
  private let loops: [EventLoop]
  private let states: [Confined<LoopState>]
  private let listeners: [ServerListener]
  private let acceptors: [Confined<AcceptorList>]

  /// Those who accept on one loop, so that they can be told to stop.
  private final class AcceptorList {
    var waiters: [Waiter] = []
    var isStopped = false
  }

  /// A server on `loops`, which serves from `start` on.
  public init(_ service: Service, loops: [EventLoop], listeners: [ServerListener]) {
    self.service = service
    self.loops = loops
    self.listeners = listeners
    states = loops.map { Confined(LoopState(service, loop: $0), to: $0) }
    acceptors = loops.map { Confined(AcceptorList(), to: $0) }
  }

  /// Begins to accept.
  public func start() {
    for (loopIndex, loop) in loops.enumerated() {
      let state = states[loopIndex]
      Task(executorPreference: loop) { await Self.keepHouse(state) }
      for listener in listeners {
        // A TCP listener has a socket for each loop; a unix socket is one for all.
        let socket = listener.sockets.count > 1 ? listener.sockets[loopIndex] : listener.sockets[0]
        let acceptor = acceptors[loopIndex]
        Task(executorPreference: loop) { await self.accept(socket, listener.context, state, acceptor) }
      }
    }
  }

  private func accept(
    _ socket: BoundSocket, _ context: ListenerContext, _ state: Confined<LoopState>, _ acceptor: Confined<AcceptorList>
  ) async {
    let loop = state.loop
    let listener: Listener
    do throws(SystemError) {
      listener = try Listener(socket, loop: loop)
    } catch {
      service.log.error("cannot listen", ["reason": .string(error.description)])
      return
    }
    let waiter = Waiter(loop)
    acceptor.value.waiters.append(waiter)
    while !acceptor.value.isStopped {
      guard service.hasRoomForConnections else {
        state.value.metrics.add(service.metrics.acceptPauses)
        _ = await waiter.wait(until: loop.now + .milliseconds(50))
        continue
      }
      let accepted = await listener.nextConnection(waiter) { error in
        state.value.metrics.add(service.metrics.acceptPauses)
        service.log.error("accepting rests: nothing left to accept with", ["reason": .string(error.description)])
      }
      guard let (channel, peer) = accepted else { continue }
      // Counted before its task runs: a burst is accepted in one go and would get past the limit.
      service.connectionOpened()
      Task(executorPreference: loop) {
        defer { self.service.connectionClosed() }
        do throws(StreamError) {
          let connection = try DownstreamConnection(channel, peer: peer, context: context, state: state.value)
          await connection.serve()
        } catch {
          self.service.log.error("cannot serve a connection", ["caller": .string(peer.host)])
        }
      }
    }
    listener.close()
    waiter.close()
  }

  private static func keepHouse(_ state: Confined<LoopState>) async {
    state.loop.whenIdle { state.value.flushAccessRecords() }
    let waiter = Waiter(state.loop)
    _ = await waiter.wait(until: state.loop.now + .seconds(1))
    if state.loop.index == 0 { Machine.releaseTextPages() }
    while true {
      _ = await waiter.wait(until: state.loop.now + .seconds(5))
      state.value.sweep()
    }
  }

  /// Hands a token to every loop, rendered as it is; nil takes the one before away from them.
  public func publish(_ value: BearerValue?, slot: Int) {
    for state in states {
      Task(executorPreference: state.loop) { state.value.bearers[slot] = value }
    }
  }

  /// Stops accepting, ends idle connections, and waits for those that are busy, at most until `limit` has passed; what is
  /// then still busy is cut off. How many were cut off.
  public func drain(limit: TimeSpan) async -> Int {
    for (state, acceptor) in zip(states, acceptors) {
      await Task(executorPreference: state.loop) {
        acceptor.value.isStopped = true
        for waiter in acceptor.value.waiters { waiter.signal() }
        state.value.drain()
      }.value
    }
    for listener in listeners { listener.close() }
    let deadline = MonotonicTime.now + limit
    await pause(while: { self.service.connectionCount > 0 && MonotonicTime.now < deadline })
    let left = service.connectionCount
    if left > 0 {
      for state in states { await Task(executorPreference: state.loop) { state.value.abandon() }.value }
      let end = MonotonicTime.now + .seconds(1)
      await pause(while: { self.service.connectionCount > 0 && MonotonicTime.now < end })
    }
    for state in states { await Task(executorPreference: state.loop) { state.value.flushAccessRecords() }.value }
    return left
  }

  private func pause(while isBusy: @escaping @Sendable () -> Bool) async {
    guard let loop = loops.first else { return }
    await Task(executorPreference: loop) {
      let waiter = Waiter(loop)
      while isBusy() { _ = await waiter.wait(until: loop.now + .milliseconds(10)) }
      waiter.close()
    }.value
  }
}
