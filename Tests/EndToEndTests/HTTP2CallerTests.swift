// Callers with HTTP/2: curl, nghttp, h2load, httpx and Chromium, a table of RFC 9113, and floods while others are
// served.

import Glibc
import Testing
import TestSupport

@Suite(.keepsSecrets, .timeLimit(.minutes(10)))
struct HTTP2CallerTests {
  /// A proxy whose route `/` leads to the upstream that does to order, without and with TLS.
  struct Stage {
    let directory: TemporaryDirectory
    let upstream: PythonPeer
    let proxy: ProxyUnderTest
    var tlsPort: Int { proxy.ports[1] }
    let authority: CertificateAuthority

    init(listener: String = "", top: String = "") async throws {
      authority = try await CertificateAuthority()
      let certificate = try await authority.issue("listener")
      let second = "}\n  - {address: \"127.0.0.1:PORT2\", tls: {\(certificate.tls)}"
      let scene = try await ScriptedScene(top: top, listener: listener + second)
      (directory, upstream, proxy) = (scene.directory, scene.upstream, scene.proxy)
    }

    func get(_ path: String, _ arguments: [String] = []) async throws -> Answer {
      try await proxy.get(path, ["--http2-prior-knowledge"] + arguments)
    }

    /// The output of Tests/peers/NAME.
    func peer(_ name: String, _ arguments: [String] = []) async throws -> String {
      try await succeed(TestSupport.peer(name, ["\(proxy.port)"] + arguments), within: .seconds(240))
    }

    /// A caller whose script has begun when it is returned.
    func caller(_ script: String) async throws -> ChildProcess {
      let caller = try ChildProcess("caller", http2Script(script, ["\(proxy.port)"]), in: directory)
      _ = try await announcedPort(of: caller)
      return caller
    }
  }

  @Test func `curl is served by prior knowledge, and others on the same port by HTTP/1.1`() async throws {
    let stage = try await Stage()
    let seen = try await stage.get("/seen", ["-H", "Cookie: a=b", "-w", "%{http_version}"])
    #expect(seen.status == 200)
    #expect(seen.body.contains("GET /seen HTTP/1.1\r\n") && seen.body.contains("\r\nVia: 2 bearer-proxy"))
    #expect(seen.body.contains("Cookie: a=b\r\n"))
    #expect(seen["connection"] == nil && seen["transfer-encoding"] == nil)
    let head = try await stage.get("/bytes/1000", ["-I"])
    #expect(head.status == 200 && head["content-length"] == "1000" && head.exit == 0)
    let none = try await stage.proxy.get("/seen", ["--http1.1", "-H", "Connection: Upgrade", "-H", "Upgrade: h2c"])
    #expect(none.status == 200 && none.body.contains("Via: 1.1 bearer-proxy"))
    let upgrade = try await stage.proxy.get("/seen", ["--http2", "-w", "%{http_version}"])
    #expect(upgrade.status == 200 && upgrade.body.contains("Via: 1.1 bearer-proxy"))
    #expect(!upgrade.body.contains("h2c") && !upgrade.body.lowercased().contains("http2-settings"))
    #expect(try await stage.proxy.admin("/metrics").body.contains(#"bearer_proxy_http2_requests_total 2"#))
    #expect(try await eventually { stage.proxy.process.output.contains(#""protocol":"HTTP/2""#) })
  }

  @Test func `curl is served over TLS by ALPN, unless the listener has no HTTP/2`() async throws {
    let stage = try await Stage()
    let arguments = ["--cacert", stage.authority.file, "-w", "%{http_version}"]
    let url = "https://localhost:\(stage.tlsPort)/seen"
    #expect(try await curl(arguments + [url]).body.contains("Via: 2 bearer-proxy"))
    #expect(try await curl(arguments + ["--http1.1", url]).body.contains("Via: 1.1 bearer-proxy"))
    let plain = try await Stage(listener: ", http2: false")
    #expect(try await plain.get("/seen").exit != 0)
    #expect(try await plain.proxy.get("/seen").status == 200)
  }

