// Small whole exchanges against a server that answers byte by byte as a table says.

import Bytes
import HTTP
import Testing
import TestSupport

@testable import HTTPClient
@testable import Platform

@Suite(.timeLimit(.minutes(5)))
struct FetcherTests {
  /// The result of a fetch, in a form that can be compared.
  private enum Outcome: Equatable {
    case answered(Int, String)
    case failed(FetchError)

    init(_ body: () async throws(FetchError) -> FetchResponse) async {
      do throws(FetchError) {
        let response = try await body()
        self = .answered(response.status, String(decoding: response.body, as: UTF8.self))
      } catch {
        self = .failed(error)
      }
    }
  }

  private static let host = "127.0.0.1"

  private static func get(_ port: Int, path: String = "/", scheme: String = "http") throws -> FetchRequest {
    FetchRequest(.get, try HTTPURL("\(scheme)://\(host):\(port)\(path)"))
  }

  struct Row: Sendable, CustomTestStringConvertible {
    var name: String
    /// Sent as the answer to anything; then the connection is closed.
    var answer: String
    var expected: String
    var testDescription: String { name }
  }

  private static let ok = "HTTP/1.1 200 OK\r\n"

  @Test(arguments: [
    Row(name: "fixed", answer: ok + "Content-Length: 5\r\n\r\nhello", expected: "200 hello"),
    Row(name: "fixed, more behind it", answer: ok + "Content-Length: 5\r\n\r\nhello, world", expected: "200 hello"),
    Row(name: "empty", answer: ok + "Content-Length: 0\r\n\r\n", expected: "200 "),
    Row(
      name: "chunked", answer: ok + "Transfer-Encoding: chunked\r\n\r\n3\r\nhel\r\n2;a=b\r\nlo\r\n0\r\nX: y\r\n\r\n",
      expected: "200 hello"),
    Row(name: "until close", answer: "HTTP/1.0 200 OK\r\n\r\nhello", expected: "200 hello"),
    Row(name: "no content", answer: "HTTP/1.1 204 No Content\r\n\r\n", expected: "204 "),
    Row(name: "not modified", answer: "HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n", expected: "304 "),
    Row(
      name: "interim first", answer: "HTTP/1.1 103 Hints\r\nLink: x\r\n\r\n" + ok + "Content-Length: 2\r\n\r\nok",
      expected: "200 ok"),
    Row(
      name: "32 interim answers first",
      answer: String(repeating: "HTTP/1.1 102 Processing\r\n\r\n", count: 32) + ok + "Content-Length: 2\r\n\r\nok",
      expected: "200 ok"),
    Row(
      name: "more interim answers",
      answer: String(repeating: "HTTP/1.1 102 Processing\r\n\r\n", count: 33) + ok + "Content-Length: 2\r\n\r\nok",
      expected: "malformed"),
    Row(
      name: "a redirect is an answer",
      answer: "HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n", expected: "302 "),
    Row(name: "an error is an answer", answer: "HTTP/1.1 500 No\r\nContent-Length: 2\r\n\r\nno", expected: "500 no"),
    Row(name: "nothing", answer: "", expected: "closed"),
    Row(name: "half a head", answer: "HTTP/1.1 200 OK\r\nContent", expected: "closed"),
    Row(name: "half a body", answer: ok + "Content-Length: 5\r\n\r\nhel", expected: "closed"),
    Row(name: "half a chunk", answer: ok + "Transfer-Encoding: chunked\r\n\r\n5\r\nhel", expected: "closed"),
    Row(name: "no last chunk", answer: ok + "Transfer-Encoding: chunked\r\n\r\n1\r\nh\r\n", expected: "closed"),
    Row(name: "only an interim answer", answer: "HTTP/1.1 100 Continue\r\n\r\n", expected: "closed"),
    Row(name: "no HTTP", answer: "220 smtp.example ESMTP\r\n", expected: "malformed"),
    Row(
      name: "two lengths", answer: ok + "Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
      expected: "malformed"),
    Row(
      name: "a chunk that is none", answer: ok + "Transfer-Encoding: chunked\r\n\r\nhello\r\n", expected: "malformed"),
    Row(
      name: "a head without end", answer: ok + "X: " + String(repeating: "x", count: 70_000), expected: "malformed"),
    Row(name: "too large, announced", answer: ok + "Content-Length: 1048577\r\n\r\n", expected: "tooLarge"),
    Row(
      name: "too large, until close", answer: "HTTP/1.0 200 OK\r\n\r\n" + String(repeating: "x", count: 1_048_577),
      expected: "tooLarge"),
    Row(
      name: "too large, chunked",
      answer: ok + "Transfer-Encoding: chunked\r\n\r\n100001\r\n" + String(repeating: "x", count: 1_048_577),
      expected: "tooLarge"),
    Row(
      name: "just not too large",
      answer: ok + "Content-Length: 1048576\r\n\r\n" + String(repeating: "x", count: 1_048_576),
      expected: "200 " + String(repeating: "x", count: 1_048_576)),
  ])
  func `an answer is given whole, or the fetch says why not`(row: Row) async throws {
    let loop = try EventLoop()
    let server = try LoopServer(on: loop) { stream, _ in
      _ = await stream.receiveText(through: "\r\n\r\n")
      await stream.sendAll(row.answer)
    }
    let fetch = Fetcher(loop: loop, resolver: Resolver()).bound(tls: nil)
    let request = try Self.get(server.port)
    let outcome = await Outcome { () throws(FetchError) in
      try await fetch(request)
    }
    let expected: Outcome =
      switch row.expected {
      case "closed": .failed(.closed(host: Self.host))
      case "malformed": .failed(.malformed(host: Self.host))
      case "tooLarge": .failed(.tooLarge(host: Self.host))
      default: .answered(Int(row.expected.prefix(3)) ?? 0, String(row.expected.dropFirst(4)))
      }
    #expect(outcome == expected)
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
      let outcome = await Outcome { () throws(FetchError) in
        try await fetch(request)
      }
      #expect(outcome == .failed(.timedOut(host: Self.host)))
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
      #expect(await Outcome { () throws(FetchError) in try await fetch(request) } == .failed(expected))
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
    #expect(await Outcome { () throws(FetchError) in try await fetch(request) } == .answered(200, "hello"))
    #expect(await Outcome { () throws(FetchError) in try await fetch(request) } == .failed(.closed(host: Self.host)))
  }

  @Test func `a host that must be public is not reached at an address of this machine`() async throws {
    let loop = try EventLoop()
    defer { loop.shutDown() }
    let fetch = Fetcher(loop: loop, resolver: Resolver()).bound(tls: nil)
    for host in ["127.0.0.1", "localhost", "10.0.0.1", "[::1]", "[fd00::1]"] {
      var request = FetchRequest(.get, try HTTPURL("http://\(host):9/"))
      request.refusesPrivateAddresses = true
      #expect(
        await Outcome { () throws(FetchError) in try await fetch(request) }
          == .failed(.unresolved(host: request.url.host, reason: "private addresses are refused")))
    }
  }
}
