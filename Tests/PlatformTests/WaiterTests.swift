import Bytes
import TestSupport
import Testing

@testable import Platform

@Suite(.timeLimit(.minutes(5)))
struct WaiterTests {
  @Test func `one wait watches several channels, and tells nothing of those that are not ready`() async throws {
    try await withPairs(2) { waiter, pairs in
      let (first, second) = (pairs[0], pairs[1])
      for sender in [first, second] {
        waiter.watch(first.server.channel, .read)
        waiter.watch(second.server.channel, .read)
        await sender.client.sendAll("x")
        #expect(await waiter.wait(until: .now + .seconds(5)) == .ready)
        #expect(sender.server.mayReceive)
        // A call that fills less than its buffer has found everything.
        var piece = [UInt8](repeating: 0, count: 10)
        guard case .moved(1) = piece.withUnsafeMutableBytes({ sender.server.receive(into: $0) }) else {
          Issue.record("there is not what was sent")
          break
        }
        #expect(!first.server.mayReceive && !second.server.mayReceive)
      }
      // After a wait nothing is watched.
      await first.client.sendAll("x")
      #expect(await waiter.wait(until: .now + .milliseconds(30)) == .timedOut)
    }
  }

  @Test func `watching one channel twice joins the interests, and an empty one is none`() async throws {
    try await withPairs(1) { waiter, pairs in
      let (client, server) = pairs[0]
      // Room to send is there already, so that only reading can end the wait.
      waiter.watch(server.channel, [])
      waiter.watch(server.channel, .hangUp)
      waiter.watch(server.channel, .read)
      await client.sendAll("x")
      #expect(await waiter.wait(until: .now + .seconds(5)) == .ready)
      waiter.watch(server.channel, .hangUp)
      waiter.watch(server.channel, .write)
      #expect(await waiter.wait(until: .now + .seconds(5)) == .ready)
    }
  }

  @Test func `a signal ends one wait, whether it comes before or during it`() async throws {
    try await onLoop { loop in
      let waiter = Waiter(loop)
      waiter.signal()
      waiter.signal()
      #expect(await waiter.wait(until: .distantFuture) == .signalled)
      Task(executorPreference: loop) { waiter.signal() }
      #expect(await waiter.wait(until: .distantFuture) == .signalled)
      #expect(await waiter.wait(until: .now + .milliseconds(20)) == .timedOut)
      #expect(await waiter.wait(until: MonotonicTime(nanoseconds: 0)) == .timedOut)
      waiter.close()
    }
  }

  @Test func `closing a channel wakes no waiter, and later calls find its end`()
    async throws
  {
    try await withPairs(1) { waiter, pairs in
      let (client, server) = pairs[0]
      Task(executorPreference: waiter.loop) { server.close() }
      waiter.watch(server.channel, .read)
      #expect(await waiter.wait(until: .now + .milliseconds(50)) == .timedOut)
      #expect(server.isStale)
      #expect(server.channel.isHungUp)
      guard case .failed = [UInt8](repeating: 0, count: 1).withUnsafeBytes({ server.send($0) }) else {
        Issue.record("a closed channel sends")
        return
      }
      // The peer's latches are unchanged by a second close.
      #expect(await client.receiveAll().end == .endOfStream)
    }
  }

  @Test(arguments: 0..<3, 1..<3) func `a watched channel that is closed leaves the others watched`(
    closed: Int, distance: Int
  ) async throws {
    try await withPairs(3) { waiter, pairs in
      for pair in pairs { waiter.watch(pair.server.channel, .read) }
      pairs[closed].server.close()
      await pairs[(closed + distance) % 3].client.sendAll("x")
      #expect(await waiter.wait(until: .now + .seconds(5)) == .ready)
    }
  }

  @Test func `several tasks wait for one channel, each for what it needs`() async throws {
    try await withPairs(2) { waiter, pairs in
      let ((client, server), other) = (pairs[0], pairs[1])
      let waiters = (0..<3).map { _ in Waiter(waiter.loop) }
      // Each watches both channels, in another order: what one waiter leaves is not another's.
      waiters[0].watch(server.channel, .hangUp)
      waiters[0].watch(other.server.channel, .hangUp)
      waiters[1].watch(other.server.channel, .hangUp)
      waiters[1].watch(server.channel, .read)
      waiters[2].watch(server.channel, .hangUp)
      waiters[2].watch(server.channel, .read)
      waiters[2].watch(other.server.channel, .hangUp)
      await client.sendAll("x")
      #expect(await waiters[1].wait(until: .distantFuture) == .ready)
      #expect(await waiters[0].wait(until: .now + .milliseconds(20)) == .timedOut)
      #expect(await waiters[2].wait(until: .distantFuture) == .ready)
      // After its wait each watches nothing.
      for waiter in waiters { #expect(await waiter.wait(until: .now + .milliseconds(5)) == .timedOut) }
      for waiter in waiters { waiter.close() }
    }
  }

  @Test(arguments: 0..<3) func `a channel that is closed leaves the other sources of all its waiters watched`(
    leaving: Int
  ) async throws {
    try await withPairs(3) { waiter, pairs in
      let waiters = (0..<3).map { _ in Waiter(waiter.loop) }
      for (index, waiter) in waiters.enumerated() {
        for place in 0..<3 { waiter.watch(pairs[(index + place) % 3].server.channel, .read) }
      }
      pairs[leaving].server.close()
      for step in 1..<3 {
        await pairs[(leaving + step) % 3].client.sendAll("x")
        #expect(await waiters[step].wait(until: .distantFuture) == .ready)
      }
      waiters[leaving].watch(pairs[leaving].client.channel, .readClosed)
      #expect(await waiters[leaving].wait(until: .distantFuture) == .ready)
      for waiter in waiters { waiter.close() }
    }
  }

  @Test func `an answer ends the wait for it, and no other`() async throws {
    try await onLoop { loop in
      let waiter = Waiter(loop)
      let gate = Waiter(loop)
      let answer = PendingAnswer(loop) {
        _ = await gate.wait(until: .distantFuture)
        return 7
      }
      waiter.watch(answer, .read)
      #expect(await waiter.wait(until: .now + .milliseconds(20)) == .timedOut)
      #expect(answer.value == nil)
      gate.signal()
      // The asker watches it no more.
      #expect(await waiter.wait(until: .now + .milliseconds(20)) == .timedOut)
      #expect(answer.value == 7)
      waiter.watch(answer, .read)
      #expect(await waiter.wait(until: .distantFuture) == .ready)
      waiter.close()
      gate.close()
    }
  }

  @Test func `a descriptor number that is used again does not inherit what its predecessor was ready for`() async throws
  {
    try await onLoop { loop in
      let waiter = Waiter(loop)
      for _ in 0..<50 {
        let (client, server) = try await connectedStreams(on: loop)
        #expect(!client.isStale && !server.isStale)
        await client.sendAll("x")
        // Readable in the same batch in which it is closed.
        server.close()
        client.close()
      }
      waiter.close()
    }
  }
}

/// Runs `body` with a waiter and so many connections, all of which are closed behind it.
private func withPairs(
  _ count: Int,
  _ body: @escaping @Sendable (Waiter, [(client: ByteStream, server: ByteStream)]) async throws -> Void
) async throws {
  try await onLoop { loop in
    let waiter = Waiter(loop)
    var pairs: [(client: ByteStream, server: ByteStream)] = []
    for _ in 0..<count { pairs.append(try await connectedStreams(on: loop)) }
    try await body(waiter, pairs)
    waiter.close()
    for stream in pairs.flatMap({ [$0.client, $0.server] }) { stream.close() }
  }
}
