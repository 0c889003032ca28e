// Requests that come back to the proxy.

import Bytes
import Glibc
import Synchronization
import TestSupport
import Testing

@testable import Platform
@testable import Proxy

extension ProxyServerTests {
  @Test func `a loop through a hop that takes every field away ends by a limit`() async throws {
    let target = Atomic(0)
    let (hops, released) = (Tally(), Tally())
    // Sends each request back to the proxy with nothing but its Host, and the answer to it back.
    let upstream = try LoopServer { stream, _ in
      let head = await stream.requestHead()
      if head.contains("X-Other: 1") {
        await stream.sendAll(Self.answer)
        return
      }
      hops.signal()
      do {
        let waiter = Waiter(stream.channel.loop)
        let port = UInt16(target.load(ordering: .relaxed))
        let next = try ByteStream(
          await Connector.connect(
            to: [SocketAddress(.ipv4(0x7F00_0001, port: port))], waiter: waiter, until: .now + .seconds(240)))
        await next.sendAll("GET / HTTP/1.0\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        let answer = await next.receiveAll().bytes
        await released.wait(for: 1)
        waiter.close()
        next.close()
        await stream.sendAll(answer)
      } catch {
        Issue.record(error)
      }
    }
    let proxy = try ProxyFixture(upstream: upstream.port, unmarked: 20)
    target.store(proxy.port, ordering: .relaxed)
    let caller = try await proxy.caller(sending: Self.request)
    await hops.wait(for: 20)
    let other = try await proxy.caller(
      sending: "GET / HTTP/1.1\r\nHost: localhost\r\nX-Other: 1\r\nConnection: close\r\n\r\n")
    #expect(statusOf(try await other.receive()) == 200)
    released.signal()
    await proxy.takeTurns { proxy.service.connectionCount <= 1 }
    let answer = try await caller.receive { $0.contains("loop-detected") && $0.hasSuffix("}\n") }
    #expect(statusOf(answer) == 508 && answer.contains("too many like it are in progress"))
    #expect(hops.count == 20)
  }
}
