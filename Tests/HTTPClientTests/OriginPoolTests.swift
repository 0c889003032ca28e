// Lending and taking back connections.

import Bytes
import Glibc
import HTTP
import TestSupport
import Testing

@testable import HTTPClient
@testable import Platform

@Suite(.timeLimit(.minutes(5)))
struct OriginPoolTests {
  private static let request = "GET / HTTP/1.0\r\n\r\n"

  /// Runs `body` with a pool of connections to a server on the same loop.
  private static func withPool(
    _ limits: PoolLimits = PoolLimits(),
    serve: @escaping @Sendable (ByteStream, Int) async -> Void = { stream, _ in _ = await stream.receiveAll() },
    _ body: @escaping @Sendable (OriginPool, Waiter) async throws -> Void
  ) async throws {
    try await onLoop { loop in
      let server = try LoopServer(on: loop, serve)
      let origin = Origin(try HTTPURL("http://127.0.0.1:\(server.port)/"), tls: nil)
      let waiter = Waiter(loop)
      try await body(OriginPool(origin, limits: limits, resolver: Resolver(), loop: loop), waiter)
      waiter.close()
      withExtendedLifetime(server) {}
    }
  }

  @Test func `the connection given back last is lent first`() async throws {
    try await Self.withPool { pool, waiter in
      let first = try await pool.connect(waiter, until: .now + .seconds(5))
      let second = try await pool.connect(waiter, until: .now + .seconds(5))
      #expect(!first.isReused)
      pool.giveBack(first)
      pool.giveBack(second)
      #expect(pool.idleCount == 2)
      let lent = [pool.lease(), pool.lease(), pool.lease()]
      #expect(lent[0] === second && lent[1] === first && lent[2] == nil)
      #expect(first.isReused && second.isReused)
      first.close()
      second.close()
    }
  }

  @Test func `no more than the limit is kept`() async throws {
    try await Self.withPool(PoolLimits(maximumIdle: 1)) { pool, waiter in
      let first = try await pool.connect(waiter, until: .now + .seconds(5))
      let second = try await pool.connect(waiter, until: .now + .seconds(5))
      pool.giveBack(first)
      pool.giveBack(second)
      #expect(pool.idleCount == 1)
      #expect(second.stream.channel.descriptor < 0)
      pool.closeIdle()
      #expect(first.stream.channel.descriptor < 0)
    }
  }

