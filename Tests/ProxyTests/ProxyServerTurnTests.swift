// Requests of one connection in turn, and connections that make room for others.

import Bytes
import Glibc
import HTTPClient
import Identity
@testable import Platform
import TestSupport
import Testing
import Tokens

@testable import Proxy

extension ProxyServerTests {
  // MARK: One connection

  @Test func `requests sent back to back are answered in order, each with its own answer`() async throws {
    let upstream = try LoopServer { stream, _ in
      while case let head = await stream.requestHead(), !head.isEmpty {
        let path = head.split(separator: " ").dropFirst().first ?? ""
        await stream.sendAll("HTTP/1.1 200 OK\r\nX-Path: \(path)\r\nContent-Length: 2\r\n\r\nok")
      }
    }
    let proxy = try ProxyFixture(upstream: upstream.port)
    let caller = try RawConnection(port: proxy.port)
    let requests = (1...20).map { "GET /\($0) HTTP/1.1\r\nHost: a\r\n\r\n" }.joined()
    // The upstream sends content to a HEAD, which it must not: that connection is not used again.
    try await caller.send(
      requests + "HEAD /21 HTTP/1.1\r\nHost: a\r\n\r\n"
        + "GET /22 HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\nGET /23 HTTP/1.1\r\nHost: a\r\n\r\n")
    let received = try await caller.receive()
    let paths = received.split(separator: "\r\n").filter { $0.hasPrefix("X-Path: ") }.map { String($0.dropFirst(8)) }
    #expect(paths == (1...22).map { "/\($0)" })
    #expect(received.ranges(of: "HTTP/1.1 200 OK\r\n").count == 22)
    #expect(upstream.accepted.count == 2)
  }

  @Test func `a caller that ends its direction behind its request still gets its answer`() async throws {
    let (asked, released) = (Tally(), Tally())
    let upstream = try LoopServer { stream, _ in
      _ = await stream.requestHead()
      _ = await stream.receiveAll(5)
      asked.signal()
      await released.wait(for: 1)
      await stream.sendAll(Self.answer)
    }
    let proxy = try ProxyFixture(upstream: upstream.port)
    let caller = try await proxy.caller(sending: "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n\r\nhello")
    await asked.wait(for: 1)
    caller.finishSending()
    // The end of the caller's direction is there as soon as the call has returned: it is on loopback.
    await proxy.takeTurns(20)
    released.signal()
    #expect(try await caller.receive().hasSuffix("\r\n\r\nok"))
  }

  @Test func `a method that a route does not take, and OPTIONS for the proxy, are answered with those that it takes`()
    async throws
  {
    let proxy = try ProxyFixture(upstream: 1, methods: ["OPTIONS", "GET"])
    let caller = try await proxy.caller(sending: "DELETE / HTTP/1.1\r\nHost: localhost\r\n\r\n")
    let refused = try await caller.receive { $0.hasSuffix("}\n") }
    #expect(statusOf(refused) == 405 && refused.contains("\r\nAllow: GET, OPTIONS\r\n"))
    // The connection goes on.
    try await caller.send("OPTIONS / HTTP/1.1\r\nHost: localhost\r\nMax-Forwards: 0\r\n\r\n")
    let own = try await caller.receive { $0.hasSuffix("\r\n\r\n") }
    #expect(own.hasPrefix("HTTP/1.1 200 OK\r\n") && own.contains("\r\nContent-Length: 0\r\n"))
    #expect(own.contains("\r\nAllow: GET, OPTIONS\r\n") && !own.contains("Connection: close"))
  }

  @Test func `an idle connection is closed after its time, used or not`() async throws {
    let upstream = try LoopServer(Self.answering)
    let proxy = try ProxyFixture(upstream: upstream.port, idle: .milliseconds(50))
    let (new, used) = (try RawConnection(port: proxy.port), try RawConnection(port: proxy.port))
    try await used.send(Self.request)
    #expect(try await used.receive().hasSuffix("ok"))
    #expect(try await new.isClosedByPeer())
  }

  // MARK: Room

  @Test func `at the limit of connections busy ones stay, the next waits, and the log says what to do`() async throws {
    let released = Tally()
    let upstream = try LoopServer { stream, _ in
      _ = await stream.requestHead()
      await released.wait(for: 1)
      await stream.sendAll(Self.answer)
    }
    let log = Locked("")
    let proxy = try ProxyFixture(
      upstream: upstream.port, connections: 2,
      log: { line in log.withLock { $0 += String(decoding: line, as: UTF8.self) } })
    let busy = try (0..<2).map { _ in try RawConnection(port: proxy.port) }
    for connection in busy { try await connection.send(Self.request) }
    await upstream.accepted.wait(for: 2)
    let next = try await proxy.caller(sending: Self.request)
    await proxy.takeTurns { log.withLock { $0.contains("accept paused") } }
    #expect(log.withLock { $0.contains("next=\"raise limits.connections, or find in the access log who keeps") })
    #expect(upstream.accepted.count == 2 && proxy.service.connectionCount == 2)
    released.signal()
    for connection in busy + [next] { #expect(try await connection.receive { $0.hasSuffix("ok") }.hasSuffix("ok")) }
  }

  @Test(arguments: [true, false])
  func `callers who wait for a token, or waited and went away, keep no connection from another route`(
    _ areGone: Bool
  ) async throws {
    let released = Tally()
    let upstream = try LoopServer(Self.answering)
    let application = Application(
      name: "demo", authority: try Authority("https://id.example"), clientID: "client",
      credential: .secret(Secret("s3cret")),
      fetch: { _ async throws(FetchError) in
        await released.wait(for: 1)
        throw .closed(host: "id.example")
      })
    // However long a busy machine takes, no caller has waited for too long.
    let broker = TokenBroker(
      TokenBroker.Surroundings(now: { UnixTime(0) }, sleep: { _ in }, patience: TokenBroker.endlessPatience))
    let proxy = try ProxyFixture(
      upstream: upstream.port, connections: 30,
      tokens: ProxyFixture.TokenPart(
        subscription: TokenSubscription(application: application, scopes: try ScopeSet(["A"])), broker: broker))
    var callers: [RawConnection] = []
    for _ in 1...60 {
      let caller = try await proxy.caller(sending: Self.request)
      if areGone { caller.finishSending() }
      callers.append(caller)
    }
    if areGone { callers = [] }
    for _ in 1...3 {
      let other = try await proxy.caller(sending: "GET /open/ HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
      #expect(statusOf(try await other.receive()) == 200)
    }
    released.signal()
    // Each caller that was ended to make room got an answer, and so does each that still waits.
    var madeRoom = 0
    for caller in callers {
      let answer = try await caller.receive { $0.hasSuffix("}\n") }
      #expect(statusOf(answer) == 503 && answer.contains("identity-provider-unavailable"), "\(answer)")
      if answer.contains("Connection: close\r\n") { madeRoom += 1 }
    }
    // One for each of the 30 that came later, and of the other route at most.
    #expect(areGone || (30...33).contains(madeRoom), "\(madeRoom) made room")
  }
}
