// HTTP/2 to upstreams: nghttpd and nginx, and an upstream that does to order what they do not.

import Glibc
import TestSupport
import Testing

@Suite(.keepsSecrets, .timeLimit(.minutes(10)))
struct HTTP2UpstreamTests {
  /// A proxy to the upstream that does to order.
  private struct Stage {
    let directory: TemporaryDirectory
    let upstream: PythonPeer
    let proxy: ProxyUnderTest
    var upstreamPort: Int { upstream.port }

    init(streams: Int = 100, loops: Int = 1, top: String = "", route: String = "") async throws {
      directory = try TemporaryDirectory()
      upstream = try await PythonPeer("http2_upstream.py", ["\(streams)"], in: directory)
      proxy = try await ProxyUnderTest(
        in: directory,
        """
        loops: \(loops)
        \(top)
        routes:
          - {name: all, path: /, upstream: "http://127.0.0.1:\(upstream.port)/", protocol: http2, token: none\(route)}
        """)
    }

    /// The rests of the upstream's lines that begin with a word.
    func lines(_ word: String) -> [String] { upstream.lines(word) }
  }

  private static let callers = [["--http1.1"], ["--http2-prior-knowledge"]]

  @Test(arguments: callers) func `content goes both ways whole, with trailers, interim responses and early answers`(
    _ version: [String]
  ) async throws {
    let stage = try await Stage()
    let content = try stage.directory.write(String(repeating: "0123456789abcdef", count: 200_000), to: "content")
    let sum = try await succeed(["sha256sum", content]).prefix(64)
    let chunked = version == ["--http1.1"] ? ["-H", "Transfer-Encoding: chunked"] : ["-H", "Content-Length:"]
    for framing in [[], chunked] {
      let sent = try await stage.proxy.get(
        "/sink", version + ["--data-binary", "@\(content)", "-H", "Expect:"] + framing)
      #expect(sent.status == 200 && sent.body.hasPrefix("3200000 \(sum)"), "\(sent)")
    }
    // A request that cannot be repeated has a connection of its own if the other one was idle for a second.
    let connections = stage.lines("connection").count
    #expect((1...2).contains(connections))
    let seen = try await stage.proxy.get(
      "/seen", version + ["-H", "X-A: b", "-H", "Connection: x-hop", "-H", "X-Hop: 1"])
    let authority = "127.0.0.1:\(stage.upstreamPort)"
    #expect(seen.body.hasPrefix(":method: GET\n:scheme: http\n:authority: \(authority)\n:path: /seen\n"))
    #expect(seen.body.contains("x-a: b\n"))
    // curl leaves Connection out of HTTP/2.
    #expect(seen.body.contains("\nx-hop:") == (version != ["--http1.1"]))
    for absent in ["connection", "host", "transfer-encoding", "te"] {
      #expect(!seen.body.contains("\n\(absent):"), "\(absent)")
    }
    #expect(try await stage.proxy.get("/seen", version + ["-H", "TE: trailers"]).body.contains("\nte: trailers\n"))
    #expect(try await stage.proxy.get("/trailers", version).fields.contains { $0.name == "x-end" })
    #expect(try await stage.proxy.get("/only-trailers", version)["x-end"] == "1")
    #expect(try await stage.proxy.get("/interim", version).status == 200)
    #expect(stage.lines("connection").count == connections)
    // curl 7.88 forgets an answer if its content is refused while it sends.
    let early = try await stage.proxy.get("/early", version + ["--data-binary", "@\(content)", "-H", "Expect:"])
    #expect(early.status == 403 && early.exit == 0, "\(early)")
    // The end may be there before anything was passed on.
    let broken = try await stage.proxy.get("/broken", version)
    #expect(broken.exit != 0 || broken.status == 502)
    #expect(try await stage.proxy.get("/seen", version + ["-I"]).status == 200)
    #expect(stage.lines("connection").count <= connections + 1)
    #expect(try await eventually { stage.proxy.process.output.contains(#""upstream_protocol":"HTTP/2""#) })
    let metrics = try await stage.proxy.admin("/metrics").body
    #expect(metrics.contains(#/\nbearer_proxy_upstream_http2_requests_total [1-9]/#))
    #expect(metrics.contains(#/\nbearer_proxy_upstream_http2_connections_open [1-3]\n/#))
  }

