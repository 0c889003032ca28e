// A process that is killed leaves nothing to clean up, and its successor serves with what it had.

import Glibc
import Testing
import TestSupport

@Suite(.keepsSecrets, .timeLimit(.minutes(5)))
struct CrashTests {
  @Test func `after kill -9 the next start serves cached tokens without a token request`() async throws {
    let directory = try TemporaryDirectory()
    let provider = try await OpenIDProvider(in: directory)
    let upstream = try await PythonPeer("scripted_upstream.py", in: directory)
    let port = try freePort()
    let socket = directory.file("proxy.sock")
    func start() async throws -> ProxyUnderTest {
      try await ProxyUnderTest(
        in: directory, port: port,
        """
        listeners:
          - address: 127.0.0.1:\(port)
          - address: unix:\(socket)
        cache: {file: cache.json}

        """ + application(provider.issuer) + "routes:\n" + route("orders", to: upstream.port))
    }
    var proxy = try await start()
    #expect(try await proxy.get("/orders/seen").status == 200)
    // A slow disk does not hold up the answer: the token may be filed after it.
    #expect(try await eventually { directory.read("cache.json").contains("\"AccessToken\"") })
    for _ in 1...3 {
      proxy.process.send(SIGKILL)
      #expect(try await proxy.process.wait() == 128 + SIGKILL)
      #expect(access(socket, F_OK) == 0)
      proxy = try await start()
      #expect(try await proxy.get("/orders/seen").status == 200)
      #expect(try await curl(["--unix-socket", socket, "http://localhost/orders/seen"]).status == 200)
      #expect(try await eventually { try await proxy.admin("/readyz").status == 200 })
    }
    #expect(try await provider.requests(to: "token") == 1)
    // Nor need the provider be there.
    try await provider.process.stop()
    proxy.process.send(SIGKILL)
    _ = try await proxy.process.wait()
    proxy = try await start()
    #expect(try await proxy.get("/orders/seen").status == 200)
  }
}