  @Test func `content goes both ways whole, with trailers, interim responses and early answers`() async throws {
    let stage = try await Stage()
    let content = try stage.directory.write(String(repeating: "0123456789abcdef", count: 200_000), to: "content")
    let sum = try await succeed(["sha256sum", content]).prefix(64)
    for framing in [[], ["-H", "Content-Length:"]] {
      let sent = try await stage.get("/sink", ["--data-binary", "@\(content)", "-H", "Expect:"] + framing)
      #expect(sent.status == 200 && sent.body.contains(sum) && sent.body.contains("3200000"))
    }
    for path in ["/bytes/3000000", "/chunked/3000000", "/until-close/3000000"] {
      #expect(try await stage.get(path).body.utf8.count == 3_000_000)
    }
    #expect(try await stage.get("/trailers").fields.contains { $0.name.hasPrefix("x-") })
    #expect(try await stage.get("/interim").status == 200)
    #expect(try await stage.get("/early", ["--data-binary", "@\(content)", "-H", "Expect:"]).status == 403)
    #expect(try await stage.get("/truncated").exit == 92)
    #expect(try await stage.get("/hang-up").status == 502)
    #expect(try await stage.get("/garbage").status == 502)
    let waited = try await stage.get("/sink", ["--data-binary", "@\(content)", "-H", "Expect: 100-continue"])
    #expect(waited.status == 200 && waited.body.contains(sum))
  }

  @Test func `an upstream that authenticates connections sends callers to HTTP/1.1`() async throws {
    let stage = try await Stage()
    let answer = "HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: NTLM\r\nContent-Length: 0\r\n\r\n"
    let hex = answer.utf8.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
    let url = "https://localhost:\(stage.tlsPort)/raw/\(hex)"
    let arguments = ["--cacert", stage.authority.file, "-H", "Authorization: NTLM YQ==", "-w", "%{http_version}"]
    let repeated = try await curl(arguments + [url])
    #expect(repeated.status == 401 && repeated["www-authenticate"] == "NTLM")
    #expect(stage.upstream.requests.count == 2)
  }

  @Test func `many streams of nghttp, h2load and httpx are served at once`() async throws {
    let stage = try await Stage()
    let load = try await succeed(
      ["h2load", "-n", "2000", "-c", "2", "-m", "100", stage.proxy.url("/bytes/2000")], within: .seconds(120))
    #expect(load.contains("2000 succeeded, 0 failed, 0 errored"))
    let trailers = try await succeed(["nghttp", "-v", stage.proxy.url("/trailers")])
    #expect(trailers.contains("END_STREAM"))
    let script = """
      import asyncio, httpx, sys
      async def main():
          async with httpx.AsyncClient(http1=False, http2=True, timeout=60) as client:
              answers = await asyncio.gather(*[
                  client.post(sys.argv[1] + "/sink", content=b"x" * 600 * n) for n in range(100)])
          print(all(a.http_version == "HTTP/2" and a.json()["bytes"] == 600 * n for n, a in enumerate(answers)))
      asyncio.run(main())
      """
    let answered = try await succeed([pinnedPython(), "-c", script, stage.proxy.url("")], within: .seconds(240))
    #expect(answered == "True\n")
  }

  @Test func `status shows connections with HTTP 2 and their requests in progress`() async throws {
    let stage = try await Stage()
    let slow = try ChildProcess(
      "slow", ["curl", "-s", "--http2-prior-knowledge", stage.proxy.url("/slow/60")], in: stage.directory)
    let isShown = try await eventually {
      let report = try await stage.proxy.admin("/status?format=json").body
      return report.contains(#""http2_connections":1,"http2_streams":1"#)
    }
    #expect(isShown)
    let text = try await stage.proxy.admin("/status").body
    let line = #/\(callers\) +\d connections, 1 of them with HTTP/2, on which 1 requests are served/#
    #expect(text.contains(line), "\(text)")
    slow.send(SIGKILL)
    #expect(
      try await eventually { try await !stage.proxy.admin("/status").body.contains("(callers)") })
  }

