// Where callers connect, and which of them are let in.

import Testing
import TestSupport

@Suite(.keepsSecrets, .timeLimit(.minutes(5)))
struct ListenerTests {
  @Test func `a unix socket, an IPv6 address and a TLS listener serve, and the socket file goes with the process`()
    async throws
  {
    let directory = try TemporaryDirectory()
    let authority = try await CertificateAuthority(in: directory)
    let certificate = try await authority.issue("listener")
    let upstream = try await ScriptedUpstream(in: directory)
    let (port, sixth, secure) = (try freePort(), try freePort(), try freePort())
    let socket = directory.file("proxy.sock")
    let proxy = try await ProxyUnderTest(
      in: directory, port: port,
      """
      listeners:
        - address: 127.0.0.1:\(port)
        - address: "[::1]:\(sixth)"
        - address: unix:\(socket)
        - address: 127.0.0.1:\(secure)
          tls: {certificate_file: \(certificate.certificateFile), key_file: \(certificate.keyFile)}
      routes:
        - {name: all, path: /, upstream: "http://127.0.0.1:\(upstream.port)/", token: none}
      """)
    let overUnix = try await curl(["--unix-socket", socket, "http://whatever/seen"])
    #expect(overUnix.status == 200)
    #expect(overUnix.body.contains("Forwarded: for=unknown;host=whatever;proto=http"))
    #expect(!overUnix.body.contains("X-Forwarded-For"))
    let overSix = try await curl(["http://[::1]:\(sixth)/seen"])
    #expect(overSix.body.contains("X-Forwarded-For: ::1\r\n"))
    #expect(overSix.body.contains(#"Forwarded: for="[::1]";host="[::1]:\#(sixth)";proto=http"#))
    let overTLS = try await curl(["--cacert", authority.file, "https://localhost:\(secure)/seen"])
    #expect(overTLS.body.contains("X-Forwarded-Proto: https\r\n"))
    let large = try await curl([
      "--cacert", authority.file, "-H", "Expect:", "--data-binary", "@\(try binary())",
      "https://localhost:\(secure)/sink",
    ])
    #expect(large.status == 200)
    let distrusted = try await curl(["https://localhost:\(secure)/seen"])
    #expect(distrusted.exit == 60)
    try await proxy.process.stop()
    #expect(try await run(["test", "-e", socket]).status == 1)
  }

  @Test(arguments: [
    (["-H", "Host: evil.example"], 421), (["-H", "Host: localhost"], 200), (["-H", "Host: LOCALHOST:80"], 200),
    (["-H", "Sec-Fetch-Site: cross-site"], 403), (["-H", "Sec-Fetch-Site: same-site"], 403),
    (["-H", "Sec-Fetch-Site: none"], 200), (["-H", "Sec-Fetch-Site: same-origin"], 200),
    (["-H", "Origin: https://evil.example"], 403), (["-H", "Origin: null"], 403),
    (["-X", "OPTIONS", "-H", "Origin: https://evil.example", "-H", "Access-Control-Request-Method: PUT"], 403),
  ])
  func `a page of another site is turned away, a program is not`(_ call: ([String], Int)) async throws {
    let scene = try await ScriptedScene()
    #expect(try await scene.proxy.get("/seen", call.0).status == call.1)
    #expect(scene.upstream.requests.count == (call.1 == 200 ? 1 : 0))
  }
}