  @Test(arguments: callers) func `what the upstream has not processed is sent again, whatever the method`(
    _ version: [String]
  ) async throws {
    let stage = try await Stage()
    for path in ["/refused", "/gone"] {
      let answer = try await stage.proxy.get(path, version + ["-d", "content"])
      #expect(answer.status == 200 && answer.body == "ok", "\(path): \(answer)")
      #expect(stage.lines("request \(path)").count == 2)
    }
    let leaving = try await stage.proxy.get("/leaving", version + ["-d", "content"])
    #expect(leaving.body == "ok")
    let next = try await stage.proxy.get("/interim", version)
    #expect(next.status == 200 && next["x-connection"] != leaving["x-connection"])
    // Nothing else is: it may have been processed.
    #expect(try await stage.proxy.get("/http11", version).status == 502)
    #expect(try await stage.proxy.admin("/metrics").body.contains(#"bearer_proxy_upstream_retries_total 3"#))
  }

  @Test func `requests at once share connections up to the upstream's limit`() async throws {
    let stage = try await Stage(streams: 10)
    let load = try await succeed(
      ["h2load", "-n", "500", "-c", "1", "-m", "40", stage.proxy.url("/seen")], within: .seconds(120))
    #expect(load.contains("500 succeeded, 0 failed, 0 errored"), "\(load)")
    let connections = stage.lines("connection").count
    #expect((1...5).contains(connections), "\(connections)")
  }

  @Test func `a caller that leaves ends its stream alone`() async throws {
    let stage = try await Stage()
    // One with HTTP/1.1 who closes its connection may still read: the end of a limit of time would be its stream's.
    let caller = try ChildProcess(
      "caller", ["curl", "-s", "--http2-prior-knowledge", stage.proxy.url("/held")], in: stage.directory)
    #expect(try await eventually { stage.lines("request /held").count == 1 })
    caller.send(SIGKILL)
    _ = try await caller.wait()
    #expect(try await eventually { stage.lines("reset").count == 1 })
    #expect(stage.lines("reset").first?.hasPrefix("8 ") == true)
    #expect(try await stage.proxy.get("/seen").status == 200)
    #expect(stage.lines("connection").count == 1)
  }

