// A whole proxy: its end, its limits, and the answers if an upstream or a caller misbehaves.

import Bytes
import Glibc
@testable import Platform
import Routing
import Synchronization
import TestSupport
import Testing

@testable import Proxy

@Suite(.timeLimit(.minutes(5)))
struct ProxyServerTests {
  static let answer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
  static let request = "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"

  /// Answers each request of a connection at once.
  static let answering: @Sendable (ByteStream, Int) async -> Void = { stream, _ in
    while await !stream.requestHead().isEmpty { await stream.sendAll(answer) }
  }

  // MARK: The end

  @Test func `during a drain no connection is accepted, and busy ones are answered`() async throws {
    let (asked, released) = (Tally(), Tally())
    let upstream = try LoopServer { stream, _ in
      _ = await stream.requestHead()
      asked.signal()
      await released.wait(for: 1)
      await stream.sendAll(Self.answer)
    }
    let proxy = try ProxyFixture(upstream: upstream.port)
    let busy = try await proxy.caller(sending: Self.request)
    await asked.wait(for: 1)
    async let cutOff = proxy.server.drain(limit: .seconds(120))
    // Until connections are no longer taken.
    await proxy.takeTurns { (try? RawConnection(port: proxy.port)) == nil }
    released.signal()
    let received = try await busy.receive()
    #expect(received.hasSuffix("\r\n\r\nok"))
    #expect(received.contains("Connection: close"))
    #expect(await cutOff == 0)
  }

  @Test func `the file of a unix socket goes when listening ends, so that a successor's is not taken for it`()
    async throws
  {
    let directory = try TemporaryDirectory()
    let path = directory.file("proxy.sock")
    let proxy = try ProxyFixture(upstream: 1, listener: SocketAddress(.unix(path: path)), loops: 2)
    #expect(access(path, F_OK) == 0)
    _ = await proxy.server.drain(limit: .seconds(5))
    #expect(access(path, F_OK) != 0)
  }

