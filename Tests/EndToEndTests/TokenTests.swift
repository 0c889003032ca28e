// The main job and what happens when there is no token, with a provider and an upstream we did not write.

import FoundationEssentials
import Testing
import TestSupport

@Suite(.keepsSecrets, .timeLimit(.minutes(5)))
struct TokenTests {
  /// A thousand callers at once; prints how many were answered, and how.
  private static let crowd = """
    import sys, threading, http.client
    codes = []
    def one():
        c = http.client.HTTPConnection("127.0.0.1", int(sys.argv[1]), timeout=60); c.request("GET", "/orders/seen")
        codes.append(c.getresponse().status); c.close()
    threads = [threading.Thread(target=one) for _ in range(1000)]
    [t.start() for t in threads]; [t.join() for t in threads]
    print(len(codes), set(codes))
    """

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

  @Test func `a thousand calls at once are served by the one token request of the start`() async throws {
    let directory = try TemporaryDirectory()
    let provider = try await OpenIDProvider(in: directory)
    // Without TLS: a thousand handshakes at once can take a busy machine longer than one of them may.
    let upstream = try await ScriptedUpstream(in: directory)
    let proxy = try await ProxyUnderTest(in: directory, configuration(provider, upstream))
    #expect(try await eventually { try await proxy.admin("/readyz").status == 200 })
    #expect(try await provider.requests(to: "token") == 1)
    #expect(try await python(Self.crowd, ["\(proxy.port)"]) == "1000 {200}\n")
    #expect(try await provider.requests(to: "token") == 1)
  }

  @Test func `a thousand callers that arrive before the first token wait for one request`() async throws {
    let directory = try TemporaryDirectory()
    let provider = try await OpenIDProvider(in: directory)
    let upstream = try await ScriptedUpstream(in: directory)
    try await provider.behave(#"{"delay": 3, "endpoint": "token", "times": 5}"#)
    let proxy = try await ProxyUnderTest(in: directory, configuration(provider, upstream))
    #expect(try await python(Self.crowd, ["\(proxy.port)"]) == "1000 {200}\n")
    #expect(try await provider.requests(to: "token") == 1)
    #expect(try await eventually { proxy.accessRecords.contains { $0["token_source"] == .text("identity_provider") } })
  }

  @Test func `a wrong secret is a 502 that names the route, and is not asked again for every call`() async throws {
    let directory = try TemporaryDirectory()
    let provider = try await OpenIDProvider(in: directory)
    let upstream = try await ScriptedUpstream(in: directory)
    let proxy = try await ProxyUnderTest(
      in: directory, configuration(provider, upstream).replacing(OpenIDProvider.secret, with: "wrong-secret-123"))
    for _ in 0..<5 {
      let answer = try await proxy.get("/orders/seen")
      #expect(answer.status == 502)
      #expect(answer["content-type"] == "application/problem+json")
      #expect(answer["cache-control"] == "no-store")
      #expect(answer.body.contains("problem:token-request-rejected"))
      #expect(answer.body.contains(#""route":"orders""#))
      #expect(!answer.body.contains("\(upstream.port)"))
    }
    // Once in the Authorization field, once in the form.
    #expect(try await provider.requests(to: "token") == 2)
    #expect(try await proxy.get("/open/seen").status == 200)
    #expect(try await proxy.admin("/readyz").status == 503)
    #expect(!proxy.everythingWritten.contains("wrong-secret-123"))
    #expect(try await eventually { proxy.process.errors.contains("invalid_client") })
  }

  @Test func `a provider that is down is a 503 with Retry-After, and the proxy recovers by itself`() async throws {
    let directory = try TemporaryDirectory()
    let upstream = try await ScriptedUpstream(in: directory)
    let port = try freePort()
    let proxy = try await ProxyUnderTest(in: directory, configuration("http://127.0.0.1:\(port)", upstream))
    let answer = try await proxy.get("/orders/seen")
    #expect(answer.status == 503)
    #expect(answer.body.contains("identity-provider-unavailable"))
    #expect(Int(answer["retry-after"] ?? "") ?? 0 >= 1)
    #expect(try await proxy.get("/open/seen").status == 200)
    let readiness = try await proxy.admin("/readyz")
    #expect(readiness.status == 503)
    #expect(readiness.body.contains("contoso"))
    #expect(try await proxy.admin("/healthz").status == 200)

    let provider = try await OpenIDProvider(in: directory, port: port)
    #expect(try await eventually { try await proxy.admin("/readyz").status == 200 })
    #expect(try await proxy.get("/orders/seen").status == 200)
    try await provider.process.stop()
    // A held token still serves while the provider is away.
    #expect(try await proxy.get("/orders/seen").status == 200)
  }

  @Test func `a route without a token passes the caller's Authorization on, a route with one replaces it`() async throws
  {
    let scene = try await Scene()
    let open = try await scene.proxy.get("/open/echo", ["-H", "Authorization: Basic abc"])
    #expect(open.echoed("authorization") == "Basic abc")
    let orders = try await scene.proxy.get("/orders/x", ["-H", "Authorization: Basic abc"])
    #expect(orders.echoed("authorization")?.hasPrefix("Bearer ey") == true)
  }

  @Test func `the command shows what the route gets, and the token only on demand`() async throws {
    let scene = try await Scene()
    let token = try await run([binary(), "token", "-c", scene.proxy.configuration, "--route", "orders", "--json"])
    #expect(token.status == 0)
    #expect(token.output.contains(#""token_source":"identity_provider""#))
    #expect(!token.output.contains("eyJ") && !token.output.contains("access_token"))
    let revealed = try await run([binary(), "token", "-c", scene.proxy.configuration, "--route", "orders", "--reveal"])
    #expect(revealed.output.contains("eyJ"))
    let unknown = try await run([binary(), "token", "-c", scene.proxy.configuration, "--route", "order"])
    #expect(unknown.status == 2)
    #expect(unknown.errors.contains("did you mean 'orders'?"))
  }

  @Test func `nothing the proxy writes or answers shows a secret or a token`() async throws {
    let scene = try await Scene(top: "log: {level: debug}")
    let answer = try await scene.proxy.get("/orders/x?access_token=in-the-query")
    let token = try #require(answer.echoed("authorization")?.dropFirst("Bearer ".count))
    _ = try await scene.proxy.get("/orders/x", ["-H", "Authorization: Bearer callers-own-token"])
    let metrics = try await scene.proxy.admin("/metrics")
    let readiness = try await scene.proxy.admin("/readyz")
    let arguments = textOfFile("/proc/\(scene.proxy.process.identifier)/cmdline")
    try await scene.proxy.process.stop()
    let written = scene.proxy.everythingWritten + metrics.body + readiness.body + arguments
    #expect(written.contains(#""route":"orders""#))
    for secret in [String(token), OpenIDProvider.secret, "in-the-query", "callers-own-token"] {
      #expect(!written.contains(secret))
    }
  }

  private func configuration(_ provider: OpenIDProvider, _ upstream: ScriptedUpstream) -> String {
    configuration(provider.issuer, upstream)
  }

  private func configuration(_ issuer: String, _ upstream: ScriptedUpstream) -> String {
    """
    applications:
      contoso:
        authority: \(issuer)
        client_id: \(OpenIDProvider.client)
        client_secret: "\(OpenIDProvider.secret)"
    routes:
      - name: orders
        path: /orders/
        upstream: http://127.0.0.1:\(upstream.port)/
        application: contoso
        token: {as: application, scopes: [orders.read]}
      - name: open
        path: /open/
        upstream: http://127.0.0.1:\(upstream.port)/
        token: none
    """
  }
}
