// Callers' tokens in the broker: one exchange for each token that callers bring, no one's for another, bounded.

import Bytes
import Platform
import Testing
import TestSupport
import Tokens

@testable import Identity

@Suite(.timeLimit(.minutes(5))) struct CallerTokenBrokerTests {
  private func assertion(
    _ name: String, endsIn seconds: Int64 = 7200, tenant: String? = nil, now: UnixTime = ManualClock.start
  ) throws -> CallerAssertion {
    let bytes = try SHA256.digest(of: Array(name.utf8))
    return CallerAssertion(
      token: Secret("assertion-of-\(name)"), digest: Digest256(bytes.span), expiresAt: now + seconds, tenant: tenant)
  }

  private func route(
    _ bench: Bench, authority: String = ScriptedProvider.issuer, version: UInt64 = 0
  ) throws -> TokenSubscription {
    TokenSubscription(
      application: try bench.provider.application(at: authority, version: version), subject: .caller(nil, .onBehalfOf),
      scopes: try ScopeSet(["orders.read"]))
  }

  private func refusal(_ bench: Bench, _ subscription: TokenSubscription) async -> AssertionRefusal? {
    await bench.failure(subscription)?.refusal
  }

  @Test func `each caller has its own token, and the next request of the same gets that one`() async throws {
    let bench = Bench()
    let route = try route(bench)
    let ann = route.onBehalf(of: try assertion("ann"))
    let bob = route.onBehalf(of: try assertion("bob"))
    let first = try await bench.broker.bearer(for: ann)
    let second = try await bench.broker.bearer(for: bob)
    #expect(first.revealedToken() == "token-1")
    #expect(second.revealedToken() == "token-2")
    #expect(try await bench.broker.bearer(for: ann) === first)
    #expect(try await bench.broker.bearer(for: bob) === second)
    let forms = await bench.provider.forms
    #expect(forms.count == 2)
    #expect(forms[0].contains("assertion=assertion-of-ann&") && forms[0].contains("requested_token_use=on_behalf_of"))
    #expect(forms[1].contains("assertion=assertion-of-bob&"))
    #expect(await bench.broker.callerCounts == CallerTokenCounts(held: 2, evictions: 0))
    // Nothing of a caller is filed, published to every loop, or shown.
    let cache = await bench.broker.store.snapshot()
    #expect(CacheSection.allCases.allSatisfy { cache[$0].isEmpty })
    #expect(bench.published.tokens.isEmpty)
    #expect(await bench.broker.statuses().isEmpty)
  }

  @Test func `a thousand requests of one caller at the instant of expiry make one exchange`() async throws {
    let bench = Bench(lifetime: 600)
    let ann = try route(bench).onBehalf(of: try assertion("ann"))
    _ = try await bench.broker.bearer(for: ann)
    bench.clock.advance(600)
    let tokens = await storm(at: bench.broker, ann, of: bench.provider, requests: 2)
    #expect(tokens == ["token-2": 1000, "released": 1])
    #expect(await bench.provider.forms.count == 2)
  }

  @Test func `a token ends with the one that it was exchanged for, and that one is not exchanged when it has ended`()
    async throws
  {
    let bench = Bench()
    let ann = try route(bench).onBehalf(of: try assertion("ann", endsIn: 100))
    #expect(try await bench.broker.bearer(for: ann).lifetime.expiresAt == ManualClock.start + 100)
    bench.clock.advance(100)
    #expect(await refusal(bench, ann) == .invalidToken)
    #expect(await bench.provider.forms.count == 1)
  }

  @Test func `a refusal of one caller's token is told to that caller alone, and retried after seconds`() async throws {
    let bench = Bench()
    let route = try route(bench)
    let ann = route.onBehalf(of: try assertion("ann"))
    let claims = try Claims(json: #"{"a":1}"#)
    let answer = #"{"error": "interaction_required", "suberror": "basic_action", "claims": "{\"a\":1}"}"#
    await bench.provider.script(tokens: [.json(400, answer)])
    for _ in 0..<2 {
      #expect(await bench.failure(ann)?.claims == claims)
    }
    #expect(await bench.provider.forms.count == 1)
    #expect(try await bench.token(route.onBehalf(of: assertion("bob"))) == "token-1")
    // A better token is another one, and waits for nothing.
    #expect(try await bench.token(route.onBehalf(of: assertion("ann-2"))) == "token-2")
    bench.clock.advance(1)
    #expect(try await bench.broker.bearer(for: ann).revealedToken() == "token-3")
  }

  static let rows: [(ScriptedProvider.Answer, String)] = [
    (.json(400, #"{"error": "invalid_grant", "suberror": "consent_required"}"#), "caller-consent-required"),
    (.json(400, #"{"error": "invalid_grant", "error_codes": [500133]}"#), "caller-token-refused"),
    (.json(403, #"{"error": "access_denied"}"#), "caller-denied"),
    (.json(429, #"{"error": "slow"}"#, retryAfter: "30"), "identity-provider-unavailable"),
    (.json(503, "down", retryAfter: "7"), "identity-provider-unavailable"),
    (.json(401, #"{"error": "invalid_client"}"#), "token-request-rejected"),
    (.json(400, #"{"error": "invalid_scope"}"#), "token-request-rejected"),
    (.json(200, #"{"access_token": "t", "token_type": "N_A"}"#), "identity-provider-unavailable"),
  ]

  @Test(arguments: rows.indices) func `a failure is told as what it is`(row: Int) async throws {
    let (answer, reason) = Self.rows[row]
    let bench = Bench()
    // A secret that is refused in one place is tried in the other.
    await bench.provider.script(tokens: [answer, answer])
    let told = await bench.failure(try route(bench).onBehalf(of: try assertion("ann")))
    #expect(told?.reason == reason)
    #expect(await bench.provider.forms.allSatisfy { !$0.contains("client_credentials") })
  }

  @Test func `a provider that tells the application to wait is left alone by every caller, and a poor token's by none`()
    async throws
  {
    let bench = Bench()
    let route = try route(bench)
    let held = route.onBehalf(of: try assertion("held"))
    let value = try await bench.broker.bearer(for: held)
    await bench.provider.script(tokens: [.json(429, "{}", retryAfter: "30")])
    for name in ["ann", "bob", "carl"] {
      #expect(await bench.failure(route.onBehalf(of: try assertion(name))) == .down(429, retryAfter: 30))
    }
    #expect(await bench.provider.forms.count == 2)
    // A caller with a token goes on.
    #expect(try await bench.broker.bearer(for: held) === value)
    let status = await bench.broker.status(of: route)
    #expect(status.failure?.error.told == .down(429, retryAfter: 30))
    bench.clock.advance(30)
    _ = try await bench.broker.bearer(for: route.onBehalf(of: assertion("ann")))
    #expect(await bench.broker.status(of: route).failure == nil)
    // A server error may be about one caller's token.
    await bench.provider.script(tokens: [.json(503, "{}", retryAfter: "30")])
    #expect(await bench.failure(route.onBehalf(of: try assertion("dora"))) != nil)
    _ = try await bench.broker.bearer(for: route.onBehalf(of: assertion("eve")))
  }

  @Test func `ten thousand callers leave what the bound allows, and each gets its own token`() async throws {
    let bench = Bench()
    let route = try route(bench)
    await bench.broker.keepCallers(atMost: 1000)
    for number in 0..<10_000 {
      let value = try await bench.broker.bearer(for: route.onBehalf(of: assertion("\(number)")))
      #expect(value.revealedToken() == "token-\(number + 1)")
    }
    #expect(await bench.broker.callerCounts == CallerTokenCounts(held: 1000, evictions: 9000))
    #expect(await bench.broker.states.count <= 1001)
    // The newest are held, the oldest are exchanged again.
    #expect(try await bench.broker.bearer(for: route.onBehalf(of: assertion("9999"))).revealedToken() == "token-10000")
    #expect(try await bench.broker.bearer(for: route.onBehalf(of: assertion("0"))).revealedToken() == "token-10001")
  }

  @Test func `a reload keeps callers' tokens of routes that stay, and none under another credential`() async throws {
    let bench = Bench()
    let kept = try route(bench)
    let ann = try assertion("ann")
    let value = try await bench.broker.bearer(for: kept.onBehalf(of: ann))
    await bench.broker.follow([try route(bench)])
    #expect(try await bench.broker.bearer(for: kept.onBehalf(of: ann)) === value)
    let next = try route(bench, version: 1)
    await bench.broker.follow([next])
    #expect(await bench.broker.callerCounts.held == 0)
    #expect(try await bench.broker.bearer(for: next.onBehalf(of: ann)).revealedToken() == "token-2")
  }

  @Test func `a challenge's claims go into one exchange, and what the provider then wants is told`() async throws {
    let bench = Bench()
    let ann = try route(bench).onBehalf(of: try assertion("ann"))
    let refused = try await bench.broker.bearer(for: ann)
    let claims = try Claims(json: #"{"access_token":{"nbf":{"value":"1"}}}"#)
    #expect(try await bench.token(answering: .claims(claims), about: refused, for: ann) == "token-2")
    let form = try #require(await bench.provider.forms.last)
    #expect(form.contains("assertion=assertion-of-ann") && form.contains("claims=%7B%22access_token"))
    await bench.provider.script(tokens: [.json(400, #"{"error": "interaction_required", "claims": "{\"a\":1}"}"#)])
    let other = try Claims(json: #"{"access_token":{"acrs":{"value":"c1"}}}"#)
    let told = await #expect(throws: AcquisitionError.self) {
      try await bench.broker.bearer(answering: .claims(other), about: refused, for: ann)
    }
    #expect(told?.refusal == .claims(try Claims(json: #"{"a":1}"#)))
  }

  @Test func `a broker that has forgotten a caller still answers a challenge about its token`() async throws {
    let bench = Bench()
    await bench.broker.keepCallers(atMost: 1)
    let route = try route(bench)
    let ann = route.onBehalf(of: try assertion("ann"))
    let refused = try await bench.broker.bearer(for: ann)
    _ = try await bench.broker.bearer(for: route.onBehalf(of: assertion("bob")))
    #expect(try await bench.token(answering: .invalidToken, about: refused, for: ann) == "token-3")
    #expect(await bench.broker.callerCounts.held == 1)
  }

  @Test func `the tenant of the token is asked, and what one tenant lacks holds up no other`() async throws {
    let tenant = "c0a7050d-0000-4000-8000-000000000001"
    let other = "fab71ca0-0000-4000-8000-000000000001"
    let metadata =
      #"{"issuer": "https://login.microsoftonline.com/x/v2.0", "token_endpoint": "https://id.example/token"}"#
    let bench = Bench(metadata: metadata)
    let route = try route(bench, authority: "https://login.microsoftonline.com/organizations")
    let ann = route.onBehalf(of: try assertion("ann", tenant: tenant))
    #expect(ann.key.authority.description == "https://login.microsoftonline.com/\(tenant)")
    #expect(try await bench.broker.bearer(for: ann).origin.tenant == tenant)
    await bench.provider.script(tokens: [.json(400, #"{"error": "unauthorized_client"}"#)])
    #expect(
      await bench.failure(route.onBehalf(of: try assertion("fay", tenant: other)))?.reason == "token-request-rejected")
    _ = try await bench.broker.bearer(for: route.onBehalf(of: assertion("bob", tenant: tenant)))
    // A token that names no tenant cannot be exchanged.
    let asked = await bench.provider.forms.count
    #expect(await refusal(bench, route.onBehalf(of: try assertion("eve"))) == .invalidToken)
    #expect(await bench.provider.forms.count == asked)
  }

  @Test func `a template key, which belongs to no caller, gets no token`() async throws {
    let bench = Bench()
    let route = try route(bench)
    #expect(await refusal(bench, route) == .invalidToken)
    #expect(await bench.provider.forms.isEmpty)
  }
}

extension AcquisitionError {
  /// The provider's refusal of a caller's token, if that is the error.
  fileprivate var refusal: AssertionRefusal? { assertionRefused?.refusal }

  /// The claims that it wants.
  fileprivate var claims: Claims? {
    if case .claims(let claims) = refusal { claims } else { nil }
  }
}
