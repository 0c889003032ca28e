// A proxy's duties towards the hops before and behind it: forwarding fields, ends of loops, answers about an
// upstream that answers wrongly, and the paths and targets that a configuration permits.

import Glibc
import Testing
import TestSupport

@Suite(.keepsSecrets, .timeLimit(.minutes(2)))
struct HopTests {
  private func hex(_ text: String) -> String { text.utf8.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined() }

  @Test func `OPTIONS goes as far as Max-Forwards says, and the connection goes on`() async throws {
    let scene = try await ScriptedScene(route: "    methods: [GET, OPTIONS]")
    let connection = try scene.proxy.connect()
    try await connection.send("OPTIONS /seen HTTP/1.1\r\nHost: 127.0.0.1\r\nMax-Forwards: 0\r\n\r\n")
    let own = try await connection.receive { $0.hasSuffix("\r\n\r\n") }
    #expect(own.hasPrefix("HTTP/1.1 200 OK\r\n") && own.contains("\r\nContent-Length: 0\r\n"))
    #expect(own.contains("\r\nAllow: GET, OPTIONS\r\n") && !own.contains("Connection: close"))
    #expect(scene.upstream.requests.isEmpty)
    try await connection.send("OPTIONS /seen HTTP/1.1\r\nHost: 127.0.0.1\r\nMax-Forwards: 1\r\n\r\n")
    #expect(
      try await connection.receive { $0.contains("Via: ") && $0.hasSuffix("\r\n\r\n") }.contains("Max-Forwards: 0\r\n"))
    try await connection.send("GET /seen HTTP/1.1\r\nHost: 127.0.0.1\r\nMax-Forwards: 0\r\n\r\n")
    #expect(
      try await connection.receive { $0.contains("Via: ") && $0.hasSuffix("\r\n\r\n") }.contains("Max-Forwards: 0\r\n"))
  }

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
    #expect(first.accessRecords.allSatisfy { $0["status"] == .number(508) })
    // Another proxy of the same kind on the way is no loop.
    let scene = try await ScriptedScene()
    let chained = try await scene.proxy.get(
      "/seen", ["-H", "Via: 1.1 bearer-proxy-0123456789abcdef, 1.1 bearer-proxy"])
    #expect(chained.status == 200)
    let seen = try #require(chained.body.split(separator: "\r\n").first { $0.hasPrefix("Via: ") })
    #expect(seen.hasPrefix("Via: 1.1 bearer-proxy-0123456789abcdef, 1.1 bearer-proxy, 1.1 bearer-proxy-"))
    // The name of a network before us stays, with our own name behind it.
    let own = try #require(seen.split(separator: " ").last)
    #expect(
      try await scene.proxy.get("/seen", ["-H", "Connection: cdn-loop", "-H", "CDN-Loop: edge.example"]).body.contains(
        "CDN-Loop: edge.example, \(own)\r\n"))
    #expect(try await scene.proxy.get("/seen", ["-H", "CDN-Loop: edge.example, \(own)"]).status == 508)
    #expect(try await scene.proxy.get("/seen").body.contains("CDN-Loop: \(own)\r\n"))
  }

  /// Starts an nginx that leads back to `port`; `rule` is what it does to requests.
  private func nginx(
    in directory: TemporaryDirectory, port: Int, leadsTo target: Int, _ rule: String
  ) async throws -> ChildProcess {
    let file = try directory.write(
      """
      daemon off;
      master_process off;
      pid \(directory.path)/nginx.pid;
      error_log \(directory.path)/nginx-error.log;
      events { worker_connections 4096; }
      http {
        access_log off;
        client_body_temp_path \(directory.path)/body;
        proxy_temp_path \(directory.path)/proxy;
        fastcgi_temp_path \(directory.path)/fastcgi;
        uwsgi_temp_path \(directory.path)/uwsgi;
        scgi_temp_path \(directory.path)/scgi;
        server {
          listen 127.0.0.1:\(port) backlog=4096;
          location / {
            proxy_pass http://127.0.0.1:\(target);
            proxy_read_timeout 120s;
            \(rule)
          }
        }
      }

      """, to: "nginx.conf")
    let nginx = try ChildProcess(
      "nginx", ["nginx", "-p", directory.path, "-e", directory.file("nginx-error.log"), "-c", file], in: directory)
    try await waitForPort(port, of: nginx)
    return nginx
  }

  @Test func `a loop through a proxy that takes Via away ends when the request comes back`() async throws {
    let directory = try TemporaryDirectory()
    let (port, middle) = (try freePort(), try freePort())
    let nginx = try await nginx(in: directory, port: middle, leadsTo: port, "proxy_set_header Via \"\";")
    let proxy = try await ProxyUnderTest(
      in: directory, port: port,
      "routes: [{name: round, path: /, upstream: \"http://127.0.0.1:\(middle)/\", token: none}]")
    let answer = try await proxy.get("/x")
    #expect(answer.status == 508 && answer.body.contains("problem:loop-detected"))
    #expect(try await eventually { proxy.accessRecords.count == 2 })
    try await nginx.stop()
  }

  @Test func `the first caller of a loop through a proxy that takes every field away hears why it ended`()
    async throws
  {
    let directory = try TemporaryDirectory()
    let (port, middle) = (try freePort(), try freePort())
    let nginx = try await nginx(in: directory, port: middle, leadsTo: port, "proxy_pass_request_headers off;")
    let proxy = try await ProxyUnderTest(
      in: directory, port: port,
      """
      loops: 1
      log: {access: false}
      listeners:
        - address: 127.0.0.1:\(port)
          callers: {origins: ["https://app.example"]}
      defaults: {timeouts: {response_head: 2m}}
      routes: [{name: round, path: /, upstream: "http://127.0.0.1:\(middle)/", token: none}]
      """)
    let answer = try await proxy.get("/x")
    #expect(answer.status == 508 && answer.body.contains("problem:loop-detected"), "\(answer)")
    #expect(answer.body.contains("too many like it are in progress"))
    #expect(answer.fields.filter { $0.name == "via" }.map { $0.value.split(separator: ",").count } == [1])
    #expect(answer.fields.count { $0.name == "vary" } == 1)
    #expect(try await metricSum(proxy, "bearer_proxy_requests_total", "5xx") == 1002)
    try await nginx.stop()
  }

  @Test func `an answer is a 502 where it is broken before a byte of it was sent, and padded sizes break none`()
    async throws
  {
    let scene = try await ScriptedScene()
    let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
    let broken = try await scene.proxy.get("/raw/" + hex(head + "5 x\r\nhello\r\n0\r\n\r\n"))
    #expect(broken.status == 502 && broken.body.contains("problem:upstream-malformed"))
    #expect(try await eventually { scene.proxy.accessRecords.count == 1 })
    let record = try #require(scene.proxy.accessRecords.last)
    #expect(record["status"] == .number(502) && record["reason"] == .text("chunked_coding"))
    let padded = try await scene.proxy.get("/raw/" + hex(head + "5  \r\nhello\r\n0 \r\n\r\n"))
    #expect(padded.status == 200 && padded.body == "hello")
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
      #expect(record["outcome"] == .text("upstream_failed") && record["reason"] == .text(row.reason), "\(row.reason)")
      #expect(record["status"] == .number(Double(row.status)), "\(row.reason)")
      let labels = "route=\"all\",reason=\"\(row.reason)\""
      #expect(try await scene.counter("bearer_proxy_upstream_failures_total", labels) == 1, "\(row.reason)")
      #expect(try await scene.proxy.admin("/status").body.contains(row.words), "\(row.reason)")
    }
    let whole = try await scene.proxy.get("/seen")
    #expect(whole.status == 200)
    #expect(try await eventually { scene.proxy.accessRecords.last?["outcome"] == .text("completed") })
    #expect(scene.proxy.accessRecords.last?["reason"] == nil)
    #expect(!(try await scene.proxy.admin("/status").body.contains("upstream failing")))
  }

  @Test func `an upstream to which no connection can be made is told apart by the reason`() async throws {
    let directory = try TemporaryDirectory()
    let authority = try await CertificateAuthority(in: directory)
    let nginx = try await NginxUpstream(in: directory, certificate: authority.issue("upstream"))
    let outbound = try await OutboundProxy(in: directory, ["--status", "403"])
    // Its queue is full with one connection: the kernel answers no other.
    let full = try FullListener()
    let proxy = try await ProxyUnderTest(
      in: directory,
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
      #expect(try await eventually { proxy.accessRecords.last?["reason"] == .text(reason) }, "\(proxy.accessRecords)")
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
    #expect(try await eventually { proxy.accessRecords.last?["reason"] == .text("forbidden_address") })
    #expect(try await metricSum(proxy, "bearer_proxy_upstream_failures_total", "reason=\"forbidden_address\"") == 1)
  }

  @Test func `a path that some servers misread passes where its route says so, as it came`() async throws {
    let scene = try await ScriptedScene(route: "    encoded_path: [backslash, tab]")
    let passed = try await scene.proxy.get("/seen/a%5Cb%09c")
    #expect(passed.body.hasPrefix("GET /seen/a%5Cb%09c HTTP/1.1\r\n"))
    for path in ["/seen/%0A", "/seen/%252F", "/seen/..%5Cx", "/seen/%5C..%5C..%5Cx"] {
      #expect(try await scene.proxy.get(path).status == 400, "\(path)")
    }
    let strict = try await ScriptedScene()
    for path in ["/seen/%5C", "/seen/%09", "/seen/%0A", "/seen/%0D", "/seen/%252F"] {
      #expect(try await strict.proxy.get(path).status == 400, "\(path)")
    }
  }

  @Test func `a target has a limit of its own`() async throws {
    let scene = try await ScriptedScene(top: "limits: {target_bytes: 20KiB}")
    let long = "/seen?" + String(repeating: "x", count: 20 * 1024 - 6)
    #expect(try await scene.proxy.get(long).status == 200)
    #expect(try await scene.proxy.get(long + "x").status == 414)
    #expect(try await scene.proxy.get(long + String(repeating: "x", count: 40 * 1024)).status == 414)
    #expect(try await scene.counter("bearer_proxy_limits_hit_total", #"limit="target_bytes""#) == 2)
  }
}

/// A listener of 127.0.0.1 whose queue is full: further connections to it are not made.
private final class FullListener {
  let port: Int
  private let descriptor: Int32
  private let connection: RawConnection

  init() throws {
    descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let status = withUnsafeMutablePointer(to: &address) { [descriptor] address in
      address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(descriptor, $0, length) | listen(descriptor, 0) | getsockname(descriptor, $0, &length)
      }
    }
    guard status == 0 else { throw TestSupportError("cannot listen: \(String(cString: strerror(errno)))") }
    port = Int(UInt16(bigEndian: address.sin_port))
    connection = try RawConnection(port: port)
  }

  deinit { close(descriptor) }
}
