// HTTP/1.1 as callers and upstreams we did not write speak it: framing, interim answers, early answers, broken peers.

import Glibc
import Testing
import TestSupport

@Suite(.keepsSecrets, .timeLimit(.minutes(5)))
struct ExchangeTests {
  @Test func `an upload arrives byte for byte, in the framing it was sent in`() async throws {
    let scene = try await ScriptedScene()
    let digest = try await succeed(["sha256sum", try binary()]).prefix(64)
    for framing in ["length", "chunked"] {
      let chunked = framing == "chunked" ? ["-H", "Transfer-Encoding: chunked"] : []
      let answer = try await scene.proxy.get(
        "/sink", chunked + ["-H", "Expect:", "--data-binary", "@\(try binary())"])
      #expect(answer.body.contains(String(digest)))
      #expect(answer.body.contains(#""framing": "\#(framing)""#))
    }
  }

  @Test func `a download arrives whole, whatever ends it`() async throws {
    let scene = try await ScriptedScene()
    for (kind, field) in [
      ("bytes", "content-length"), ("chunked", "transfer-encoding"), ("until-close", "transfer-encoding"),
    ] {
      let answer = try await scene.proxy.get("/\(kind)/3000000")
      #expect(answer.exit == 0 && answer.body.utf8.count == 3_000_000, "\(kind)")
      #expect(answer[field] != nil, "\(kind)")
    }
  }

  @Test func `an HTTP/1.0 caller gets no chunks, and keeps its connection if it asks to and can`() async throws {
    let scene = try await ScriptedScene()
    let chunked = try scene.proxy.connect()
    try await chunked.send("GET /chunked/15 HTTP/1.0\r\nConnection: keep-alive\r\n\r\n")
    let text = try await chunked.receive()
    #expect(text.hasSuffix("\r\n\r\n" + String(repeating: "x", count: 15)))
    #expect(text.contains("Connection: close") && !text.contains("Transfer-Encoding"))
    let fixed = try scene.proxy.connect()
    for _ in 1...2 {
      try await fixed.send("GET /bytes/3 HTTP/1.0\r\nConnection: keep-alive\r\n\r\n")
      #expect(try await fixed.receive { $0.hasSuffix("xxx") }.contains("Connection: keep-alive"))
    }
  }

  @Test func `trailers and interim answers pass, HEAD, 204 and 304 have no content`() async throws {
    let scene = try await Scene()
    let scripted = try await ScriptedScene()
    let connection = try scripted.proxy.connect()
    try await connection.send("GET /interim HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
    let interim = try await connection.receive { $0.hasSuffix("final\n") }
    #expect(interim.hasPrefix("HTTP/1.1 103 Early Hints\r\nLink: </style.css>\r\n\r\nHTTP/1.1 200 OK\r\n"))
    try await connection.send("HEAD /bytes/1000 HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
    #expect(try await connection.receive { $0.hasSuffix("\r\n\r\n") }.contains("Content-Length: 1000\r\n"))
    try await connection.send("GET /trailers HTTP/1.1\r\nHost: 127.0.0.1\r\nTE: trailers\r\n\r\n")
    #expect(
      try await connection.receive { $0.hasSuffix("\r\n\r\n") && $0.contains("\r\n0\r\n") }.hasSuffix(
        "\r\n0\r\nX-Checksum: abc123\r\n\r\n"))
    #expect(try await scene.proxy.get("/open/nothing").status == 204)
    let whole = try await scene.proxy.get("/open/files/1k")
    let tag = try #require(whole["etag"])
    #expect(try await scene.proxy.get("/open/files/1k", ["-H", "If-None-Match: \(tag)"]).status == 304)
  }

  @Test func `fields about one connection end here, and the others pass with the chain grown`() async throws {
    let scene = try await Scene()
    let fields = ["Connection: X-Listed, close", "X-Listed: 1", "X-Kept: 2", "Via: 1.0 edge"]
    let answer = try await scene.proxy.get("/open/echo", fields.flatMap { ["-H", $0] })
    #expect(answer.echoed("x-listed") == "" && answer.echoed("x-kept") == "2")
    // The name is the process's own, and the same in both directions.
    let via = try #require(answer["via"])
    #expect(via.hasPrefix("1.1 bearer-proxy-") && answer.echoed("via") == "1.0 edge, \(via)")
    let scripted = try await ScriptedScene()
    let twice = try await scripted.proxy.get("/twice")
    #expect(twice.fields.filter { $0.name == "set-cookie" }.map(\.value) == ["a=1", "b=2"])
    #expect(twice["x-kept"] == "stays")
    for name in ["x-listed", "keep-alive", "proxy-authenticate", "upgrade"] { #expect(twice[name] == nil, "\(name)") }
  }

  @Test func `a redirect is handed to the caller, and so is a 401`() async throws {
    let scene = try await Scene()
    let moved = try await scene.proxy.get("/open/moved")
    #expect(moved.status == 302 && moved["location"] == "https://elsewhere.example/")
    let refused = try await scene.proxy.get("/open/refused")
    #expect(refused.status == 401 && refused["www-authenticate"] == #"Bearer realm="orders""#)
  }

  @Test func `a gigabyte each way leaves the memory flat`() async throws {
    let scene = try await ScriptedScene()
    _ = try await scene.proxy.get("/bytes/1000")
    let before = scene.proxy.process.residentBytes
    async let up = succeed(
      ["sh", "-c", "head -c 1000000000 /dev/zero | curl -s -H Expect: -T - -X POST \(scene.proxy.url("/sink"))"])
    async let down = succeed(["sh", "-c", "curl -s \(scene.proxy.url("/chunked/300000000")) | (sleep 1; wc -c)"])
    var most = 0
    for _ in 0..<20 {
      try await Task.sleep(for: .milliseconds(50))
      most = max(most, scene.proxy.process.residentBytes)
    }
    #expect(try await up.contains(#""bytes": 1000000000"#))
    #expect(try await down == "300000000\n")
    most = max(most, scene.proxy.process.residentBytes)
    // The address sanitizer keeps what was freed for a while; a body kept whole would be a gigabyte.
    #expect(most - before < 32 << 20)
  }
}
