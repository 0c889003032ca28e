// A token's life: who shares it, how it is renewed behind its callers' backs, and what an outage of the provider does
// to it.

import Bytes
import Testing
import TestSupport

@Suite(.keepsSecrets, .timeLimit(.minutes(5)))
struct RenewalTests {
  @Test func `routes with different scope sets get different tokens, and routes with equal ones share one`()
    async throws
  {
    let authority = try await CertificateAuthority()
    let nginx = try await NginxUpstream(certificate: authority.issue("upstream"))
    let provider = try await OpenIDProvider()
    // None finds another's wider token in the cache before it asks for its own.
    try await provider.behave(#"{"together": 3, "times": 3}"#)
    let rows = [
      ("reads", "orders.read"), ("writes", "orders.write"), ("both", "orders.read, orders.write"),
      ("swapped", "orders.write, orders.read"), ("again", "orders.read"),
    ]
    let proxy = try await ProxyUnderTest(
      application(provider.issuer) + "routes:\n"
        + rows.map { name, scopes in
          route(name, to: nginx.port, path: "echo/", scopes: scopes)
        }.joined())
    _ = try await eventually { try await proxy.admin("/readyz").status == 200 }
    #expect(try await provider.requests(to: "token") == 3)
    #expect(try await provider.requests(to: "discovery") == 1)
    var tokens: [String: String] = [:]
    for (name, scopes) in rows {
      let answer = try await proxy.get("/\(name)/x")
      let authorization = try #require(answer.echoed("authorization"))
      tokens[name] = authorization
      let judged = try await curl(["-H", "Authorization: \(authorization)", provider.issuer + "/api/whoami"])
      #expect(judged.status == 200)
      for scope in ["orders.read", "orders.write"] {
        #expect(judged.body.contains(scope) == scopes.contains(scope))
      }
    }
    #expect(Set(tokens.values).count == 3)
    #expect(tokens["reads"] == tokens["again"] && tokens["both"] == tokens["swapped"])
    #expect(try await provider.requests(to: "token") == 3)
  }

  @Test func `short-lived tokens are renewed behind their callers' backs, however slow the provider`() async throws {
    let scene = try await ProviderScene(["--expires-in", "8"])
    try await scene.provider.behave(#"{"delay": 1, "endpoint": "token"}"#)
    let output = try await python(
      """
      import sys, time, http.client
      c = http.client.HTTPConnection("127.0.0.1", int(sys.argv[1]), timeout=10)
      statuses, tokens, end = set(), set(), time.monotonic() + 30
      while len(tokens) < 3 and time.monotonic() < end:
          c.request("GET", "/orders/seen"); answer = c.getresponse(); statuses.add(answer.status)
          tokens.add(next(l for l in answer.read().decode().splitlines() if l.startswith("Authorization: Bearer ")))
          time.sleep(0.01)
      print(statuses, len(tokens))
      """, ["\(scene.proxy.port)"])
    #expect(output == "{200} 3\n")
    // No caller asked for one of its own.
    #expect(try await scene.provider.requests(to: "token") == 3)
    #expect(scene.proxy.accessRecords.allSatisfy { $0["token_source"] == .string("cache") })
  }

  @Test func `a held token serves through an outage to its hard expiry and not beyond, and the outage ends by itself`()
    async throws
  {
    let scene = try await ProviderScene(["--expires-in", "10"])
    #expect(try await scene.proxy.get("/orders/seen").status == 200)
    try await scene.provider.behave(#"{"status": 503, "endpoint": "token"}"#)
    // The renewal is due at half of its life, and begins with a request.
    #expect(
      try await eventually {
        _ = try await scene.proxy.get("/orders/seen")
        return scene.proxy.process.errors.contains("token not renewed, the held one still serves")
      })
    let served = try await scene.proxy.get("/orders/seen")
    #expect(served.status == 200)
    #expect(try await scene.proxy.admin("/readyz").status == 200)
    var answer = served
    #expect(
      try await eventually {
        answer = try await scene.proxy.get("/orders/seen")
        return answer.status != 200
      })
    let passed = scene.upstream.requests.count
    #expect(answer.status == 503 && answer.retryAfter >= 1)
    #expect(answer.body.contains("identity-provider-unavailable"))
    #expect(try await scene.proxy.admin("/readyz").body.contains("identity-provider-unavailable"))
    #expect(scene.upstream.requests.count == passed)
    // 1, 2, 4 … seconds between the attempts, each with one repetition.
    #expect(try await scene.provider.requests(to: "token") <= 10)
    try await scene.provider.behave("{}")
    #expect(try await eventually { try await scene.proxy.get("/orders/seen").status == 200 })
  }
}