  @Test(.enabled(if: hasBrowser, "no browser: apt-get install chromium chromium-driver"))
  func `Chromium is served over TLS by ALPN`() async throws {
    let stage = try await Stage()
    let shown = try await run(
      [
        "chromium", "--headless", "--no-sandbox", "--disable-gpu", "--ignore-certificate-errors", "--dump-dom",
        "--user-data-dir=\(stage.directory.file("browser"))", "https://localhost:\(stage.tlsPort)/seen",
      ], within: .seconds(120))
    #expect(shown.output.contains("Via: 2 bearer-proxy"), "\(shown)")
  }

  @Test func `the server keeps the rules of RFC 9113 and RFC 7541`() async throws {
    let stage = try await Stage()
    let report = try await stage.peer("http2_cases.py")
    #expect(report.hasSuffix(" cases, 0 failed\n"), "\(report)")
  }

  @Test func `a flood ends its connection, and others are served`() async throws {
    let stage = try await Stage()
    for attack in [
      "rapid-reset", "made-you-reset", "malformed", "settings", "ping", "priority", "window", "empty-data", "over",
      "hpack-bomb", "continuation",
    ] {
      let counted = try await metricSum(stage.proxy, "bearer_proxy_limits_hit_total", #"limit="http2_abuse""#)
      let words = try await stage.peer("http2_attacks.py", [attack]).split(separator: " ").map(String.init)
      #expect(words.first == "goaway" || words.first == "closed", "\(attack): \(words)")
      #expect(words.suffix(3).first == words.last?.trimmed, "\(attack): \(words)")
      if attack == "continuation" { continue }
      #expect(
        try await metricSum(stage.proxy, "bearer_proxy_limits_hit_total", #"limit="http2_abuse""#) == counted + 1,
        "\(attack)")
    }
    #expect(stage.proxy.process.errors.contains("HTTP/2 connection ended for abuse"))
  }

  @Test func `content in frames of one byte on many streams keeps no other from its turn`() async throws {
    let stage = try await Stage(top: "loops: 1")
    let words = try await stage.peer("http2_attacks.py", ["small-data"]).split(separator: " ").map(String.init)
    let meanwhile = words.firstIndex(of: "meanwhile").flatMap { Int(words[$0 + 1]) } ?? 0
    #expect(meanwhile >= 10, "\(words)")
    #expect(try await metricSum(stage.proxy, "bearer_proxy_limits_hit_total", #"limit="http2_abuse""#) == 0)
  }

  @Test func `a caller that has its answer and does not read it is asked for its place once`() async throws {
    let stage = try await Stage(top: "loops: 1\nlimits: {connections: 1}")
    let script = """
      connection = Connection(int(sys.argv[1]), settings=struct.pack(">HI", 4, 0x7FFF_FFFF))
      connection.send(window(0, 0x7FFF_0000))
      # More than the kernel keeps for both ends: the proxy keeps the rest, and reads on when that is read.
      for stream in range(1, 4000, 2):
          connection.send(headers(stream, fields(path="/bytes/16000")))
          if stream % 20 == 1: time.sleep(0.03)
      print("listening 1", flush=True)
      time.sleep(600)
      """
    let caller = try await stage.caller(script)
    let newcomer = try ChildProcess("newcomer", ["curl", "-s", stage.proxy.url("/seen")], in: stage.directory)
    func asked() async throws -> Int {
      let metrics = try await stage.proxy.admin("/metrics").body
      return metrics.firstMatch(of: #/limits_hit_total\{limit="connections"\} (\d+)/#).flatMap { Int($0.1) } ?? 0
    }
    #expect(try await eventually { try await asked() > 2 })
    let before = try await asked()
    try await Task.sleep(for: .seconds(2))
    // Every 50 ms.
    #expect(try await asked() - before < 200)
    caller.send(SIGKILL)
    #expect(try await newcomer.wait(within: .seconds(60)) == 0)
  }

  @Test func `a caller that reads nothing is ended, and others are served`() async throws {
    let stage = try await Stage(top: "limits: {caller_rate: 1KiB}\ndefaults: {timeouts: {idle: 2s}}")
    let script = """
      connection = Connection(int(sys.argv[1]), settings=struct.pack(">HI", 4, 0))
      for stream in range(1, 100, 2):
          connection.send(headers(stream, fields(path="/bytes/1000000")))
      resets = 0
      for frame in connection.frames(time.monotonic() + 60):
          if isinstance(frame, frames.RstStreamFrame):
              resets += 1
              if resets == 50: break
          if frame is None: break
      print(resets)
      """
    async let slow = succeed(http2Script(script, ["\(stage.proxy.port)"]))
    #expect(try await stage.get("/bytes/100000").body.utf8.count == 100_000)
    #expect(try await slow == "50\n")
  }

  @Test func `a process that ends says so, answers the streams in flight, and serves no more`() async throws {
    let stage = try await Stage()
    let script = """
      connection = Connection(int(sys.argv[1]))
      connection.send(headers(1, fields(path="/slow/2")))
      print("listening 1", flush=True)
      seen = []
      for frame in connection.frames(time.monotonic() + 60):
          if frame is None:
              seen.append("closed")
          elif isinstance(frame, frames.GoAwayFrame):
              seen.append(f"goaway {frame.last_stream_id} {frame.error_code}")
          elif isinstance(frame, frames.PingFrame) and "ACK" not in frame.flags:
              connection.send(raw(6, 1, 0, frame.opaque_data))
          elif isinstance(frame, (frames.HeadersFrame, frames.DataFrame)) and "END_STREAM" in frame.flags:
              seen.append("answered")
      print(seen)
      """
    let caller = try await stage.caller(script)
    #expect(try await eventually { !stage.upstream.requests.isEmpty })
    stage.proxy.process.send(SIGTERM)
    #expect(try await caller.wait(within: .seconds(60)) == 0)
    #expect(
      caller.output.hasSuffix("['goaway 2147483647 0', 'goaway 1 0', 'answered', 'closed']\n"), "\(caller.output)")
    #expect(try await stage.proxy.process.wait() == 0)
  }

  @Test func `the end of the process waits for a request that its caller has not ended`() async throws {
    let stage = try await Stage(top: "shutdown: {grace: 60s, limit: 120s}")
    let script = """
      connection = Connection(int(sys.argv[1]))
      # Refused at once; the caller goes on with its content.
      connection.send(headers(1, fields("POST", more=[("sec-fetch-site", "cross-site")]), 4))
      seen = []
      def look(seconds):
          for frame in connection.frames(time.monotonic() + seconds):
              if frame is None: return seen.append("closed")
              if isinstance(frame, frames.PingFrame) and "ACK" not in frame.flags:
                  connection.send(raw(6, 1, 0, frame.opaque_data))
              if isinstance(frame, frames.GoAwayFrame):
                  seen.append(f"goaway {frame.last_stream_id}")
                  if frame.last_stream_id == 1: return
              if "END_STREAM" in frame.flags:
                  seen.append("answered")
                  print("listening 1", flush=True)
      look(60)
      look(2)
      connection.send(data(1))
      look(60)
      print(seen)
      """
    let caller = try await stage.caller(script)
    stage.proxy.process.send(SIGTERM)
    #expect(try await caller.wait(within: .seconds(200)) == 0)
    #expect(
      caller.output.hasSuffix("['answered', 'goaway 2147483647', 'goaway 1', 'closed']\n"), "\(caller.output)")
    #expect(try await stage.proxy.process.wait() == 0)
  }
}

extension String {
  fileprivate var trimmed: String { String(filter { !$0.isWhitespace }) }
}
