// Starting, what a bad configuration gets, what is recorded, and ending.

import FoundationEssentials
import Glibc
import Testing
import TestSupport

@Suite(.keepsSecrets, .timeLimit(.minutes(5)))
struct LifecycleTests {
  @Test func `every mistake of a configuration is reported in its place, and nothing is started`() async throws {
    let directory = try TemporaryDirectory()
    let port = try freePort()
    let file = try directory.write(
      """
      listeners:
        - address: 127.0.0.1:\(port)
          hots: [localhost]
      applications:
        contoso:
          authority: https://login.example/realm
          client_id: x
          client_secret_file: missing-secret
      routes:
        - name: orders
          path: orders
          upstream: ftp://orders.example/
          application: contos
          token: {as: application, scopes: [a.b]}
      """, to: "bad.yaml")
    for command in ["run", "check"] {
      let result = try await run([binary(), command, "-c", file])
      #expect(result.status == 2)
      let said = result.errors
      #expect(said.contains("\(file):3:5: error: unknown key 'hots' in listeners[0]; did you mean 'hosts'?"))
      #expect(said.contains("client_secret_file") && said.contains("missing-secret"))
      #expect(said.contains("\(file):11:") && said.contains("\(file):12:") && said.contains("\(file):13:"))
    }
    #expect(!accepts(port))
  }

  @Test func `an unreadable and an empty configuration are said to be so`() async throws {
    let directory = try TemporaryDirectory()
    let missing = try await run([binary(), "run", "-c", directory.file("none.yaml")])
    #expect(missing.status == 2)
    #expect(missing.errors.contains("none.yaml: error: cannot read the configuration"))
    let empty = try await run([binary(), "run", "-c", directory.write("", to: "empty.yaml")])
    #expect(empty.status == 2)
    #expect(empty.errors.contains("empty.yaml:1:1: error:"))
  }

  @Test func `a key of another certificate and an address in use are named with their keys`() async throws {
    let directory = try TemporaryDirectory()
    let authority = try await CertificateAuthority(in: directory)
    let (one, two) = (try await authority.issue("one"), try await authority.issue("two"))
    let route = "routes: [{name: r, path: /, upstream: \"http://127.0.0.1:1/\", token: none}]"
    let mismatch = try directory.write(
      """
      listeners:
        - address: 127.0.0.1:0
          tls: {certificate_file: \(one.certificateFile), key_file: \(two.keyFile)}
      \(route)
      """, to: "mismatch.yaml")
    let refused = try await run([binary(), "run", "-c", mismatch])
    #expect(refused.status == 2)
    #expect(refused.errors.contains("mismatch.yaml:3:") && refused.errors.contains("listeners[0].tls.key_file"))

    let first = try await ProxyUnderTest(in: directory, route)
    let second = try directory.write("listeners: [{address: \"127.0.0.1:\(first.port)\"}]\n\(route)", to: "second.yaml")
    let busy = try await run([binary(), "run", "-c", second])
    // Another start may succeed: a supervisor that never restarts on 2 must not give up here.
    #expect(busy.status == 1)
    #expect(busy.errors.contains("second.yaml:1:") && busy.errors.contains("Address already in use"))
    let mistaken = try directory.write(
      "listeners: [{address: \"127.0.0.1:\(first.port)\"}, {address: \"unix:/nowhere/at-all/proxy.sock\"}]\n\(route)",
      to: "mistaken.yaml")
    #expect(try await run([binary(), "run", "-c", mistaken]).status == 2)
    #expect(try await curl(["http://127.0.0.1:\(first.port)/"]).status == 502)
  }

