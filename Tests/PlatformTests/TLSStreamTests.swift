import Bytes
import Glibc
import TestSupport
import Testing

@testable import Platform

@Suite(.timeLimit(.minutes(5)))
struct TLSStreamTests {
  @Test func `megabytes go both ways at once, whole and in order`() async throws {
    try await withTLSStreams { _, client, server in
      let up = (0..<5_000_000).map { UInt8(truncatingIfNeeded: $0 &* 7) }
      let down = (0..<3_000_001).map { UInt8(truncatingIfNeeded: $0 &* 13) }
      async let atServer = server.transfer(sending: down, receiving: up.count)
      async let atClient = client.transfer(sending: up, receiving: down.count)
      #expect(await atServer.bytes == up)
      #expect(await atClient.bytes == down)
    }
  }

  @Test func `after a half-close the other direction goes on, and both ends are in good order`() async throws {
    try await withTLSStreams { _, client, server in
      await client.sendAll("question")
      client.closeWrite()
      let question = await server.receiveAll()
      #expect(question.bytes == Array("question".utf8))
      #expect(question.end == .endOfStream)
      await server.sendAll("answer")
      server.close()
      let answer = await client.receiveAll()
      #expect(answer.bytes == Array("answer".utf8))
      #expect(answer.end == .endOfStream)
    }
  }

  @Test func `an end without close_notify is a truncation`() async throws {
    try await withTLSStreams { _, client, server in
      await server.sendAll("half of an ans")
      shutdown(server.channel.descriptor, Int32(SHUT_WR))
      let answer = await client.receiveAll()
      #expect(answer.bytes == Array("half of an ans".utf8))
      #expect(answer.end == .failed(.truncated))
    }
  }

  @Test func `a reset is a reset`() async throws {
    try await withTLSStreams { _, client, server in
      server.reset()
      #expect(await client.receiveAll().end == .failed(.reset))
    }
  }

  @Test func `a part of a record is not taken for something to receive`() async throws {
    try await withTLSStreams { loop, client, server in
      // The first bytes of an application data record's header.
      let header: [UInt8] = [0x17, 0x03, 0x03]
      #expect(send(client.channel.descriptor, header, header.count, 0) == header.count)
      let waiter = Waiter(loop)
      var piece = [UInt8](repeating: 0, count: 100)
      var wakes = 0
      // A caller that continues as long as something may be received would never end here.
      repeat {
        waiter.watch(server.channel, server.receiveInterest)
        if await waiter.wait(until: .now + .milliseconds(50)) == .timedOut { break }
        guard case .wouldBlock = piece.withUnsafeMutableBytes({ server.receive(into: $0) }) else {
          Issue.record("there was something to receive")
          break
        }
        wakes += 1
      } while wakes < 5
      #expect(wakes <= 2)
      #expect(!server.mayReceive)
      #expect(server.isStale)
      waiter.close()
    }
  }

  @Test func `bytes right behind the handshake are received without another event`() async throws {
    let contexts = try TLSContexts()
    try await onLoop { loop in
      let channels = try await connectedChannels(on: loop)
      let client = try ByteStream(channels.client, tls: contexts.client, serverName: "localhost")
      let server = try ByteStream(channels.server, tls: contexts.server)
      async let asked: Void = {
        try await client.shakeHands()
        // The last handshake message and the question leave in one turn of the loop.
        await client.sendAll("question")
      }()
      try await server.shakeHands()
      #expect(await server.receiveAll(8).bytes == Array("question".utf8))
      try await asked
      client.close()
      server.close()
    }
  }

  @Test func `an idle connection with another record behind the answer is stale`() async throws {
    try await withTLSStreams { _, client, server in
      await server.sendAll("answer")
      await server.sendAll("unasked")
      // Both records are in the socket, so one system call takes both; one of them is received. A record adds its type
      // and a tag.
      while recordLengths(waitingAt: client).suffix(2) != ["answer", "unasked"].map({ $0.utf8.count + 17 }) {
        await Task.yield()
      }
      #expect(await client.receiveAll(6).bytes == Array("answer".utf8))
      #expect(client.isStale)
    }
  }

  @Test func `an idle connection is not stale, although tickets arrived behind the handshake`() async throws {
    try await withTLSStreams { loop, client, server in
      let waiter = Waiter(loop)
      waiter.watch(client.channel, .read)
      #expect(await waiter.wait(until: .now + .seconds(60)) == .ready)
      #expect(!client.isStale)
      #expect(!server.isStale)
      server.close()
      waiter.watch(client.channel, .readClosed)
      #expect(await waiter.wait(until: .now + .seconds(60)) == .ready)
      waiter.close()
      #expect(client.isStale)
    }
  }

  @Test func `the ticket of one connection shortens the next handshake`() async throws {
    let contexts = try TLSContexts()
    try await onLoop { loop in
      let first = try await connectedStreams(on: loop, client: contexts.client, server: contexts.server)
      #expect(first.client.tls?.isResumed == false)
      await first.server.sendAll("x")
      _ = await first.client.receiveAll(1)
      let ticket = try #require(first.client.tls?.resumption)
      let second = try await connectedStreams(
        on: loop, client: contexts.client, server: contexts.server, resuming: ticket)
      #expect(second.client.tls?.isResumed == true)
      for stream in [first.client, first.server, second.client, second.server] { stream.close() }
    }
  }

  @Test(arguments: [("localhost", true), ("127.0.0.1", true), ("other.example", false), ("127.0.0.2", false)])
  func `the certificate must carry the expected name`(name: String, isAccepted: Bool) async throws {
    let contexts = try TLSContexts()
    let verdict = try await onLoop { loop in
      do {
        let (client, server) = try await connectedStreams(
          on: loop, client: contexts.client, server: contexts.server, name: name)
        client.close()
        server.close()
        return nil as TLSFailure?
      } catch StreamError.tls(let failure) {
        return failure
      }
    }
    #expect((verdict == nil) == isAccepted)
    if let verdict { #expect(verdict.verdict != 0) }
  }
}

/// Runs `body` with the ends of a TLS connection, which are closed behind it.
private func withTLSStreams(
  _ body: @escaping @Sendable (EventLoop, _ client: ByteStream, _ server: ByteStream) async throws -> Void
) async throws {
  let contexts = try TLSContexts()
  try await onLoop { loop in
    let (client, server) = try await connectedStreams(on: loop, client: contexts.client, server: contexts.server)
    try await body(loop, client, server)
    client.close()
    server.close()
  }
}

/// The lengths of the whole TLS records that have arrived and not been read.
private func recordLengths(waitingAt stream: ByteStream) -> [Int] {
  var bytes = [UInt8](repeating: 0, count: 16384)
  let count = recv(stream.channel.descriptor, &bytes, bytes.count, Int32(MSG_PEEK))
  var rest = bytes.prefix(max(count, 0))
  var lengths: [Int] = []
  while rest.count >= 5 {
    let length = Int(rest[rest.startIndex + 3]) << 8 | Int(rest[rest.startIndex + 4])
    guard rest.count >= 5 + length else { break }
    lengths.append(length)
    rest = rest.dropFirst(5 + length)
  }
  return lengths
}
