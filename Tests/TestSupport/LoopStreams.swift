// Streams of the Platform module for tests that drive both ends themselves, on one loop.

import Bytes
package import Platform

/// Runs `body` on a new event loop, which is shut down behind it.
package func onLoop<Value: Sendable>(
  _ body: @escaping @Sendable (EventLoop) async throws -> Value
) async throws -> Value {
  let loop = try EventLoop()
  defer { loop.shutDown() }
  return try await Task(executorPreference: loop) { try await body(loop) }.value
}

/// The two ends of a TCP connection over loopback. Call on the loop.
package func connectedChannels(on loop: EventLoop) async throws -> (client: Channel, server: Channel) {
  let socket = try BoundSocket.loopback()
  let waiter = Waiter(loop)
  let listener = try Listener(socket, loop: loop)
  defer {
    listener.close()
    socket.close()
    waiter.close()
  }
  let client = try await Connector.connect(to: [socket.address], waiter: waiter, until: .now + .seconds(10))
  guard let (server, _) = await listener.nextConnection(waiter) else {
    throw TestSupportError("nobody connected")
  }
  return (client, server)
}

/// The two ends of a plain connection over loopback. Call on the loop.
package func connectedStreams(on loop: EventLoop) async throws -> (client: ByteStream, server: ByteStream) {
  let (client, server) = try await connectedChannels(on: loop)
  return (try ByteStream(client), try ByteStream(server))
}

/// The two ends of a TLS connection over loopback, handshake made. Call on the loop.
package func connectedStreams(
  on loop: EventLoop, client: TLSContext, server: TLSContext, name: String = "localhost",
  resuming: TLSResumption? = nil
) async throws -> (client: ByteStream, server: ByteStream) {
  let channels = try await connectedChannels(on: loop)
  let near = try ByteStream(channels.client, tls: client, serverName: name, resuming: resuming)
  let far: ByteStream
  do {
    far = try ByteStream(channels.server, tls: server)
  } catch {
    near.close()
    throw error
  }
  do {
    async let answer = far.shakeHands()
    try await near.shakeHands()
    try await answer
  } catch {
    near.close()
    far.close()
    throw error
  }
  return (near, far)
}

/// The end of receiving.
package enum ReceivedEnd: Sendable, Equatable {
  /// As many bytes as were asked for have come.
  case enough
  /// The peer ended its direction in good order.
  case endOfStream
  case failed(StreamError)
  /// A minute without a byte.
  case timedOut
}

extension ByteStream {
  private static let patience = TimeSpan.seconds(60)

  /// Makes the handshake; throws if it fails.
  package func shakeHands() async throws {
    let waiter = Waiter(channel.loop)
    defer { waiter.close() }
    guard try await handshake(waiter, until: .now + Self.patience) == .ready else {
      throw TestSupportError("the handshake did not end")
    }
  }

  /// Sends all of `bytes`; returns the reason if it cannot.
  @discardableResult
  package func sendAll(_ bytes: [UInt8]) async -> StreamError? {
    if case .failed(let error) = await transfer(sending: bytes, receiving: 0).end { error } else { nil }
  }

  /// Sends the bytes of a text.
  @discardableResult
  package func sendAll(_ text: String) async -> StreamError? { await sendAll(Array(text.utf8)) }

  /// Receives until `count` bytes have come, or the end.
  package func receiveAll(_ count: Int = .max) async -> (bytes: [UInt8], end: ReceivedEnd) {
    await transfer(sending: [], receiving: count)
  }

  /// Sends all of `bytes` while it receives `count`: one task, for a channel has one waiter.
  package func transfer(sending bytes: [UInt8], receiving count: Int) async -> (bytes: [UInt8], end: ReceivedEnd) {
    let waiter = Waiter(channel.loop)
    defer { waiter.close() }
    var (sent, received): (Int, [UInt8]) = (0, [])
    var piece = [UInt8](repeating: 0, count: min(count, 64 * 1024))
    while sent < bytes.count || received.count < count {
      var interest: Readiness = []
      if sent < bytes.count {
        switch bytes.withUnsafeBytes({ send(UnsafeRawBufferPointer(rebasing: $0[sent...])) }) {
        case .moved(let count):
          sent += count
          continue
        case .wouldBlock: interest = sendInterest
        case .endOfStream: return (received, .endOfStream)
        case .failed(let error): return (received, .failed(error))
        }
      }
      if received.count < count {
        let wanted = min(piece.count, count - received.count)
        switch piece.withUnsafeMutableBytes({ receive(into: UnsafeMutableRawBufferPointer(rebasing: $0[..<wanted])) }) {
        case .moved(let count):
          received += piece[..<count]
          continue
        case .wouldBlock: interest.formUnion(receiveInterest)
        case .endOfStream: return (received, .endOfStream)
        case .failed(let error): return (received, .failed(error))
        }
      }
      waiter.watch(channel, interest)
      if await waiter.wait(until: .now + Self.patience) == .timedOut { return (received, .timedOut) }
    }
    return (received, .enough)
  }

  /// Receives a text up to and with `end`; the text so far if the stream ends first.
  package func receiveText(through end: String) async -> String {
    var text = ""
    while !text.hasSuffix(end) {
      let (bytes, state) = await receiveAll(1)
      text += String(decoding: bytes, as: UTF8.self)
      if state != .enough { break }
    }
    return text
  }
}
