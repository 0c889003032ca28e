// The addresses for callers, and the permitted callers.

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
    let upstream = try await PythonPeer("scripted_upstream.py", in: directory)
    let socket = directory.file("proxy.sock")
    let proxy = try await ProxyUnderTest(
      in: directory,
      """
      listeners:
        - address: 127.0.0.1:PORT
        - address: "[::1]:PORT2"
        - address: unix:\(socket)
        - address: 127.0.0.1:PORT3
          tls: {\(certificate.tls)}
      routes:
        - {name: all, path: /, upstream: "http://127.0.0.1:\(upstream.port)/", token: none}
      """)
    let (sixth, secure) = (proxy.ports[1], proxy.ports[2])
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

  @Test func `at a name of which browsers say little, a page is told from a program and from the app itself`()
    async throws
  {
    let scene = try await ScriptedScene(
      listener: """
        , hosts: [proxy.example]}
          - {address: "127.0.0.1:PORT2", hosts: [proxy.example], callers: {header: {name: X-Proxy-Key, value: \
        0123456789abcdef}}
        """)
    let (port, keyed, upstream) = (scene.proxy.port, scene.proxy.ports[1], scene.upstream)
    func status(_ port: Int, _ arguments: [String]) async throws -> Int {
      let name = ["--resolve", "proxy.example:\(port):127.0.0.1", "http://proxy.example:\(port)/seen"]
      return try await curl(name + arguments).status
    }
    let browser = ["-A", "Mozilla/5.0 (X11; Linux x86_64)", "-H", "Accept-Language: en"]
    #expect(try await status(port, browser + ["-e", "http://evil.example/"]) == 403)
    #expect(try await status(port, browser + ["-e", "http://proxy.example:\(port)/app"]) == 200)
    #expect(try await status(port, []) == 200)
    // A page cannot send a secret, so that a caller with one is a program.
    #expect(try await status(keyed, browser + ["-H", "X-Proxy-Key: 0123456789abcdef"]) == 200)
    #expect(upstream.requests.count == 3)
  }

  @Test func `an upstream speaks for its route, and not for the listener's origin`() async throws {
    let directory = try TemporaryDirectory()
    let upstream = try await PythonPeer("scripted_upstream.py", in: directory)
    let proxy = try await ProxyUnderTest(
      in: directory,
      """
      routes:
        - {name: a, path: /a/, upstream: "http://127.0.0.1:\(upstream.port)/", token: none}
        - {name: b, path: /b/, upstream: "http://127.0.0.1:\(upstream.port)/", token: none}
      """)
    let jar = directory.file("jar")
    let fields = [
      "Clear-Site-Data=\"*\"", "Set-Cookie=x=1; Path=/", "Set-Cookie=y=2; Domain=127.0.0.1",
      "Set-Cookie=bearer-sign-in-\(proxy.port)=stolen; Path=/", "X-Own=stays",
    ]
    for order in ["/fields", "/hints"] {
      let answer = try await proxy.get(
        "/a" + order, ["-G", "-c", jar] + fields.flatMap { ["--data-urlencode", $0] })
      #expect(answer.status == 200 && answer["x-own"] == "stays" && answer["clear-site-data"] == nil)
      #expect(answer.fields.filter { $0.name == "set-cookie" }.allSatisfy { $0.value.hasSuffix("; Path=/a") })
    }
    // An honest application finds its cookies again, and no other route does.
    let own = try await proxy.get("/a/seen", ["-b", jar]).body
    #expect(own.contains("x=1") && own.contains("y=2") && !own.contains("stolen"))
    #expect(try await !proxy.get("/b/seen", ["-b", jar]).body.contains("Cookie:"))
  }
}
