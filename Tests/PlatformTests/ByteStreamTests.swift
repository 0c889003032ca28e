import Bytes
import Platform
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(5))) struct ByteStreamTests {
  /// A peer that closes with unread bytes resets the connection; the kernel reports it once, to the first call.
  @Test func `a reset that sending found out about is no end in good order`() async throws {
    let end = try await onLoop { loop in
      let (client, server) = try await connectedStreams(on: loop)
      await client.sendAll("unread")
      let waiter = Waiter(loop)
      waiter.watch(server.channel, .read)
      _ = await waiter.wait(until: .now + .seconds(10))
      await server.sendAll("half an answer")
      server.close()
      waiter.watch(client.channel, .hangUp)
      _ = await waiter.wait(until: .now + .seconds(10))
      #expect(await client.sendAll("more") == .reset)
      let received = await client.receiveAll()
      waiter.close()
      client.close()
      return received.end
    }
    #expect(end == .failed(.reset))
  }

  @Test func `an end in good order stays one, whatever is sent behind it`() async throws {
    let received = try await onLoop { loop in
      let (client, server) = try await connectedStreams(on: loop)
      await server.sendAll("an answer")
      server.close()
      let waiter = Waiter(loop)
      waiter.watch(client.channel, .readClosed)
      _ = await waiter.wait(until: .now + .seconds(10))
      // The first is answered with a reset, which the second gets.
      await client.sendAll("more")
      waiter.watch(client.channel, .hangUp)
      _ = await waiter.wait(until: .now + .seconds(10))
      #expect(await client.sendAll("more") == .reset)
      let received = await client.receiveAll()
      waiter.close()
      client.close()
      return received
    }
    #expect(String(decoding: received.bytes, as: UTF8.self) == "an answer" && received.end == .endOfStream)
  }
}