  @Test(arguments: ["closed", "spoken on"])
  func `a connection that the peer has closed, or spoken on unasked, is not lent`(end: String) async throws {
    try await Self.withPool(
      serve: { stream, _ in
        _ = await stream.receiveAll(1)
        if end == "spoken on" {
          await stream.sendAll("HTTP/1.1 408 Request Timeout\r\n\r\n")
          _ = await stream.receiveAll()
        }
      }
    ) { pool, waiter in
      for sweeps in [false, true] {
        let connection = try await pool.connect(waiter, until: .now + .seconds(5))
        pool.giveBack(connection)
        #expect(pool.idleCount == 1)
        await connection.stream.sendAll("x")
        waiter.watch(connection.stream.channel, .read)
        #expect(await waiter.wait(until: .now + .seconds(5)) == .ready)
        if sweeps { pool.sweep() } else { #expect(pool.lease() == nil) }
        #expect(pool.idleCount == 0)
        #expect(connection.stream.channel.descriptor < 0)
      }
    }
  }

  @Test func `an end that the loop has not heard of yet is seen for a request that cannot be sent twice`() async throws
  {
    let far = Locked<[ByteStream]>([])
    let accepted = Tally()
    try await Self.withPool(
      serve: { stream, _ in
        far.withLock { $0.append(stream) }
        accepted.signal()
        _ = await stream.receiveAll()
      }
    ) { pool, waiter in
      let connection = try await pool.connect(waiter, until: .now + .seconds(5))
      pool.giveBack(connection)
      await accepted.wait(for: 1)
      // Until the next suspension the loop hears of nothing. The kernel does.
      far.withLock { $0 }[0].closeWrite()
      var question = pollfd(fd: connection.stream.channel.descriptor, events: Int16(POLLIN), revents: 0)
      #expect(poll(&question, 1, 60_000) == 1)
      let unaware = pool.lease()
      #expect(unaware === connection)
      if let unaware { pool.giveBack(unaware) }
      #expect(pool.lease(looksOnceMore: true) == nil)
      #expect(pool.idleCount == 0)
    }
  }

  @Test func `a connection that has been idle too long is neither lent nor kept`() async throws {
    try await Self.withPool(PoolLimits(idleTimeout: .milliseconds(20))) { pool, waiter in
      for sweeps in [false, true] {
        let connection = try await pool.connect(waiter, until: .now + .seconds(5))
        pool.giveBack(connection)
        pool.sweep()
        #expect(pool.idleCount == 1)
        _ = await waiter.wait(until: .now + .milliseconds(30))
        if sweeps { pool.sweep() } else { #expect(pool.lease() == nil) }
        #expect(connection.stream.channel.descriptor < 0)
      }
    }
  }

  /// Why there is no connection to a URL in time; nil if there is one.
  private static func failure(
    _ url: String, tls: TLSContext? = nil, proxy: ProxyAddress? = nil, resolver: Resolver = Resolver(),
    _ waiter: Waiter, _ limit: TimeSpan
  ) async throws -> UpstreamError? {
    let origin = Origin(try HTTPURL(url), tls: tls, proxy: proxy)
    let pool = OriginPool(origin, limits: PoolLimits(), resolver: resolver, loop: waiter.loop)
    do throws(UpstreamError) {
      try await pool.connect(waiter, until: .now + limit).close()
      return nil
    } catch {
      return error
    }
  }

  @Test func `a name that leads to a metadata service is refused, and its other addresses are used`() async throws {
    try await onLoop { loop in
      let server = try LoopServer(on: loop) { _, _ in }
      let metadata = SocketAddress(.ipv4(0xA9FE_A9FE, port: 0))
      let resolver = Resolver(lookUp: { host in
        .success(host == "mixed.example" ? [metadata, SocketAddress(.ipv4(0x7F00_0001, port: 0))] : [metadata])
      })
      let waiter = Waiter(loop)
      for (host, expected) in [("mixed.example", nil), ("metadata.example", UpstreamError.connect(.forbiddenAddress))] {
        let url = "http://\(host):\(server.port)/"
        #expect(try await Self.failure(url, resolver: resolver, waiter, .seconds(5)) == expected)
      }
      waiter.close()
    }
  }

  /// A proxy's answer, its result, and if the origin is then at the other end.
  static let answers: [(answer: String, failure: UpstreamError?)] = [
    ("HTTP/1.1 200 Connection established\r\n\r\n", nil),
    ("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.0 204 Yes\r\nX: y\r\n\r\n", nil),
    ("HTTP/1.1 407 Who\r\nProxy-Authenticate: Basic\r\nContent-Length: 0\r\n\r\n", .proxy(.credentials)),
    ("HTTP/1.1 403 No\r\n\r\n", .proxy(.status(403))),
    ("HTTP/1.1 302 Elsewhere\r\nLocation: http://x/\r\n\r\n", .proxy(.status(302))),
    ("HTTP/1.1 200 Yes\r\n\r\nand more", .proxy(.malformed)),
    ("SSH-2.0-OpenSSH\r\n", .proxy(.malformed)),
    ("HTTP/1.1 200", .proxy(.closed)),
    (String(repeating: "HTTP/1.1 102 Wait\r\n\r\n", count: 33) + "HTTP/1.1 200 Yes\r\n\r\n", .proxy(.malformed)),
  ]

  @Test(arguments: answers)
  func `a tunnel is what a proxy says it is, and nothing else`(answer: String, failure: UpstreamError?) async throws {
    try await onLoop { loop in
      let seen = Locked<[String]>([])
      let server = try LoopServer(on: loop) { stream, _ in
        let head = await stream.receiveText(through: "\r\n\r\n")
        seen.withLock { $0.append(head) }
        await stream.sendAll(answer)
        if failure == nil {
          _ = await stream.receiveText(through: "hello")
          await stream.sendAll("from beyond")
        }
      }
      let waiter = Waiter(loop)
      let proxy = try ProxyAddress("http://u:p@127.0.0.1:\(server.port)")
      // No resolver here knows the name.
      let origin = Origin(try HTTPURL("http://only.beyond.test:81/"), tls: nil, proxy: proxy)
      let pool = OriginPool(origin, limits: PoolLimits(), resolver: Resolver(), loop: loop)
      do throws(UpstreamError) {
        let connection = try await pool.connect(waiter, until: .now + .seconds(5))
        #expect(failure == nil)
        await connection.stream.sendAll("hello")
        #expect(await connection.stream.receiveText(through: "beyond") == "from beyond")
        connection.close()
      } catch {
        #expect(error == failure)
      }
      #expect(
        seen.withLock { $0 } == [
          "CONNECT only.beyond.test:81 HTTP/1.1\r\nHost: only.beyond.test:81\r\nProxy-Authorization: Basic dTpw\r\n"
            + "User-Agent: bearer-proxy\r\n\r\n"
        ])
      #expect(!"\(proxy)".contains("dTpw") && !"\(origin)".contains("dTpw"))
      waiter.close()
    }
  }

  @Test func `a proxy is asked for no metadata service, and one that is silent or away is no wait without end`()
    async throws
  {
    try await onLoop { loop in
      let server = try LoopServer(on: loop) { stream, _ in _ = await stream.receiveAll() }
      let waiter = Waiter(loop)
      let silent = try ProxyAddress("127.0.0.1:\(server.port)")
      let away = try ProxyAddress("127.0.0.1:\(try freePort())")
      let rows: [(url: String, proxy: ProxyAddress, failure: UpstreamError)] = [
        ("http://169.254.169.254/", silent, .connect(.forbiddenAddress)),
        ("http://[fe80::1]/", silent, .connect(.forbiddenAddress)),
        ("http://a.test/", silent, .timedOut),
        ("http://a.test/", away, .proxyUnreachable(.refused(SystemError("connect", ECONNREFUSED)))),
      ]
      for (url, proxy, failure) in rows {
        #expect(try await Self.failure(url, proxy: proxy, waiter, .milliseconds(300)) == failure)
      }
      waiter.close()
    }
  }

  @Test func `a server that accepts but never shakes hands is given up at the deadline`() async throws {
    let context = try TLSContext.client(trustPath: StandingCertificate.authorityFile)
    try await onLoop { loop in
      let server = try LoopServer(on: loop) { stream, _ in _ = await stream.receiveAll() }
      let waiter = Waiter(loop)
      // A signal to the same waiter for another reason does not end the attempt.
      waiter.signal()
      let url = "https://127.0.0.1:\(server.port)/"
      #expect(try await Self.failure(url, tls: context, waiter, .milliseconds(100)) == .timedOut)
      waiter.close()
    }
  }
}
