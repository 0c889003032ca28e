// Pages of other sites in a real browser at a proxy of the same machine: headless Chromium, driven by Tests/peers/foreign_pages.py.

import FoundationEssentials
import TestSupport
import Testing

@Suite(
  "Foreign pages in a browser", .timeLimit(.minutes(5)),
  .enabled(if: hasBrowser, "no browser: apt-get install chromium chromium-driver"))
struct ForeignPageTests {
  @Test func `no page of another site makes Chromium reach an upstream, unless it may call`() async throws {
    let directory = try TemporaryDirectory()
    let upstream = try await ScriptedUpstream(in: directory)
    let (port, pages) = (try freePort(), try freePort())
    let proxy = try await ProxyUnderTest(
      in: directory, port: port,
      """
      listeners:
        - address: "127.0.0.1:\(port)"
          callers: {origins: ["http://friend.localhost:\(pages)"]}
      routes:
        - {name: all, path: /, upstream: "http://127.0.0.1:\(upstream.port)/", token: none, upgrade: [websocket]}
      """)
    let result = try await run(
      [
        "/usr/bin/python3", testsDirectory + "/peers/foreign_pages.py", "--proxy", "\(port)", "--pages", "\(pages)",
      ], within: .seconds(150))
    #expect(result.status == 0, "\(result.output)\(result.errors)")
    #expect(result.output.contains("ok: no WebSocket opens for foreign.localhost"))
    let arrived = upstream.requests.compactMap { request in
      request.split(separator: "?by=").dropFirst().first?.split(separator: " ").first.map(String.init)
    }
    #expect(Set(arrived) == ["friend-fetch-read", "friend-fetch-preflight", "friend-credentials", "typed", "own"])
    withExtendedLifetime(proxy) {}
  }
}