  @Test func `options beat the environment, which beats the file`() async throws {
    let directory = try TemporaryDirectory()
    let file = try directory.write(
      "listeners: [{address: 127.0.0.1:0}]\nroutes: [{name: r, path: /, upstream: \"http://127.0.0.1:1/\", token: "
        + "none}]",
      to: "from-environment.yaml")
    let environment = ["BEARER_PROXY_CONFIG": file]
    #expect(
      try await run([binary(), "check"], environment: environment).output.contains("ok (1 route, 0 applications)"))
    let beaten = try await run([binary(), "check", "-c", directory.file("other.yaml")], environment: environment)
    #expect(beaten.errors.contains("other.yaml"))
    #expect(try await run([binary(), "version", "--json"]).output.contains(#""version""#))
    #expect(try await run([binary(), "--help"]).output.contains("token"))
    let mistaken = try await run([binary(), "chekc"])
    #expect(mistaken.status == 2)
    #expect(mistaken.errors.contains("did you mean 'check'?"))
  }

  @Test func `SIGTERM stops accepting, finishes what is in flight and exits 0`() async throws {
    let scene = try await ScriptedScene()
    async let slow = scene.proxy.get("/slow/6")
    #expect(try await eventually { !scene.upstream.requests.isEmpty })
    let idle = try scene.proxy.connect()
    try await idle.send("GET /seen HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
    #expect(try await idle.receive { $0.contains("traceparent") }.contains("200 OK"))
    scene.proxy.process.send(SIGTERM)
    #expect(try await idle.isClosedByPeer())
    #expect(try await eventually { !accepts(scene.proxy.port) })
    #expect(try await scene.proxy.admin("/readyz").status == 503)
    let answer = try await slow
    #expect(answer.status == 200)
    #expect(answer.body == "at last\n")
    #expect(answer["connection"] == "close")
    #expect(try await scene.proxy.process.wait() == 0)
  }

  @Test func `requests that outlast the shutdown limit are cut off, and the exit status is 0`() async throws {
    let scene = try await ScriptedScene(top: "shutdown: {limit: 300ms}")
    async let slow = scene.proxy.get("/slow/20")
    #expect(try await eventually { !scene.upstream.requests.isEmpty })
    scene.proxy.process.send(SIGINT)
    #expect(try await scene.proxy.process.wait() == 0)
    #expect(try await slow.exit != 0)
  }

  @Test func `each request leaves one record, and the counters agree`() async throws {
    let scene = try await ScriptedScene()
    _ = try await scene.proxy.get("/seen?secret=1", ["-H", "X-Request-ID: mine-42"])
    _ = try await scene.proxy.get("/hang-up")
    _ = try await scene.proxy.get("/a%00b")
    #expect(try await scene.counter("bearer_proxy_requests_total", #"status_class="2xx""#) == 1)
    #expect(try await scene.counter("bearer_proxy_requests_total", #"status_class="5xx""#) == 1)
    #expect(try await scene.counter("bearer_proxy_requests_total", #"status_class="4xx""#) == 1)
    #expect(try await eventually { scene.proxy.accessRecords.count == 3 })
    let served = try #require(scene.proxy.accessRecords.first)
    #expect(served["route"] == .text("all"))
    #expect(served["method"] == .text("GET"))
    #expect(served["path"] == .text("/seen"))
    #expect(served["status"] == .number(200))
    #expect(served["outcome"] == .text("completed"))
    #expect(served["request_id"] == .text("mine-42"))
    #expect(scene.proxy.accessRecords[1]["outcome"] == .text("upstream_failed"))
    #expect(scene.proxy.accessRecords[2]["outcome"] == .text("answered_by_proxy"))
  }

  @Test func `trace and request ids are taken over where they are well-formed, and made where they are not`()
    async throws
  {
    let scene = try await Scene()
    let trace = "4bf92f3577b34da6a3ce929d0e0e4736"
    let kept = try await scene.proxy.get(
      "/orders/x", ["-H", "traceparent: 00-\(trace)-00f067aa0ba902b7-01", "-H", "X-Request-ID: abc"])
    #expect(kept.echoed("traceparent")?.hasPrefix("00-\(trace)-") == true)
    #expect(kept.echoed("traceparent")?.contains("00f067aa0ba902b7") == false)
    #expect(kept.echoed("traceparent")?.hasSuffix("-01") == true)
    #expect(kept.echoed("x-request-id") == "abc")
    let made = try await scene.proxy.get("/orders/x", ["-H", "traceparent: 00-XYZ", "-H", "X-Request-ID: a b\"c"])
    #expect(made.echoed("traceparent")?.utf8.count == 55)
    #expect(made.echoed("x-request-id")?.utf8.count == 32)
  }
}
