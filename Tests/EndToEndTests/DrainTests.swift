// The end of a process: what is said first, what is still answered, and what a second signal does.

import Glibc
import Testing
import TestSupport

@Suite(.keepsSecrets, .timeLimit(.minutes(5)))
struct DrainTests {
  @Test func `readiness goes first, requests are taken for the delay, and a second signal ends at once`() async throws {
    let scene = try await ScriptedScene(top: "shutdown: {delay: 60s, limit: 90s}")
    async let slow = scene.proxy.get("/slow/50")
    #expect(try await eventually { !scene.upstream.requests.isEmpty })
    scene.proxy.process.send(SIGTERM)
    #expect(try await eventually { try await scene.proxy.admin("/readyz").status == 503 })
    #expect(try await scene.proxy.admin("/readyz").body == "draining\n")
    #expect(try await scene.proxy.admin("/healthz").status == 200)
    let served = try await scene.proxy.get("/seen")
    #expect(served.status == 200 && served["connection"] != "close")
    scene.proxy.process.send(SIGTERM)
    #expect(try await scene.proxy.process.wait(within: .seconds(10)) == 0)
    #expect(scene.proxy.process.errors.contains("ended at once"))
    #expect(try await slow.exit != 0)
  }

  @Test func `after the delay what is in flight is answered with its connection's end, and the exit status is 0`()
    async throws
  {
    let scene = try await ScriptedScene(top: "shutdown: {delay: 200ms}")
    async let slow = scene.proxy.get("/slow/4")
    #expect(try await eventually { !scene.upstream.requests.isEmpty })
    let idle = try scene.proxy.connect()
    try await idle.send("GET /seen HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
    _ = try await idle.receive { $0.contains("traceparent") }
    scene.proxy.process.send(SIGTERM)
    #expect(try await idle.isClosedByPeer())
    #expect(try await eventually { !accepts(scene.proxy.port) })
    let answer = try await slow
    #expect(answer.status == 200 && answer["connection"] == "close" && answer.body == "at last\n")
    #expect(try await scene.proxy.process.wait() == 0)
  }

  @Test func `a request to the admin listener ends the process as a signal does, and a signal after it is the first`()
    async throws
  {
    let scene = try await ScriptedScene()
    #expect(try await scene.proxy.admin("/quitquitquit").status == 405)
    let foreign = ["-X", "POST", "-H", "Origin: https://evil.example"]
    #expect(try await scene.proxy.admin("/quitquitquit", foreign).status == 403)
    #expect(try await scene.proxy.admin("/readyz").status == 200)
    async let slow = scene.proxy.get("/slow/4")
    #expect(try await eventually { !scene.upstream.requests.isEmpty })
    #expect(try await scene.proxy.admin("/quitquitquit", ["-X", "POST"]).status == 200)
    #expect(try await eventually { try await scene.proxy.admin("/readyz").status == 503 })
    // What a pod's end looks like: a hook, then the kubelet's signal.
    scene.proxy.process.send(SIGTERM)
    #expect(try await slow.status == 200)
    #expect(try await scene.proxy.process.wait() == 0)
    #expect(!scene.proxy.process.errors.contains("ended at once"))
  }

  @Test func `a delay that leaves no time to drain is a mistake`() async throws {
    let directory = try TemporaryDirectory()
    let file = try directory.write(
      """
      listeners: [{address: 127.0.0.1:0}]
      shutdown: {delay: 30s, limit: 30s}
      routes: [{name: r, path: /, upstream: "http://127.0.0.1:1/", token: none}]
      """, to: "proxy.yaml")
    let result = try await run([binary(), "check", "-c", file])
    #expect(result.status == 2)
    #expect(result.errors.contains("\(file):2:19: error: shutdown.delay is shorter than shutdown.limit"))
  }
}
