// Small whole exchanges against a server that answers byte by byte as a table says.

import Bytes
import HTTP
import Testing
import TestSupport

@testable import HTTPClient
@testable import Platform

@Suite(.timeLimit(.minutes(5)))
struct FetcherTests {
  /// The status and the content of an answer, or why there is none.
  private static func outcome(of request: FetchRequest, by fetch: Fetch) async -> Result<String, FetchError> {
    do throws(FetchError) {
      let response = try await fetch(request)
      return .success("\(response.status) \(String(decoding: response.body, as: UTF8.self))")
    } catch {
      return .failure(error)
    }
  }

  private static let host = "127.0.0.1"

  private static func get(_ port: Int, path: String = "/", scheme: String = "http") throws -> FetchRequest {
    FetchRequest(.get, try HTTPURL("\(scheme)://\(host):\(port)\(path)"))
  }

  private static let ok = "HTTP/1.1 200 OK\r\n"
  private static let chunked = ok + "Transfer-Encoding: chunked\r\n\r\n"
  private static func fixed(_ length: Int, _ content: String = "") -> String {
    ok + "Content-Length: \(length)\r\n\r\n" + content
  }
  private static func interims(_ count: Int) -> String {
    String(repeating: "HTTP/1.1 102 Processing\r\n\r\n", count: count)
  }
  private static func xs(_ count: Int) -> String { String(repeating: "x", count: count) }

  /// The answer to anything, before the connection is closed, and the result.
  static let answers: [(name: String, answer: String, expected: String)] = [
    ("fixed", fixed(5, "hello"), "200 hello"), ("fixed, more behind it", fixed(5, "hello, world"), "200 hello"),
    ("empty", fixed(0), "200 "), ("chunked", chunked + "3\r\nhel\r\n2;a=b\r\nlo\r\n0\r\nX: y\r\n\r\n", "200 hello"),
    ("until close", "HTTP/1.0 200 OK\r\n\r\nhello", "200 hello"),
    ("no content", "HTTP/1.1 204 No Content\r\n\r\n", "204 "),
    ("not modified", "HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n", "304 "),
    ("interim first", "HTTP/1.1 103 Hints\r\nLink: x\r\n\r\n" + fixed(2, "ok"), "200 ok"),
    ("32 interim answers first", interims(32) + fixed(2, "ok"), "200 ok"),
    ("more interim answers", interims(33) + fixed(2, "ok"), "malformed"),
    ("a redirect", "HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n", "302 "),
    ("an error", "HTTP/1.1 500 No\r\nContent-Length: 2\r\n\r\nno", "500 no"), ("nothing", "", "closed"),
    ("half a head", "HTTP/1.1 200 OK\r\nContent", "closed"), ("half a body", fixed(5, "hel"), "closed"),
    ("half a chunk", chunked + "5\r\nhel", "closed"), ("no last chunk", chunked + "1\r\nh\r\n", "closed"),
    ("only an interim answer", "HTTP/1.1 100 Continue\r\n\r\n", "closed"),
    ("no HTTP", "220 smtp.example ESMTP\r\n", "malformed"),
    ("two lengths", ok + "Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", "malformed"),
    ("a chunk that is none", chunked + "hello\r\n", "malformed"),
    ("a head without end", ok + "X: " + xs(70_000), "malformed"), ("too large, announced", fixed(1048577), "tooLarge"),
    ("too large, until close", "HTTP/1.0 200 OK\r\n\r\n" + xs(1_048_577), "tooLarge"),
    ("too large, chunked", chunked + "100001\r\n" + xs(1_048_577), "tooLarge"),
    ("just not too large", fixed(1048576, xs(1_048_576)), "200 " + xs(1_048_576)),
  ]

  @Test(arguments: answers)
  func `an answer is given whole, or the fetch says why not`(
    row: (name: String, answer: String, expected: String)
  ) async throws {
    let loop = try EventLoop()
    let server = try LoopServer(on: loop) { stream, _ in
      _ = await stream.receiveText(through: "\r\n\r\n")
      await stream.sendAll(row.answer)
    }
    let fetch = Fetcher(loop: loop, resolver: Resolver()).bound(tls: nil)
    let request = try Self.get(server.port)
    let expected: Result<String, FetchError> =
      switch row.expected {
      case "closed": .failure(.closed(host: Self.host))
      case "malformed": .failure(.malformed(host: Self.host))
      case "tooLarge": .failure(.tooLarge(host: Self.host))
      default: .success(row.expected)
      }
    #expect(await Self.outcome(of: request, by: fetch) == expected)
  }

