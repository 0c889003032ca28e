// The main job and what happens when there is no token, with a provider and an upstream we did not write.

import Testing
import TestSupport

@Suite(.keepsSecrets, .timeLimit(.minutes(5)))
struct TokenTests {
  @Test func `a plain call reaches a TLS upstream with the provider's token, which verifies against its keys`()
    async throws
  {
    let scene = try await Scene()
    let answer = try await scene.proxy.get("/orders/7?expand=lines%20x&b=%2F")
    #expect(answer.status == 200)
    #expect(answer.echoed("uri") == "/echo/7?expand=lines%20x&b=%2F")
    #expect(answer.echoed("tls")?.hasPrefix("TLSv1.") == true)
    #expect(answer.echoed("host") == "127.0.0.1:\(scene.nginx.tlsPort)")
    let authorization = try #require(answer.echoed("authorization"))
    #expect(authorization.hasPrefix("Bearer ey"))
    // The provider's own resource server judges the very token that nginx saw.
    let judged = try await curl(["-H", "Authorization: \(authorization)", scene.provider.issuer + "/api/whoami"])
    #expect(judged.status == 200)
    #expect(judged.body.contains("orders.read"))
  }

  @Test func `a provider that is down is a 503 with Retry-After, and the proxy recovers by itself`() async throws {
    let upstream = try await PythonPeer("scripted_upstream.py")
    let port = try freePort()
    let proxy = try await ProxyUnderTest(
      ProviderScene.configuration("http://127.0.0.1:\(port)", upstream))
    let answer = try await proxy.get("/orders/seen")
    #expect(answer.status == 503)
    #expect(answer.body.contains("identity-provider-unavailable"))
    #expect(Int(answer["retry-after"] ?? "") ?? 0 >= 1)
    #expect(try await proxy.get("/open/seen").status == 200)
    let readiness = try await proxy.admin("/readyz")
    #expect(readiness.status == 503)
    #expect(readiness.body.contains("contoso"))
    #expect(try await proxy.admin("/healthz").status == 200)

    let provider = try await OpenIDProvider(port: port)
    #expect(try await eventually { try await proxy.admin("/readyz").status == 200 })
    #expect(try await proxy.get("/orders/seen").status == 200)
    try await provider.process.stop()
    // A held token still serves while the provider is away.
    #expect(try await proxy.get("/orders/seen").status == 200)
  }
}
