// Messages that are valid and rare, by callers and upstreams that send bytes to order: what has to pass passes, and
// what has to end at this hop ends here.

import Testing
import TestSupport

@Suite(.keepsSecrets, .timeLimit(.minutes(2)))
struct MessageTests {
  private func hex(_ text: String) -> String { text.utf8.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined() }

  @Test func `an upstream's redirect within itself does not lead to an authority of its choice`() async throws {
    let scene = try await ScriptedScene()
    let origin = "http://127.0.0.1:\(scene.upstream.port)"
    for (place, expected) in [
      ("\(origin)//evil.test/x", "/.//evil.test/x"),
      ("//127.0.0.1:\(scene.upstream.port)//evil.test/x", "/.//evil.test/x"),
      ("\(origin)/\\evil.test/x", "\(origin)/\\evil.test/x"),
      ("\(origin)/\t/evil.test/x", "\(origin)/\t/evil.test/x"),
      ("https:evil.test", "https:evil.test"), ("\(origin)/seen?a", "/seen?a"), (origin, "/"),
      ("https://elsewhere.example//x", "https://elsewhere.example//x"),
    ] {
      let answer = try await scene.proxy.get("/location/" + hex(place))
      #expect(answer["location"] == expected, "\(place)")
      #expect(answer["content-location"] == expected, "\(place)")
    }
    // The place that was written is found by a caller who follows it.
    let followed = try await scene.proxy.get("/location/" + hex("\(origin)//seen"), ["-L"])
    #expect(followed.body.hasPrefix("GET //seen HTTP/1.1\r\n"))
  }

  @Test func `a redirect to the host that the upstream was told leads through the proxy`() async throws {
    let scene = try await ScriptedScene(route: "    preserve_host: true")
    let own = "http://127.0.0.1:\(scene.proxy.port)"
    #expect(try await scene.proxy.get("/location/" + hex("\(own)/seen"))["location"] == "/seen")
    #expect(try await scene.proxy.get("/location/" + hex("\(own)//evil.test/"))["location"] == "/.//evil.test/")
    let elsewhere = "http://other.example/seen"
    #expect(try await scene.proxy.get("/location/" + hex(elsewhere))["location"] == elsewhere)
  }

  @Test func `chunks with sizes of eight digits and with signatures pass, however many there are`() async throws {
    let scene = try await ScriptedScene()
    let connection = try scene.proxy.connect()
    try await connection.send(
      "POST /sink HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\n\r\n"
        + String(repeating: "00000001\r\nx\r\n", count: 2500)
        + String(repeating: "1;chunk-signature=\(String(repeating: "a", count: 64))\r\nx\r\n", count: 600) + "0\r\n\r\n"
    )
    #expect(try await connection.receive { $0.contains("}") }.contains(#""bytes": 3100"#))
    let wide = try await scene.proxy.get("/wide-chunks/\(24 << 20)")
    #expect(wide.exit == 0 && wide.body.utf8.count == 24 << 20)
    let signed = try await scene.proxy.get("/signed-chunks/600")
    #expect(signed.exit == 0 && signed.body.utf8.count == 600)
    let endless = try scene.proxy.connect()
    try await endless.send(
      "POST /sink HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\n\r\n"
        + String(repeating: "1;a=\(String(repeating: "b", count: 1000))\r\nx\r\n", count: 100))
    #expect(statusOf(try await endless.receive()) == 400)
  }

  @Test func `trailer fields that Connection nominates end here, both ways`() async throws {
    let scene = try await ScriptedScene()
    let connection = try scene.proxy.connect()
    try await connection.send("GET /nominated HTTP/1.1\r\nHost: 127.0.0.1\r\nTE: trailers\r\n\r\n")
    let answer = try await connection.receive { $0.contains("\r\n0\r\n") && $0.hasSuffix("\r\n\r\n") }
    #expect(answer.hasSuffix("\r\n0\r\nX-Kept: end\r\n\r\n"))
    try await connection.send(
      "POST /sink HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: X-Listed\r\nTransfer-Encoding: chunked\r\n\r\n"
        + "5\r\nhello\r\n0\r\nx-listed: hop\r\nX-Kept: end\r\n\r\n")
    #expect(try await connection.receive { $0.contains("}}") }.contains(#""trailers": {"x-kept": "end"}"#))
  }

  @Test func `a caller that waits for the 100 of a slow upstream gets 504`() async throws {
    let scene = try await ScriptedScene(top: "defaults: {timeouts: {response_head: 400ms}}")
    let patient = try scene.proxy.connect()
    try await patient.send(
      "POST /mute/20 HTTP/1.1\r\nHost: 127.0.0.1\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n")
    let answer = try await patient.receive()
    #expect(statusOf(answer) == 504 && answer.contains("problem:upstream-timeout"))
    #expect(try await scene.counter("bearer_proxy_limits_hit_total", #"limit="response_head""#) == 1)
  }

  @Test func `a caller that stops before or after the 100 gets 408`() async throws {
    let scene = try await ScriptedScene(top: "limits: {caller_rate: 1MiB}\ndefaults: {timeouts: {idle: 2s}}")
    let stopped = try scene.proxy.connect()
    let impatient = try scene.proxy.connect()
    try await stopped.send(
      "POST /sink HTTP/1.1\r\nHost: 127.0.0.1\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n")
    try await impatient.send(
      "POST /mute/20 HTTP/1.1\r\nHost: 127.0.0.1\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\nhe")
    let interim = try await stopped.receive { $0.hasSuffix("\r\n\r\n") }
    #expect(interim == "HTTP/1.1 100 Continue\r\n\r\n")
    #expect(statusOf(try await stopped.receive()) == 408)
    #expect(statusOf(try await impatient.receive()) == 408)
  }

  @Test func `an HTTP/1.0 caller's expectation and empty elements of Via go no further`() async throws {
    let scene = try await ScriptedScene()
    let connection = try scene.proxy.connect()
    try await connection.send(
      "POST /seen HTTP/1.0\r\nExpect: 100-continue\r\nVia:\r\nVia: ,\r\nContent-Length: 2\r\n\r\nhi")
    let answer = try await connection.receive()
    #expect(answer.hasPrefix("HTTP/1.1 200") && !answer.contains("Expect"))
    #expect(answer.contains("\r\nVia: 1.0 bearer-proxy"))
  }

  @Test func `an https target on a listener without TLS, and a host that is no address, are refused`() async throws {
    let scene = try await ScriptedScene()
    let rows = [
      ("GET https://127.0.0.1/seen HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n", 421),
      ("GET http://127.0.0.1/seen HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n", 200),
      ("GET /seen HTTP/1.1\r\nHost: [1::2::3]\r\n\r\n", 400), ("GET /seen HTTP/1.1\r\nHost: [1]\r\n\r\n", 400),
      ("GET /seen HTTP/1.1\r\nHost: [::1]\r\n\r\n", 421),
    ]
    for (request, status) in rows {
      let connection = try scene.proxy.connect()
      try await connection.send(request)
      #expect(statusOf(try await connection.receive { $0.contains("\r\n\r\n") }) == status, "\(request)")
    }
  }
}
