// Owns one listening address of the demonstration and the connections accepted there.

internal import Network
internal import Tokens

/// Serves one service on one address, on one loop, until it is stopped.
final class DemoServer: Sendable {
  /// Everybody who waits on the loop for this server: signalled to stop.
  private final class Waiters {
    var members: [ObjectIdentifier: Waiter] = [:]
    var isStopping = false

    func make(_ loop: EventLoop) -> Waiter {
      let waiter = Waiter(loop)
      members[ObjectIdentifier(waiter)] = waiter
      if isStopping { waiter.signal() }
      return waiter
    }

    func end(_ waiter: Waiter) {
      members[ObjectIdentifier(waiter)] = nil
      waiter.close()
    }
  }

  private let waiters: Confined<Waiters>
  private let serving: Task<Void, Never>

  /// Starts to serve; `socket` is taken over.
  init(
    _ service: DemoService, _ socket: BoundSocket, tls: TLSContext?, loop: EventLoop,
    clock: @escaping @Sendable () -> UnixTime, log: @escaping @Sendable (DemoExchange) -> Void
  ) {
    let waiters = Confined(Waiters(), to: loop)
    self.waiters = waiters
    serving = Task(executorPreference: loop) {
      defer { socket.close() }
      let accepting = waiters.value.make(loop)
      defer { waiters.value.end(accepting) }
      let listener: Listener
      do throws(SystemError) {
        listener = try Listener(socket, loop: loop)
      } catch {
        log(DemoExchange(service: service.name, method: "listen", path: "", status: 0, note: error.description))
        return
      }
      await withDiscardingTaskGroup { group in
        while let (channel, _) = await listener.nextConnection(accepting) {
          group.addTask(executorPreference: loop) {
            let waiter = waiters.value.make(loop)
            defer { waiters.value.end(waiter) }
            let stream: ByteStream
            do throws(StreamError) {
              stream = try ByteStream(channel, tls: tls)
            } catch {
              return
            }
            await DemoConnection(stream, waiter).serve(service, clock: clock, log: log)
          }
        }
        listener.close()
      }
    }
  }

  /// Closes every connection and stops listening.
  func stop() async {
    await Task(executorPreference: waiters.loop) { [waiters] in
      waiters.value.isStopping = true
      for waiter in waiters.value.members.values { waiter.signal() }
    }.value
    await serving.value
  }
}