  @Test func `status shows connections with HTTP 2 and their requests in progress`() async throws {
    let stage = try await Stage()
    for _ in 0..<2 { #expect(try await stage.proxy.get("/seen").status == 200) }
    let held = try ChildProcess("held", ["curl", "-s", stage.proxy.url("/held")], in: stage.directory)
    let isShown = try await eventually {
      let report = try await stage.proxy.admin("/status?format=json").body
      return report.contains(#""http2_streams":1,"http2_streams_in_all":3,"#)
        && report.contains(#""port":\#(stage.upstreamPort)"#)
    }
    #expect(isShown)
    let text = try await stage.proxy.admin("/status").body
    let line = #/\(upstream 127.0.0.1\) +connection with HTTP/2 on which 1 requests are in progress, 3 in all, open/#
    #expect(text.contains(line), "\(text)")
    held.send(SIGKILL)
  }

  @Test func `an upstream that falls silent gets no further request on that connection`() async throws {
    let directory = try TemporaryDirectory()
    try directory.write("content", to: "file")
    let (silent, port) = try await nghttpd(directory)
    let proxy = try await ProxyUnderTest(
      in: directory,
      """
      loops: 1
      routes:
        - {name: all, path: /, upstream: "http://127.0.0.1:\(port)/", protocol: http2, token: none,
           timeouts: {response_head: 1s}}
      """)
    #expect(try await proxy.get("/file").body == "content")
    silent.send(SIGSTOP)
    let failed = try await proxy.get("/file")
    #expect(failed.status == 504 && failed.body.contains("upstream-timeout"), "\(failed)")
    #expect(try await eventually { try await !proxy.admin("/status").body.contains("(upstream ") })
    silent.send(SIGCONT)
    #expect(try await proxy.get("/file").body == "content")
    let metrics = try await proxy.admin("/metrics").body
    #expect(metrics.contains(#/\nbearer_proxy_upstream_http2_connections_open [1-3]\n/#))
    #expect(metrics.contains(#/upstream_connections_total\{route="all",kind="new"\} 2/#), "\(metrics)")
  }

  @Test func `streams in flight at a reload and at the end come whole, and new ones go elsewhere`() async throws {
    let stage = try await Stage()
    let other = try await PythonPeer("http2_upstream.py", in: stage.directory)
    let otherPort = other.port
    async let before = stage.proxy.get("/paused/before", ["--http2-prior-knowledge"])
    #expect(try await eventually { stage.lines("request /paused/before").count == 1 })
    try stage.proxy.reconfigure { $0.replacing(":\(stage.upstreamPort)/", with: ":\(otherPort)/") }
    stage.proxy.process.send(SIGHUP)
    #expect(try await eventually { stage.proxy.process.errors.contains("configuration reloaded") })
    #expect(try await stage.proxy.get("/seen").body.contains(":authority: 127.0.0.1:\(otherPort)"))
    async let last = stage.proxy.get("/paused/last", ["--http2-prior-knowledge"])
    #expect(try await eventually { other.lines("request /paused/last").count == 1 })
    stage.proxy.process.send(SIGTERM)
    #expect(try await eventually { try await stage.proxy.admin("/readyz").status == 503 })
    for port in [stage.upstreamPort, otherPort] {
      #expect(try await curl(["--http2-prior-knowledge", "http://127.0.0.1:\(port)/go"]).body == "ok")
    }
    for answer in [try await before, try await last] {
      #expect(answer.status == 200 && answer.body.utf8.count == 200_000 && answer.exit == 0, "\(answer.status)")
    }
    #expect(try await stage.proxy.process.wait() == 0)
    #expect(stage.lines("goaway").first?.hasPrefix("0 ") == true)
  }

  @Test func `an upstream that gives no window is waited for no longer than a route's limit`() async throws {
    let stage = try await Stage(route: ", timeouts: {idle: 2s}")
    let content = try stage.directory.write(String(repeating: "x", count: 1_000_000), to: "content")
    async let stalled = stage.proxy.get("/window", ["--data-binary", "@\(content)", "-H", "Expect:"])
    // Its connection's window is used up as well, which stops requests with content, and no others.
    #expect(try await stage.proxy.get("/seen").status == 200)
    #expect(try await stalled.status == 504)
    #expect(try await stage.proxy.get("/seen").status == 200)
  }

  @Test func `an upstream that breaks the rules of RFC 9113 and RFC 7541 harms its own requests alone`() async throws {
    let port = try freePort()
    let proxy = try await ProxyUnderTest(
      """
      routes:
        - {name: all, path: /, upstream: "http://127.0.0.1:\(port)/", protocol: http2, token: none}
      """)
    let report = try await succeed(
      peer("http2_upstream_cases.py", ["\(port)", "\(proxy.port)"]), within: .seconds(400))
    #expect(report.hasSuffix(" cases, 0 failed\n"), "\(report)")
    #expect(proxy.process.poll() == nil)
  }

  @Test func `an upstream without HTTP/2 gets 502, and the reason is recorded`() async throws {
    let scene = try await ScriptedScene(route: "    protocol: http2")
    let proxy = scene.proxy
    #expect(try await proxy.get("/seen").status == 502)
    #expect(try await eventually { proxy.process.output.contains(#""outcome":"upstream_failed""#) })
  }

  // MARK: Servers

  /// nginx with HTTP/2 on one TLS port and HTTP/1.1 on another, and a proxy with a route to each for each protocol.
  @Test func `a TLS upstream chooses HTTP/2 if the route lets it`() async throws {
    let authority = try await CertificateAuthority()
    let nginx = try await NginxUpstream(certificate: authority.issue("upstream"), speaksHTTP2: true)
    let routes = [
      ("auto", nginx.http2Port), ("http2", nginx.http2Port), ("http1", nginx.http2Port), ("auto", nginx.tlsPort),
      ("http2", nginx.tlsPort),
    ]
    let proxy = try await ProxyUnderTest(
      "routes:\n"
        + routes.enumerated().map { index, route in
          """
            - {name: r\(index), path: /\(index)/, upstream: "https://localhost:\(route.1)/", token: none,
               protocol: \(route.0), tls: {ca_file: \(authority.file)}}

          """
        }.joined())
    let expected = ["HTTP/2.0", "HTTP/2.0", "HTTP/1.1", "HTTP/1.1"]
    for (index, version) in expected.enumerated() {
      for caller in Self.callers {
        let answer = try await proxy.get("/\(index)/echo", caller)
        #expect(answer.echoed("protocol") == version, "\(index): \(answer)")
      }
      #expect(try await proxy.get("/\(index)/files/1m").body.utf8.count == 1 << 20)
    }
    let refused = try await proxy.get("/4/echo")
    #expect(refused.status == 502)
    #expect(try await eventually { proxy.process.errors.contains("it does not offer HTTP/2 (ALPN)") })
    // A caller that authenticates connections gets one of its own, with HTTP/1.1.
    let own = try await proxy.get("/0/echo", ["-H", "Authorization: NTLM YQ=="])
    #expect(own.echoed("protocol") == "HTTP/1.1")
    let load = try await succeed(
      ["h2load", "-n", "1000", "-c", "2", "-m", "50", proxy.url("/0/files/1k")], within: .seconds(120))
    #expect(load.contains("1000 succeeded, 0 failed, 0 errored"), "\(load)")
  }

  @Test(arguments: callers) func `nghttpd gets and gives content whole`(_ version: [String]) async throws {
    let directory = try TemporaryDirectory()
    let content = try directory.write(String(repeating: "0123456789abcdef", count: 100_000), to: "content")
    // Larger than the window of a stream. nghttpd resets streams that are idle for a minute, and on a busy machine
    // a hundred at once of larger content do.
    try directory.write(String(repeating: "0123456789abcdef", count: 6000), to: "part")
    let (server, port) = try await nghttpd(directory, "--echo-upload")
    let proxy = try await ProxyUnderTest(
      in: directory,
      """
      defaults: {timeouts: {connect: 4m, response_head: 4m, idle: 4m}}
      routes:
        - {name: all, path: /, upstream: "http://127.0.0.1:\(port)/", protocol: http2, token: none}
      """)
    #expect(try await proxy.get("/content", version).body.utf8.count == 1_600_000)
    let echoed = try await proxy.get("/up", version + ["--data-binary", "@\(content)", "-H", "Expect:"])
    #expect(echoed.body == directory.read("content"))
    let load = try await succeed(
      ["h2load", "-n", "300", "-c", "3", "-m", "100", proxy.url("/part")], within: .seconds(240))
    #expect(load.contains("300 succeeded, 0 failed, 0 errored"), "\(load)")
    #expect(server.poll() == nil)
  }

  /// nghttpd with the files of a directory, and its port.
  private func nghttpd(
    _ directory: TemporaryDirectory, _ options: String...
  ) async throws -> (process: ChildProcess, port: Int) {
    let port = try freePort()
    let command = ["nghttpd", "--no-tls", "-a", "127.0.0.1", "-d", directory.path] + options + ["\(port)"]
    let process = try ChildProcess("nghttpd", command, in: directory)
    try await waitForPort(port, of: process)
    return (process, port)
  }
}
