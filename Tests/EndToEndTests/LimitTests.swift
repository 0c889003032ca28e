// Limits and time limits, each with the answer it gives.

import Bytes
import Testing
import TestSupport

@Suite(.keepsSecrets, .timeLimit(.minutes(5)))
struct LimitTests {
  /// The request, the status, and the kind of problem.
  private static let requests: [(text: String, status: Int, problem: String)] = [
    (
      "GET /a HTTP/1.1\r\nHost: 127.0.0.1\r\nX: " + String(repeating: "y", count: 5000) + "\r\n\r\n", 431,
      "head-too-large"
    ),
    ("GET /" + String(repeating: "y", count: 3000) + " HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n", 414, "target-too-long"),
    ("POST /sink HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 1001\r\n\r\n", 413, "content-too-large"),
    (
      "POST /sink HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\n\r\n3e9\r\n"
        + String(repeating: "y", count: 1001), 413, "content-too-large"
    ),
    ("GET /a HTTP/1.1\r\nHost: 127.0.0.1\r\nBad Name: 1\r\n\r\n", 400, "bad-request"),
    ("CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n", 421, "unknown-host"),
    ("GET /a HTTP/2.0\r\nHost: 127.0.0.1\r\n\r\n", 505, "version-not-supported"),
    ("POST /sink HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 5\r\n\r\nhe", 408, "request-timeout"),
    ("GET /a HTTP/1.1\r\nHost: 127.0.0.1\r\n", 408, "request-timeout"),
  ]

  @Test func `a request over a limit gets its answer and the end of the connection`() async throws {
    let scene = try await ScriptedScene(
      top: """
        limits: {head_bytes: 4KiB, target_bytes: 2KiB, body_bytes: 1000B}
        defaults: {timeouts: {request_head: 400ms, idle: 400ms}}
        """)
    for row in Self.requests {
      let connection = try scene.proxy.connect()
      try await connection.send(row.text)
      let answer = try await connection.receive()
      #expect(statusOf(answer) == row.status, "\(row.problem): \(answer)")
      #expect(answer.contains("Content-Type: application/problem+json\r\n"))
      #expect(answer.contains("Connection: close\r\n"))
      #expect(answer.contains("problem:\(row.problem)"))
    }
  }

  @Test func `an upstream that is away, silent or slow is a 502 or 504 in time, with the reason`() async throws {
    let upstream = try await PythonPeer("scripted_upstream.py")
    func limited(_ name: String, _ way: String, _ limit: String) -> String {
      let upstream = "http://127.0.0.1:\(upstream.port)/\(way)/"
      return "  - {name: \(name), path: /\(name)/, upstream: \"\(upstream)\", token: none, timeouts: {\(limit)}}"
    }
    let proxy = try await ProxyUnderTest(
      """
      routes:
        - {name: nobody, path: /nobody/, upstream: "http://127.0.0.1:\(try freePort())/", token: none}
      \(limited("slow", "slow", "response_head: 300ms"))
      \(limited("whole", "slow", "exchange: 300ms"))
      \(limited("stall", "stall", "idle: 300ms"))
        - {name: unknown, path: /unknown/, upstream: "http://no-such-name.invalid/", token: none}
      """)
    func expect(_ reason: String) async throws {
      #expect(try await eventually { proxy.accessRecords.last?["reason"] == .string(reason) }, "\(proxy.accessRecords)")
      #expect(try await metricSum(proxy, "bearer_proxy_upstream_failures_total", "reason=\"\(reason)\"") == 1)
    }
    let nobody = try await proxy.get("/nobody/")
    #expect(nobody.status == 502 && nobody.body.contains("Connection refused"))
    try await expect("connection_refused")
    let slow = try await proxy.get("/slow/5")
    #expect(slow.status == 504 && slow.body.contains("upstream-timeout"))
    try await expect("timed_out")
    #expect(try await proxy.get("/stall/5").exit != 0)
    try await expect("stalled")
    let unknown = try await proxy.get("/unknown/")
    #expect(unknown.status == 502 && !unknown.body.contains("no-such-name"))
    try await expect("unresolved")
    let whole = try await proxy.get("/whole/5")
    #expect(whole.status == 504 && whole.body.contains("exchange-timeout"))
    #expect(try await eventually { proxy.process.errors.contains("no-such-name.invalid") })
  }
}
