// A server of a test that answers byte by byte as the test says, on an event loop.

package import Bytes
package import Platform
import Synchronization

/// A listening server whose connections are served by a closure. It listens until it is stopped.
package final class LoopServer: Sendable {
  /// Where it listens.
  package let address: SocketAddress
  /// The port of that address.
  package var port: Int { Int(address.port) }
  private let loop: EventLoop
  private let accepted = Atomic(0)
  private let waiter = Locked<Waiter?>(nil)

  /// Serves each connection, numbered from 0, with `serve`, TLS handshake made, and closes it behind.
  package init(
    on loop: EventLoop, tls: TLSContext? = nil, address: SocketAddress = SocketAddress(.ipv4(0x7F00_0001, port: 0)),
    _ serve: @escaping @Sendable (ByteStream, Int) async -> Void
  ) throws {
    guard let socket = try BoundSocket.bind(address, count: 1).first else {
      throw TestSupportError("no socket was bound")
    }
    self.address = socket.address
    self.loop = loop
    Task(executorPreference: loop) {
      let listener = try Listener(socket, loop: loop)
      socket.close()
      let waiter = Waiter(loop)
      self.waiter.withLock { $0 = waiter }
      while let (channel, _) = await listener.nextConnection(waiter) {
        let index = self.accepted.add(1, ordering: .relaxed).oldValue
        Task(executorPreference: loop) {
          let stream = try ByteStream(channel, tls: tls)
          do {
            if tls != nil { try await stream.shakeHands() }
            await serve(stream, index)
          } catch {
            // The peer did not want this handshake, which is what such a test is about.
          }
          stream.close()
        }
      }
      listener.close()
      waiter.close()
    }
  }

  /// Connections accepted so far.
  package var acceptedCount: Int { accepted.load(ordering: .relaxed) }

  /// Stops listening.
  package func stop() {
    Task(executorPreference: loop) { self.waiter.withLock { $0 }?.signal() }
  }
}
