package import Bytes
package import HTTP
package import Platform

package struct ServerLimits: Sendable {
  package var head = HeadLimits()
  /// Time for a request, and for the answer; of digested content, between two pieces.
  package var patience = TimeSpan.seconds(30)
  /// Connections at once; a further one replaces the one that has been silent longest.
  package var connections = Int.max
  /// True if a connection may carry further requests.
  package var keepsConnections = true

  package init() {}
}

/// A small HTTP/1.1 server: one listening socket on one loop, whole requests, small answers. It serves health probes,
/// sign-ins' redirects and the sample provider; traffic has a server of its own.
///
/// It is made and used on its loop, except `stop`.
package final class SmallServer<Handler: RequestHandler>: Sendable {
  package enum Ending: Sendable {
    /// By an answer that was to be the last one, or by `stop`.
    case stopped
    case timedOut
    /// The system gives no connection.
    case failed(SystemError)
  }

  /// The open connections, the longest silent first. Confined to the loop.
  private final class Connections {
    var open: [ServerConnection] = []
    var accepting: Waiter?
    var isStopping = false

    /// Adds a connection, replacing another if there is no room.
    func add(_ connection: ServerConnection, limit: Int) {
      if open.count >= limit { open.removeFirst().abandon() }
      open.append(connection)
    }

    func heard(_ connection: ServerConnection) {
      guard let index = open.firstIndex(where: { $0 === connection }) else { return }
      open.append(open.remove(at: index))
    }

    func remove(_ connection: ServerConnection) {
      open.removeAll { $0 === connection }
    }

    func stop() {
      isStopping = true
      accepting?.signal()
      for connection in open { connection.waiter.signal() }
    }
  }

  private let handler: Handler
  private let limits: ServerLimits
  private let tls: TLSContext?
  private let clock: (@Sendable () -> Int64)?
  private let connections: Confined<Connections>

  private var loop: EventLoop { connections.loop }

  /// A server on `loop`. `clock`: seconds since 1970 for `Date` fields; nil leaves them out.
  package init(
    _ handler: Handler, loop: EventLoop, limits: ServerLimits, tls: TLSContext? = nil,
    clock: (@Sendable () -> Int64)? = nil
  ) {
    self.handler = handler
    self.limits = limits
    self.tls = tls
    self.clock = clock
    connections = Confined(Connections(), to: loop)
  }

  /// Serves connections of `listener` until the server is stopped or `deadline` passes, and closes it. Call once, on
  /// the loop.
  /// - Parameter survivesExhaustion: continues, after a pause, if the system has no descriptor left.
  package func serve(
    _ listener: Listener, until deadline: MonotonicTime = .distantFuture, survivesExhaustion: Bool = true
  ) async -> Ending {
    let waiter = Waiter(loop)
    let connections = connections.value
    connections.accepting = waiter
    var ending = Ending.stopped
    await withDiscardingTaskGroup { group in
      accepting: while !connections.isStopping {
        switch listener.accept() {
        case .connection(let channel, let peer):
          group.addTask(executorPreference: self.loop) { await self.serve(channel, peer) }
        case .none:
          waiter.watch(listener.channel, .read)
          if await waiter.wait(until: deadline) == .timedOut {
            ending = .timedOut
            break accepting
          }
        case .exhausted(let error):
          guard survivesExhaustion else {
            ending = .failed(error)
            break accepting
          }
          _ = await waiter.wait(until: loop.now + .milliseconds(50))
        }
      }
      listener.close()
      connections.stop()
    }
    connections.accepting = nil
    waiter.close()
    return ending
  }

  /// Ends every connection and stops listening. Any thread may call it; `serve` returns then.
  package func stop() {
    Task(executorPreference: loop) { [connections] in connections.value.stop() }
  }

  private func serve(_ channel: Channel, _ peer: SocketAddress) async {
    let connections = connections.value
    let connection: ServerConnection
    do throws(StreamError) {
      connection = try ServerConnection(channel, peer, tls: tls, limits, clock: clock)
    } catch {
      return
    }
    connections.add(connection, limit: limits.connections)
    // A connection that comes after the end is closed: nothing would wake it.
    if connections.isStopping { connection.abandon() }
    if await connection.serve(handler, heard: { connections.heard(connection) }) { connections.stop() }
    connections.remove(connection)
  }
}
