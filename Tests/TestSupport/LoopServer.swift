// A server of a test that answers byte by byte as the test says, on an event loop.

package import Bytes
package import Platform

/// A listening server whose connections are served by a closure. It listens as long as it is referenced.
package final class LoopServer: Sendable {
  /// The state that the tasks of the loop share; they do not hold the server.
  private final class Listening: Sendable {
    let waiter = Locked<Waiter?>(nil)
  }

  package let address: SocketAddress
  package var port: Int { Int(address.port) }
  /// Connections accepted so far.
  package let accepted = Tally()
  private let loop: EventLoop
  private let listening = Listening()

  /// Serves each connection, numbered from 0, with `serve` after the TLS handshake, and closes it afterwards; on a loop
  /// of its own if none is given.
  package init(
    on loop: EventLoop? = nil, tls: TLSContext? = nil,
    address: SocketAddress = SocketAddress(.ipv4(0x7F00_0001, port: 0)),
    _ serve: @escaping @Sendable (ByteStream, Int) async -> Void
  ) throws {
    let socket = try BoundSocket.bind(address, count: 1)[0]
    self.address = socket.address
    let loop = try loop ?? EventLoop()
    self.loop = loop
    // A connection may outlive the test; it does not keep the test's processes and directories.
    ProxyLedger.$current.withValue(nil) {
      Task(executorPreference: loop) { [listening, accepted] in
        let listener = try Listener(socket, loop: loop)
        socket.close()
        let waiter = Waiter(loop)
        listening.waiter.withLock { $0 = waiter }
        while let (channel, _) = await listener.nextConnection(waiter) {
          let index = accepted.count
          accepted.signal()
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
  }

  deinit {
    // Behind the task that makes the waiter.
    Task(executorPreference: loop) { [listening] in listening.waiter.withLock { $0 }?.signal() }
  }
}
