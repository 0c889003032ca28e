// Pages of other sites in a real browser at a proxy of the same machine: headless Chromium, driven by
// Tests/peers/foreign_pages.py.

import TestSupport
import Testing

@Suite(
  "Foreign pages in a browser", .timeLimit(.minutes(20)),
  .enabled(if: hasBrowser, "no browser: apt-get install chromium chromium-driver"))
struct ForeignPageTests {
  @Test func `no page of another site makes Chromium reach an upstream, unless it may call`() async throws {
    let directory = try TemporaryDirectory()
    let authority = try await CertificateAuthority(in: directory)
    let names = ["DNS:localhost", "DNS:proxy.example", "DNS:foreign.example"]
    let certificate = try await authority.issue("listener", for: names)
    let upstream = try await PythonPeer("scripted_upstream.py", in: directory)
    let pages = try freePort()
    let log = directory.file("access.log")
    let proxy = try await ProxyUnderTest(
      in: directory,
      """
      log: {access_file: \(log)}
      listeners:
        - address: "127.0.0.1:PORT"
          hosts: [proxy.example]
          callers: {origins: ["http://friend.localhost:\(pages)"]}
        - address: "127.0.0.1:PORT2"
          tls: {\(certificate.tls)}
      routes:
        - {name: all, path: /, upstream: "http://127.0.0.1:\(upstream.port)/", token: none, upgrade: [websocket]}
      """)
    let (port, secure) = (proxy.port, proxy.ports[1])
    let result = try await run(
      [
        "/usr/bin/python3", testsDirectory + "/peers/foreign_pages.py", "--proxy", "\(port)", "--secure", "\(secure)",
        "--pages", "\(pages)", "--certificate", certificate.certificateFile, "--key", certificate.keyFile, "--log", log,
      ], within: .seconds(1100))
    #expect(result.status == 0, "\(result.output)\(result.errors)")
    #expect(result.output.contains("ok: no WebSocket opens for foreign.localhost"))
    #expect(result.output.contains("ok: every request of sandbox-local pages is refused"))
    // A program at a name of which browsers say little is served.
    let name = ["--resolve", "proxy.example:\(port):127.0.0.1", "http://proxy.example:\(port)/seen/program"]
    #expect(try await curl(name).status == 200)
    let arrived = upstream.requests.compactMap { request in
      request.split(separator: "/seen/").dropFirst().first?.split(separator: " ").first.map(String.init)
    }
    #expect(!upstream.requests.contains { $0.contains("/fields") })
    var expected: Set<String> = ["friend/fetch", "friend/preflight", "friend/credentials", "program"]
    for way in ["typed", "fetch", "no-cors", "beacon", "prefetch"] {
      expected.formUnion(["own/\(way)", "own-tls/\(way)"])
    }
    #expect(Set(arrived) == expected)
    withExtendedLifetime(proxy) {}
  }
}
