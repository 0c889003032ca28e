// Requests that may not be done twice, on connections that the upstream closes at that moment.

import Testing
import TestSupport

@Suite(.keepsSecrets, .timeLimit(.minutes(5)))
struct ClosedConnectionTests {
  private let directory: TemporaryDirectory

  init() throws { directory = try TemporaryDirectory() }

  private func start(_ way: String...) async throws -> (upstream: ChildProcess, proxy: ProxyUnderTest) {
    let upstream = try ChildProcess(
      "closing-upstream", [pinnedPython(), testsDirectory + "/peers/closing_upstream.py"] + way, in: directory)
    let port = try await announcedPort(of: upstream)
    let proxy = try await ProxyUnderTest(
      in: directory,
      """
      loops: 1
      routes:
        - {name: api, path: /, upstream: "http://127.0.0.1:\(port)/", token: none}
      """)
    return (upstream, proxy)
  }

  private func applied(_ upstream: ChildProcess) -> [String] {
    upstream.output.split(separator: "\n").filter { $0.hasPrefix("applied ") }.map { String($0.dropFirst(8)) }
  }

  @Test(arguments: ["crossing", "reading", "resetting"])
  func `a POST that an upstream may have got is not sent again`(_ way: String) async throws {
    let (upstream, proxy) = try await start(way)
    #expect(try await proxy.get("/first").status == 200)
    let answer = try await proxy.get("/second", ["-X", "POST", "-d", "once"])
    // On a busy machine the POST comes so late that it gets a connection of its own.
    if answer.status == 200 {
      #expect(try await eventually { applied(upstream) == ["/second connection=2"] })
    } else {
      #expect(answer.status == 502 && answer.body.contains("upstream-closed"))
      #expect(applied(upstream) == (way == "reading" ? ["/second connection=1"] : []))
    }
  }

  @Test func `a POST takes no connection that was idle for more than a moment, a GET does`() async throws {
    let (upstream, proxy) = try await start("idle", "60")
    #expect(try await proxy.get("/first", ["-X", "POST", "-d", "x"]).status == 200)
    try await Task.sleep(for: .seconds(1.1))
    #expect(try await proxy.get("/second").status == 200)
    try await Task.sleep(for: .seconds(1.1))
    #expect(try await proxy.get("/third", ["-X", "POST", "-d", "x"]).status == 200)
    #expect(try await eventually { applied(upstream) == ["/first connection=1", "/third connection=2"] })
  }
}
