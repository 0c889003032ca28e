// Each row of what is done about an API's refusal, with the built program: what is asked for, what is sent once more,
// what the caller sees. The rows themselves are ChallengePlan's. What a person brings is ChallengeTests' and
// RequiredSignInTests'.

import FoundationEssentials
import TestSupport
import Testing

@Suite(.keepsSecrets, .timeLimit(.minutes(5)))
struct ChallengeTableTests {
  private let directory: TemporaryDirectory
  private let api: DemandingAPI

  init() throws {
    directory = try TemporaryDirectory()
    api = try DemandingAPI()
  }

  private func proxy() async throws -> ProxyUnderTest {
    let proxy = try await ProxyUnderTest(
      in: directory,
      "cache: {file: cache.json}\n" + application(api.issuer)
        + """
        routes:
          - {name: api, path: /api/, upstream: "\(api.upstream)/", application: contoso,
             token: {as: application, scopes: [orders.read], scopes_on_challenge: [orders.write]}}
          - {name: fixed, path: /fixed/, upstream: "\(api.upstream)/", application: contoso,
             token: {as: application, scopes: [orders.read]}}

        """)
    #expect(try await eventually { try await proxy.get("/api/free").status == 200 })
    return proxy
  }

  private func outcome(_ proxy: ProxyUnderTest, _ kind: String, _ outcome: String) async throws -> Int {
    try await metricSum(proxy, "bearer_proxy_challenges_total", "kind=\"\(kind)\",outcome=\"\(outcome)\"")
  }

  /// Whether an answer is the API's own refusal, with every field of it in order; cookies have the path of the route.
  private func isUntouched(_ answer: Answer, status: Int) -> Bool {
    let names = Set(DemandingAPI.companions.map(\.name))
    let fields = answer.fields.filter { names.contains($0.name) && !$0.value.hasPrefix("Bearer ") }
    return answer.status == status && answer.body == "refused"
      && fields.elementsEqual(DemandingAPI.companions) {
        $0.name == $1.name && $0.value.replacing("Path=/fixed/", with: "Path=/api/") == $1.value
      }
      && answer.fields.filter { $0.value.hasPrefix("Bearer ") }.count == 1
  }

  @Test(
    arguments: [
      ("alpha", "claims", "orders.read", "alpha"), ("valid", "invalid_token", "orders.read", "plain"),
      ("wide", "insufficient_scope", "orders.read orders.write", "plain"),
    ] as [(part: String, kind: String, scope: String, body: String)])
  func `what another token brings is brought, once, and the request goes out once more with its content`(
    row: (part: String, kind: String, scope: String, body: String)
  ) async throws {
    let proxy = try await proxy()
    api.revoke()
    let (asked, requests) = (api.asked.count, api.requests)
    let answer = try await proxy.get("/api/\(row.part)", ["-d", "content"])
    #expect(answer.status == 200, "\(answer.status) \(answer.body)")
    #expect(answer.body == row.body + "content")
    #expect(answer["www-authenticate"] == nil && answer["set-cookie"] == nil, "nothing of the refusal is left")
    #expect(api.asked.count == asked + 1 && api.requests == requests + 2)
    #expect(api.scopes.last == row.scope)
    #expect(try await outcome(proxy, row.kind, "replayed") == 1)
    // The next one has the new token from the start.
    #expect(try await proxy.get("/api/\(row.part)").status == 200)
    #expect(api.asked.count == asked + 1 && api.requests == requests + 3)
    #expect(api.astray == 0, "what a challenge names is not contacted")
  }

  @Test func `a token that was refused is not replaced twice, and the second refusal is passed on`() async throws {
    let proxy = try await proxy()
    api.revoke(.max)
    let (asked, requests) = (api.asked.count, api.requests)
    for _ in 0..<4 { #expect(isUntouched(try await proxy.get("/api/valid"), status: 401)) }
    #expect(api.asked.count == asked + 1)
    #expect(api.requests == requests + 5)
    #expect(try await proxy.get("/api/free").status == 200)
  }

  @Test func `plain-401: a refusal without a reason is the fault of a token older than a minute, and of no newer one`()
    async throws
  {
    let young = try await proxy()
    api.revoke()
    let asked = api.asked.count
    #expect(isUntouched(try await young.get("/api/bare"), status: 401))
    #expect(api.asked.count == asked)
    try await young.process.stop()

    // The same token, as of two minutes ago.
    let path = directory.file("cache.json")
    let text = textOfFile(path)
    let since = try #require(text.between("\"cached_at\": \"", "\"").flatMap { Int($0) })
    try Data(text.replacing("\"\(since)\"", with: "\"\(since - 120)\"").utf8).write(to: URL(filePath: path))
    let old = try await proxy()
    #expect(api.asked.count == asked, "it is served from the file")
    #expect(try await old.get("/api/bare").status == 200)
    #expect(api.asked.count == asked + 1)
    #expect(try await outcome(old, "unexplained", "replayed") == 1)
  }

  @Test func `scopes that a route does not allow, and another way to sign in, are passed on untouched`() async throws {
    let proxy = try await proxy()
    let (asked, requests) = (api.asked.count, api.requests)
    #expect(isUntouched(try await proxy.get("/fixed/wide"), status: 403))
    #expect(isUntouched(try await proxy.get("/api/anew"), status: 401))
    #expect(api.asked.count == asked && api.requests == requests + 2)
    #expect(try await outcome(proxy, "insufficient_scope", "passed_on") == 1)
    #expect(try await outcome(proxy, "step_up", "passed_on") == 1)
    let status = try await proxy.admin("/status").body
    #expect(status.contains("mfa") && status.contains("60 s"), "\(status)")
    #expect(api.astray == 0)
  }

  @Test func `a request whose content is larger than is kept is refused, and the next one has what it takes`()
    async throws
  {
    let proxy = try await proxy()
    api.revoke()
    let (asked, requests) = (api.asked.count, api.requests)
    let large = try directory.write(String(repeating: "x", count: 70_000), to: "large")
    #expect(isUntouched(try await proxy.get("/api/valid", ["--data-binary", "@\(large)"]), status: 401))
    #expect(try await eventually { api.asked.count == asked + 1 })
    #expect(try await eventually { try await proxy.get("/api/valid").status == 200 })
    #expect(api.asked.count == asked + 1)
    #expect(api.requests <= requests + 12)
    #expect(try await outcome(proxy, "invalid_token", "renewed_behind") == 1)
  }
}
