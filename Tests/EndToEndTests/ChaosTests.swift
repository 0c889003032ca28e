// Faults between every two steps of an exchange, from both sides: every wait ends, nothing leaks, and no caller gets
// another's bytes.

import Testing
import TestSupport

@Suite(.keepsSecrets, .timeLimit(.minutes(4)))
struct ChaosTests {
  /// A fault, and how each exchange with it ends: `broken`, `whole`, `left`, or with a status.
  private static let rows: [(fault: String, end: String)] = [
    ("none", "whole"), ("slow", "whole"), ("close-before", "502"), ("reset-before", "502"), ("stall-before", "504"),
    ("close-head", "502"), ("reset-head", "502"), ("stall-head", "504"), ("close-body", "broken"),
    ("reset-body", "broken"), ("stall-body", "broken"), ("close-after", "whole"), ("early", "whole"),
    ("break-before", "502"), ("break-head", "502"), ("break-body", "broken"),
    ("garbage", "502"), ("two-answers", "whole"),
    ("caller-leaves-head", "left"), ("caller-leaves-body", "left"), ("caller-resets-head", "left"),
    ("caller-resets-body", "left"), ("caller-breaks-head", "left"), ("caller-breaks-body", "left"),
    ("caller-resets-answer", "left"), ("caller-stalls-head", "408"), ("caller-stalls-body", "408"),
    ("caller-leaves-answer", "left"), ("caller-half-closes", "whole"),
  ]

  /// Plain or TLS, towards the caller and towards the upstream.
  @Test(arguments: [(false, false), (true, true)])
  func `a fault at any step from either side ends its exchange, and touches no other`(
    _ tls: (caller: Bool, upstream: Bool)
  )
    async throws
  {
    let authority = try await CertificateAuthority()
    let certificate = try await authority.issue("both")
    let upstream = try await PythonPeer(
      "chaos.py", ["upstream"] + (tls.upstream ? certificate.options : []))
    let demanding = try await PythonPeer(
      "chaos.py", ["upstream", "--callers-ca", authority.file] + certificate.options)
    let address = "\(tls.upstream ? "https" : "http")://127.0.0.1:\(upstream.port)/"
    let listenerTLS = tls.caller ? "tls: {\(certificate.tls)}" : ""
    let proxy = try await ProxyUnderTest(
      """
      loops: 1
      listeners:
        - address: 127.0.0.1:PORT
          \(listenerTLS)
      log: {access: false}
      defaults:
        tls: {ca_file: \(authority.file)}
        timeouts: {request_head: 3s, response_head: 60s, idle: 60s}
        pool: {max_idle: 0}
      routes:
        - {name: all, path: /, upstream: "\(address)", token: none}
        - name: brief
          path: /brief/
          upstream: "\(address)"
          token: none
          timeouts: {response_head: 500ms, idle: 500ms}
        - {name: demanding, path: /demanding/, upstream: "https://127.0.0.1:\(demanding.port)/", token: none}
        - {name: refused, path: /refused/, upstream: "http://127.0.0.1:\(try freePort())/", token: none}
      """)
    let fixed =
      (tls.caller ? ["--ca", authority.file] : []) + ["--method", "POST", "--framing", "chunked", "--size", "3000"]
    // Memory that the first exchange allocates stays.
    _ = try await Chaos.run(1, port: proxy.port, fixed + ["--fault", "none"])
    let before = proxy.process.openDescriptors
    for (fault, end) in Self.rows {
      // Only who stalls meets a time limit: on a busy machine the others may be slower than half a second, too.
      let prefix = fault.contains("stall") ? ["--prefix", "/brief"] : []
      let chaos = try await Chaos.run(8, port: proxy.port, fixed + prefix + ["--fault", fault, "--at-once", "4"])
      #expect(chaos.counts == [end: 8] && chaos.wrongs == [], "\(fault): \(chaos)")
    }
    let refused = try await Chaos.run(8, port: proxy.port, fixed + ["--prefix", "/refused", "--fault", "refused"])
    #expect(refused.counts == ["502": 8], "\(refused)")
    // With TLS 1.3 this alert comes when the handshake is over for the proxy, in the middle of the request.
    let alerted = try await Chaos.run(
      8, port: proxy.port, fixed + ["--prefix", "/demanding", "--fault", "none", "--at-once", "1"])
    #expect(alerted.counts["502"] == 8, "\(alerted)")
    let areClosed = try await eventually { proxy.process.openDescriptors.count <= before.count }
    #expect(areClosed, "\(before) before, \(proxy.process.openDescriptors) after")
    #expect(try await eventually { try await metricSum(proxy, "bearer_proxy_connections_open ") == 0 })
  }

  /// A moment of Tests/soak-chaos.
  @Test func `of thousands of exchanges that break anywhere, those that look whole are`() async throws {
    let upstream = try await PythonPeer("chaos.py", ["upstream"])
    let proxy = try await ProxyUnderTest(
      """
      log: {access: false}
      routes: [{name: all, path: /, upstream: "http://127.0.0.1:\(upstream.port)/", token: none}]
      """)
    let chaos = try await Chaos.run(2000, port: proxy.port)
    #expect(chaos.wrongs == [])
    #expect(chaos.counts["hung"] == nil && chaos.counts["whole", default: 0] > 1000, "\(chaos)")
    #expect(try await eventually { try await metricSum(proxy, "bearer_proxy_connections_open ") == 0 })
  }

  /// A moment of Tests/soak-chaos --http2.
  @Test func `the same holds for streams of HTTP 2 on either side, with resets, GOAWAYs and stalls in between`()
    async throws
  {
    let authority = try await CertificateAuthority()
    let certificate = try await authority.issue("both")
    let old = try await PythonPeer("chaos.py", ["upstream"])
    let new = try await PythonPeer("chaos_http2.py", ["upstream"])
    let secured = try await PythonPeer("chaos_http2.py", ["upstream"] + certificate.options)
    let proxy = try await ProxyUnderTest(
      """
      log: {access: false}
      defaults: {tls: {ca_file: \(authority.file)}}
      routes:
        - {name: old, path: /, upstream: "http://127.0.0.1:\(old.port)/", token: none}
        - {name: new, path: /new/, upstream: "http://127.0.0.1:\(new.port)/", token: none, protocol: http2}
        - {name: tls, path: /tls/, upstream: "https://127.0.0.1:\(secured.port)/", token: none, protocol: auto}
      """)
    for (peer, count, way) in [
      ("chaos_http2.py", 150, []), ("chaos.py", 150, ["--prefix", "/tls", "--upstream-http2"]),
      ("chaos_http2.py", 200, ["--prefix", "/new", "--upstream-http2"]),
    ] {
      let chaos = try await Chaos.run(count, port: proxy.port, way, peer: peer)
      #expect(chaos.wrongs == [] && chaos.counts["unlucky", default: 0] < 2, "\(peer) \(way): \(chaos)")
      #expect(chaos.counts["hung"] == nil && chaos.counts["whole", default: 0] > count / 2, "\(chaos)")
    }
    #expect(try await metricSum(proxy, "bearer_proxy_upstream_http2_requests_total ") > 250)
    for metric in ["bearer_proxy_connections_open ", "bearer_proxy_http2_streams_open "] {
      #expect(try await eventually { try await metricSum(proxy, metric) == 0 })
    }
  }
}