  @Test func `the request is whole, and its connection serves it alone`() async throws {
    let loop = try EventLoop()
    let seen = Locked("")
    let server = try LoopServer(on: loop) { stream, _ in
      let text = await stream.receiveText(through: "grant=x")
      seen.withLock { $0 = text }
      await stream.sendAll("HTTP/1.1 200 OK\r\nX-One: 1\r\nContent-Length: 0\r\n\r\n")
    }
    let fetch = Fetcher(loop: loop, resolver: Resolver()).bound(tls: nil)
    let request = FetchRequest(
      .post(contentType: "application/x-www-form-urlencoded", body: Array("grant=x".utf8)),
      try HTTPURL("http://127.0.0.1:\(server.port)/a/token?x=y"))
    let response = try await fetch(request)
    #expect(response.value(of: "x-one") == "1")
    #expect(
      seen.withLock { $0 } == """
        POST /a/token?x=y HTTP/1.1\r
        Host: 127.0.0.1:\(server.port)\r
        accept: application/json\r
        Content-Type: application/x-www-form-urlencoded\r
        Content-Length: 7\r
        User-Agent: bearer-proxy\r
        Connection: close\r
        \r
        grant=x
        """)
    _ = try await fetch(request)
    #expect(server.accepted.count == 2)
  }

  @Test func `a server that is silent, or trickles, is given up at the time limit`() async throws {
    let loop = try EventLoop()
    let server = try LoopServer(on: loop) { stream, index in
      _ = await stream.receiveText(through: "\r\n\r\n")
      if index == 0 { _ = await stream.receiveAll() }
      let waiter = Waiter(loop)
      await stream.sendAll(Self.ok)
      while await stream.sendAll("X: y\r\n") == nil { _ = await waiter.wait(until: .now + .milliseconds(10)) }
      waiter.close()
    }
    let fetch = Fetcher(loop: loop, resolver: Resolver()).bound(tls: nil, timeout: .milliseconds(150))
    for _ in 0..<2 {
      let request = try Self.get(server.port)
      #expect(await Self.outcome(of: request, by: fetch) == .failure(.timedOut(host: Self.host)))
    }
  }

  @Test func `unreachable, unresolved and metadata addresses are told apart`() async throws {
    let loop = try EventLoop()
    let resolver = Resolver(lookUp: { host in
      host == "metadata.example"
        ? .success([SocketAddress(.ipv4(0xA9FE_A9FE, port: 0))])
        : .failure(ResolveError(host: host, reason: "Name or service not known"))
    })
    let fetch = Fetcher(loop: loop, resolver: resolver).bound(tls: nil)
    let port = try freePort()
    for (url, expected) in [
      ("http://127.0.0.1:\(port)/", FetchError.unreachable(host: "127.0.0.1", port: UInt16(port), errno: 111)),
      ("http://none.example/", .unresolved(host: "none.example", reason: "Name or service not known")),
      ("http://metadata.example/", .unresolved(host: "metadata.example", reason: "link-local addresses are refused")),
      (
        "https://127.0.0.1/",
        .tls(host: "127.0.0.1", reason: "an http authority leads to https, for which nothing is trusted")
      ),
    ] {
      let request = FetchRequest(.get, try HTTPURL(url))
      #expect(await Self.outcome(of: request, by: fetch) == .failure(expected))
    }
  }

  @Test func `over TLS, content until close is whole only with a close_notify`() async throws {
    let certificate = StandingCertificate.server
    let context = try TLSContext.server(
      TLSIdentity(certificatePath: certificate.certificateFile, keyPath: certificate.keyFile))
    let loop = try EventLoop()
    let server = try LoopServer(on: loop, tls: context) { stream, index in
      _ = await stream.receiveText(through: "\r\n\r\n")
      await stream.sendAll("HTTP/1.0 200 OK\r\n\r\nhello")
      // An attacker's way to cut an answer short.
      if index == 1 { stream.channel.close() }
    }
    let fetch = Fetcher(loop: loop, resolver: Resolver()).bound(
      tls: try .client(trustPath: StandingCertificate.authorityFile))
    let request = try Self.get(server.port, scheme: "https")
    #expect(await Self.outcome(of: request, by: fetch) == .success("200 hello"))
    #expect(await Self.outcome(of: request, by: fetch) == .failure(.closed(host: Self.host)))
  }

  @Test func `a host that must be public is not reached at an address of this machine`() async throws {
    let loop = try EventLoop()
    defer { loop.shutDown() }
    let fetch = Fetcher(loop: loop, resolver: Resolver()).bound(tls: nil)
    for host in ["127.0.0.1", "localhost", "10.0.0.1", "[::1]", "[fd00::1]"] {
      var request = FetchRequest(.get, try HTTPURL("http://\(host):9/"))
      request.refusesPrivateAddresses = true
      #expect(
        await Self.outcome(of: request, by: fetch)
          == .failure(.unresolved(host: request.url.host, reason: "private addresses are refused")))
    }
  }
}