  @Test func `idle connections and handshakes under way do not hold the end up`() async throws {
    let contexts = try TLSContexts()
    let proxy = try ProxyFixture(upstream: 1, tls: contexts.server, loops: 2)
    let silent = try (0..<4).map { _ in try RawConnection(port: proxy.port) }
    await proxy.takeTurns { proxy.service.connectionCount == 4 }
    let start = MonotonicTime.now
    #expect(await proxy.server.drain(limit: .seconds(240)) == 0)
    #expect(MonotonicTime.now - start < .seconds(120))
    for connection in silent { #expect(try await connection.isClosedByPeer()) }
  }

  @Test func `idle keep-alive connections end at once`() async throws {
    let upstream = try LoopServer(Self.answering)
    let proxy = try ProxyFixture(upstream: upstream.port)
    let idle = try await proxy.caller(sending: Self.request)
    #expect(try await idle.receive(until: { $0.hasSuffix("ok") }).hasSuffix("ok"))
    #expect(await proxy.server.drain(limit: .seconds(8)) == 0)
    #expect(try await idle.isClosedByPeer())
  }

  @Test func `requests that are busy at the limit are cut off and counted`() async throws {
    let upstream = try LoopServer { stream, _ in
      _ = await stream.requestHead()
      _ = await stream.receiveAll()
    }
    let proxy = try ProxyFixture(upstream: upstream.port)
    let busy = try await proxy.caller(sending: Self.request)
    await upstream.accepted.wait(for: 1)
    #expect(await proxy.server.drain(limit: .milliseconds(50)) == 1)
    #expect(try await busy.receive().isEmpty)
    #expect(proxy.service.connectionCount == 0)
  }

  // MARK: Bounds

  @Test func `a burst of connections does not get past the limit, and those who wait get their turn`() async throws {
    let upstream = try LoopServer(Self.answering)
    let log = Locked("")
    let proxy = try ProxyFixture(
      upstream: upstream.port, connections: 5,
      log: { line in log.withLock { $0 += String(decoding: line, as: UTF8.self) } })
    // All of them are in the queue before the first is accepted, so that the limit is met before one of them is served.
    var connections = try proxy.whileLoopsAreBusy { try (0..<30).map { _ in try RawConnection(port: proxy.port) } }
    await proxy.takeTurns { proxy.service.connectionCount >= 5 }
    await proxy.takeTurns(20)
    #expect(proxy.service.connectionCount == 5)
    #expect(log.withLock { $0 } == "")
    let last = try #require(connections.last)
    connections.removeAll()
    try await last.send(Self.request)
    #expect(try await last.receive(until: { $0.hasSuffix("ok") }).hasSuffix("ok"))
  }

  @Test func `a name that takes its time to resolve is given up when connecting must be over`() async throws {
    let isOver = Gate()
    let resolver = Resolver(lookUp: { host in
      isOver.wait()
      return .failure(ResolveError(host: host, reason: "late"))
    })
    let proxy = try ProxyFixture(
      upstream: 1, host: "slow.example",
      timeouts: ExchangeTimeouts(
        connect: .milliseconds(100), responseHead: .seconds(5), idle: .seconds(5), whole: nil), resolver: resolver)
    let caller = try await proxy.caller(sending: Self.request)
    let received = try await caller.receive(until: { $0.contains("}") })
    #expect(statusOf(received) == 504)
    isOver.open()
  }

  // MARK: Misbehaviour

  @Test func `an interim response that a caller has half of is finished before the proxy's own answer`() async throws {
    let upstream = try LoopServer { stream, _ in
      _ = await stream.requestHead()
      let hint = "HTTP/1.1 103 Early Hints\r\nLink: " + String(repeating: "x", count: 30_000) + "\r\n\r\n"
      for _ in 0..<20 { await stream.sendAll(hint) }
      _ = await stream.receiveAll()
    }
    let proxy = try ProxyFixture(
      upstream: upstream.port, sendBuffer: 16 * 1024,
      timeouts: ExchangeTimeouts(connect: .seconds(5), responseHead: .milliseconds(300), idle: .seconds(5), whole: nil))
    let received = try await onLoop { loop in
      let waiter = Waiter(loop)
      let caller = try ByteStream(
        await Connector.connect(to: [proxy.address], waiter: waiter, until: .now + .seconds(5)))
      await caller.sendAll("GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
      // The socket's buffer is full long before the last hint.
      _ = await waiter.wait(until: .now + .milliseconds(800))
      waiter.close()
      let (bytes, _) = await caller.receiveAll()
      caller.close()
      return String(decoding: bytes, as: UTF8.self)
    }
    let heads = received.split(separator: "\r\n\r\n", omittingEmptySubsequences: true)
    let last = try #require(heads.firstIndex { $0.hasPrefix("HTTP/1.1 504") })
    #expect(heads[..<last].allSatisfy { $0.hasPrefix("HTTP/1.1 103") && $0.utf8.count > 30_000 })
  }

  @Test func `a caller that stops sending because it has an answer gets all of it`() async throws {
    let released = Tally()
    let upstream = try LoopServer { stream, _ in
      _ = await stream.requestHead()
      await stream.sendAll("HTTP/1.1 403 Forbidden\r\nContent-Length: 10\r\n\r\n12345")
      await released.wait(for: 1)
      await stream.sendAll("67890")
    }
    let proxy = try ProxyFixture(upstream: upstream.port)
    let caller = try await proxy.caller(
      sending: "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\nbeginning")
    let beginning = try await caller.receive(until: { $0.hasSuffix("12345") })
    #expect(statusOf(beginning) == 403)
    caller.finishSending()
    // The end of the caller's direction is there as soon as the call has returned: it is on loopback.
    await proxy.takeTurns(20)
    released.signal()
    #expect(try await caller.receive() == "67890")
  }

  @Test(arguments: [("GET", 200, 2), ("POST", 502, 1)])
  func `a request that meets a dead pooled connection is repeated if that does no harm`(
    method: String, status: Int, connections: Int
  ) async throws {
    // The first connection answers once, and closes on the second request without a word.
    let upstream = try LoopServer { stream, index in
      _ = await stream.requestHead()
      await stream.sendAll(Self.answer)
      _ = await stream.requestHead()
      if index > 0 { await stream.sendAll(Self.answer) }
    }
    let proxy = try ProxyFixture(upstream: upstream.port)
    let caller = try await proxy.caller(sending: Self.request)
    _ = try await caller.receive(until: { $0.hasSuffix("ok") })
    try await caller.send("\(method) / HTTP/1.1\r\nHost: localhost\r\n\r\n")
    let received = try await caller.receive(until: { $0.hasSuffix("ok") || $0.hasSuffix("}\n") })
    #expect(statusOf(received) == status)
    #expect(upstream.accepted.count == connections)
  }

  @Test func `a caller that resets its connection ends the upstream's work as well`() async throws {
    let (asked, ended) = (Tally(), Tally())
    let upstream = try LoopServer { stream, _ in
      _ = await stream.requestHead()
      asked.signal()
      _ = await stream.receiveAll()
      ended.signal()
    }
    let proxy = try ProxyFixture(upstream: upstream.port)
    try await onLoop { loop in
      let waiter = Waiter(loop)
      let caller = try ByteStream(
        await Connector.connect(to: [proxy.address], waiter: waiter, until: .now + .seconds(5)))
      await caller.sendAll(Self.request)
      await asked.wait(for: 1)
      caller.reset()
      waiter.close()
    }
    await ended.wait(for: 1)
    await proxy.takeTurns { proxy.service.connectionCount == 0 }
  }

  @Test func `a caller that expects a 100 gets the upstream's 100 or refusal, never the proxy's`()
    async throws
  {
    let upstream = try LoopServer { stream, _ in
      while true {
        let head = await stream.requestHead()
        if head.isEmpty { return }
        guard head.contains("Expect: 100-continue"), head.contains("/welcome") else {
          await stream.sendAll("HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\n\r\n")
          return
        }
        await stream.sendAll("HTTP/1.1 100 Continue\r\n\r\n")
        #expect(await stream.receiveAll(5).bytes == Array("hello".utf8))
        await stream.sendAll(Self.answer)
      }
    }
    let proxy = try ProxyFixture(upstream: upstream.port)
    let head = "HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n"
    let caller = try RawConnection(port: proxy.port)
    for _ in 0..<2 {
      try await caller.send("PUT /welcome " + head)
      #expect(try await caller.receive(until: { $0.hasSuffix("\r\n\r\n") }) == "HTTP/1.1 100 Continue\r\n\r\n")
      try await caller.send("hello")
      #expect(statusOf(try await caller.receive(until: { $0.hasSuffix("ok") })) == 200)
    }
    try await caller.send("PUT /unwelcome " + head)
    let refusal = try await caller.receive()
    #expect(statusOf(refusal) == 401)
    #expect(refusal.contains("Connection: close"))
    #expect(upstream.accepted.count == 1)
  }

  @Test func `an upstream that answers early and closes is heard, although content is still on its way`() async throws {
    let upstream = try LoopServer { stream, _ in
      _ = await stream.requestHead()
      await stream.sendAll("HTTP/1.1 413 Too Large\r\nContent-Length: 3\r\nConnection: close\r\n\r\nno!")
      // Reads on for a moment, as a careful server does.
      _ = await stream.receiveAll(4_000_000)
    }
    let proxy = try ProxyFixture(upstream: upstream.port)
    let caller = try RawConnection(port: proxy.port)
    // Made before, so that a slow machine makes no pause between head and content.
    let content = String(repeating: "x", count: 8_000_000)
    async let sending = caller.send("PUT / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 50000000\r\n\r\n" + content)
    let received = try await caller.receive(until: { $0.hasSuffix("no!") })
    #expect(statusOf(received) == 413)
    #expect(received.hasSuffix("no!"))
    _ = try await sending
  }

  @Test(arguments: [
    "HTTP/1.1 413 Too Large\r\nContent-Length: 3\r\nConnection: close\r\n\r\nno!",
    "HTTP/1.1 403 Forbidden\r\nContent-Length: 3\r\n\r\nno!",
  ])
  func `a caller that reads only after it has sent everything gets an early answer`(early: String) async throws {
    let upstream = try LoopServer { stream, _ in
      _ = await stream.requestHead()
      // Closes at once, with content unread: its kernel resets the connection.
      await stream.sendAll(early)
    }
    let proxy = try ProxyFixture(upstream: upstream.port)
    let caller = try RawConnection(port: proxy.port, patience: 240)
    // More than the kernel holds on the way, without a pause behind the head.
    let content = String(repeating: "x", count: 12_000_000)
    let head = "PUT / HTTP/1.1\r\nHost: localhost\r\nContent-Length: \(content.utf8.count)\r\n\r\n"
    #expect(try await caller.send(head + content), "the connection was reset")
    let received = try await caller.receive()
    #expect(received.hasPrefix(early.prefix { $0 != "\r\n" }) && received.hasSuffix("no!"))
  }

  @Test func `an upstream that answers early and goes on reading gets all of the request`() async throws {
    let counts = Locked<[Int]>([])
    let heard = Tally()
    let upstream = try LoopServer { stream, _ in
      while await !stream.requestHead().isEmpty {
        await stream.sendAll(Self.answer)
        let count = await stream.receiveAll(300_000).bytes.count
        counts.withLock { $0.append(count) }
        heard.signal()
      }
    }
    let proxy = try ProxyFixture(upstream: upstream.port)
    for turn in 1...2 {
      let caller = try await proxy.caller(
        sending: "PUT / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 300000\r\n\r\n")
      try await caller.send(String(repeating: "x", count: 10_000))
      // To the end that the answer announces, which comes before the end of the request.
      let received = try await caller.receive()
      #expect(received.contains("Connection: close") && received.hasSuffix("ok"))
      try await caller.send(String(repeating: "x", count: 290_000))
      caller.finishSending()
      await heard.wait(for: turn)
      await proxy.takeTurns { proxy.service.connectionCount == 0 }
    }
    #expect(counts.withLock { $0 } == [300_000, 300_000])
    #expect(upstream.accepted.count == 1)
  }

  @Test(arguments: [
    ("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf", 200, "half"),
    ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n", 200, "half"),
    ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\nnonsense", 200, "half"),
    // Nothing of it was sent yet.
    ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nnonsense", 502, "upstream-malformed"),
    ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4 x\r\nhalf\r\n0\r\n\r\n", 502, "upstream-malformed"),
    ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nBad Name: x\r\n\r\n", 502, "upstream-malformed"),
    ("HTTP/1.1 200 OK\r\nContent-Le", 502, "upstream-closed"),
    ("", 502, "upstream-closed"),
    ("nonsense\r\n\r\n", 502, "upstream-malformed"),
    ("HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n", 502, "upstream-malformed"),
    ("HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nx", 502, "upstream-malformed"),
    ("HTTP/1.1 200 OK\r\nX: " + String(repeating: "x", count: 40_000), 502, "upstream-malformed"),
  ])
  func `an answer that breaks off never looks whole`(answer: String, status: Int, content: String) async throws {
    let upstream = try LoopServer { stream, _ in
      _ = await stream.requestHead()
      await stream.sendAll(answer)
    }
    let proxy = try ProxyFixture(upstream: upstream.port)
    let (received, end) = try await onLoop { loop in
      let waiter = Waiter(loop)
      let caller = try ByteStream(
        await Connector.connect(to: [proxy.address], waiter: waiter, until: .now + .seconds(5)))
      await caller.sendAll("GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
      let (bytes, end) = await caller.receiveAll()
      caller.close()
      waiter.close()
      return (String(decoding: bytes, as: UTF8.self), end)
    }
    // If the head has been passed on, only the connection can show that the rest is missing.
    #expect(end == (status == 200 ? .failed(.reset) : .endOfStream))
    if status == 502 {
      #expect(statusOf(received) == 502)
      #expect(received.contains(content))
    }
    #expect(!received.contains("\r\n0\r\n"))
  }
}
