// Starting, what a bad configuration gets, what is recorded, and ending.

import Glibc
import Testing
import TestSupport

@Suite(.keepsSecrets, .timeLimit(.minutes(5)))
struct LifecycleTests {
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

  @Test func `SIGTERM stops accepting, finishes what is in flight and exits 0`() async throws {
    let scene = try await ScriptedScene(top: "shutdown: {delay: 200ms}")
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
}
