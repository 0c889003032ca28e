// A proxy's duties towards the hops before and behind it: forwarding fields, ends of loops, answers about an
// upstream that answers wrongly, and the paths and targets that a configuration permits.

import Bytes
import Glibc
import Testing
import TestSupport

@Suite(.keepsSecrets, .timeLimit(.minutes(2)))
struct HopTests {
  private func hex(_ text: String) -> String { text.utf8.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined() }

  @Test func `a request that comes back to the process that sent it ends there`() async throws {
    let directory = (try TemporaryDirectory(), try TemporaryDirectory())
    let ports = (try freePort(), try freePort())
    func routes(to port: Int) -> String {
      "routes: [{name: round, path: /, upstream: \"http://127.0.0.1:\(port)/\", token: none}]"
    }
    let first = try await ProxyUnderTest(in: directory.0, port: ports.0, routes(to: ports.1))
    let second = try await ProxyUnderTest(in: directory.1, port: ports.1, routes(to: ports.0))
    let answer = try await first.get("/x")
    #expect(answer.status == 508 && answer.body.contains("problem:loop-detected"))
    #expect(try await eventually { first.accessRecords.count == 2 && second.accessRecords.count == 1 })
    #expect(first.accessRecords.allSatisfy { $0["status"] == .integer(508) })
  }

  /// The upstream's answer, or the order for it.
  private static let faults: [(answer: String, status: Int, reason: String, words: String)] = [
    ("this is no HTTP at all\r\n\r\n", 502, "status_line", "answered without a status line"),
    ("HTTP/2.0 200 OK\r\n\r\n", 502, "version", "in another version"),
    ("HTTP/1.1 200 OK\r\nBad Name: x\r\n\r\n", 502, "field_line", "a field line that is none"),
    ("/big-head", 502, "head_too_large", "over the limits"),
    ("HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab", 502, "content_length", "two lengths"),
    (
      "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n", 502, "transfer_encoding",
      "a Transfer-Encoding"
    ),
    ("HTTP/1.1 200 OK\r\nConnection: a b\r\n\r\n", 502, "connection_options", "a Connection field"),
    ("HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n", 502, "unasked_switch", "not asked for"),
    (String(repeating: "HTTP/1.1 103 Early Hints\r\n\r\n", count: 40), 502, "interim_answers", "one interim answer"),
    ("", 502, "closed", "before it had answered"),
    ("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nab", 200, "cut_short", "ended in the middle"),
    ("/reset", 200, "reset", "reset the connection in the middle"),
    (
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\nzz\r\n", 200, "chunked_coding",
      "the chunked coding"
    ),
    (
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n0\r\nBad Name: x\r\n\r\n", 200, "trailers",
      "trailer"
    ),
  ]

  @Test func `the fault of an answer is in the record, the metric and the status`() async throws {
    let scene = try await ScriptedScene()
    for row in Self.faults {
      let before = scene.proxy.accessRecords.count
      _ = try await scene.proxy.get(row.answer.hasPrefix("/") ? row.answer : "/raw/" + hex(row.answer))
      #expect(try await eventually { scene.proxy.accessRecords.count == before + 1 })
      let record = try #require(scene.proxy.accessRecords.last)
      #expect(record["outcome"] == .string("upstream_failed"), "\(row.reason)")
      #expect(record["reason"] == .string(row.reason) && record["status"] == .integer(Int64(row.status)), "\(record)")
      let labels = "route=\"all\",reason=\"\(row.reason)\""
      #expect(try await metricSum(scene.proxy, "bearer_proxy_upstream_failures_total", labels) == 1, "\(row.reason)")
      #expect(try await scene.proxy.admin("/status").body.contains(row.words), "\(row.reason)")
    }
    let whole = try await scene.proxy.get("/seen")
    #expect(whole.status == 200)
    #expect(try await eventually { scene.proxy.accessRecords.last?["outcome"] == .string("completed") })
    #expect(scene.proxy.accessRecords.last?["reason"] == nil)
    #expect(!(try await scene.proxy.admin("/status").body.contains("upstream failing")))
  }

  @Test func `an upstream to which no connection can be made is told apart by the reason`() async throws {
    let authority = try await CertificateAuthority()
    let nginx = try await NginxUpstream(certificate: authority.issue("upstream"))
    let outbound = try await PythonPeer("connect_proxy.py", ["--status", "403"])
    // Its queue is full with one connection: the kernel answers no other.
    let full = try FullListener()
    let proxy = try await ProxyUnderTest(
      """
      routes:
        - {name: tls, path: /tls/, upstream: "https://127.0.0.1:\(nginx.tlsPort)/", token: none}
        - {name: proxy, path: /proxy/, upstream: "https://127.0.0.1:\(nginx.tlsPort)/", token: none,
           proxy: "http://127.0.0.1:\(outbound.port)"}
        - {name: full, path: /full/, upstream: "http://127.0.0.1:\(full.port)/", token: none, timeouts: {connect: \
      300ms}}
      """)
    for (path, status, kind, reason, words) in [
      ("/tls/", 502, "upstream-unreachable", "tls", "TLS: certificate verify failed"),
      ("/proxy/", 502, "upstream-unreachable", "proxy", "the proxy on the way there"),
      ("/full/", 504, "upstream-timeout", "connect_timed_out", "no connection within the time limit"),
    ] {
      let answer = try await proxy.get(path)
      #expect(answer.status == status && answer.body.contains("problem:\(kind)"), "\(path) \(answer.body)")
      #expect(try await eventually { proxy.accessRecords.last?["reason"] == .string(reason) }, "\(proxy.accessRecords)")
      #expect(try await metricSum(proxy, "bearer_proxy_upstream_failures_total", "reason=\"\(reason)\"") == 1)
      #expect(try await proxy.admin("/status").body.contains(words))
    }
  }

  @Test(.enabled(if: CacheTroubleTests.Mount.isPossible, "only root may give a process another /etc/hosts"))
  func `a name that leads to a metadata service is not connected to, and the reason says so`() async throws {
    let directory = try TemporaryDirectory()
    let hosts = try directory.write("169.254.169.254 orders.example\n", to: "hosts")
    let proxy = try await ProxyUnderTest(
      in: directory,
      launcher: [
        "unshare", "--mount", "--propagation", "private", "sh", "-c", #"mount --bind "$0" /etc/hosts && exec "$@""#,
        hosts,
      ], "routes: [{name: all, path: /, upstream: \"http://orders.example/\", token: none}]")
    let answer = try await proxy.get("/latest/meta-data")
    #expect(answer.status == 502 && answer.body.contains("link-local or metadata address"), "\(answer.body)")
    #expect(try await eventually { proxy.accessRecords.last?["reason"] == .string("forbidden_address") })
    #expect(try await metricSum(proxy, "bearer_proxy_upstream_failures_total", "reason=\"forbidden_address\"") == 1)
  }
}

/// A listener of 127.0.0.1 whose queue is full: further connections to it are not made.
private final class FullListener {
  let port: Int
  private let descriptor: Int32
  private let connection: RawConnection

  init() throws {
    let (port, descriptor) = (try freePort(), tcpSocket())
    (self.port, self.descriptor) = (port, descriptor)
    let status = onLoopback(port) { bind(descriptor, $0, $1) | listen(descriptor, 0) }
    guard status == 0 else { throw TestSupportError("cannot listen: \(String(cString: strerror(errno)))") }
    connection = try RawConnection(port: port)
  }

  deinit { close(descriptor) }
}
