// Silent acquisition for people, case by case: what is sent, what is handed out, what the cache holds afterwards. The names in the
// comments are those of the cases that every MSAL library has.

import HTTPClient
import Testing
import Tokens

@testable import Identity

@Suite struct SilentAcquisitionTests {
  private typealias Bench = AccountBench
  private static let mfa = #"{"access_token":{"acrs":{"essential":true,"value":"c1"}}}"#

  // empty-cache
  @Test func `where nobody is signed in nothing is sent`() async throws {
    let bench = Bench()
    #expect(await bench.need(try bench.subscription())?.reason == .noAccount)
    let named = try #require(await bench.need(try bench.subscription(account: "alice@contoso.example")))
    #expect(named.reason == .noAccount && named.accountName == "alice@contoso.example" && named.scopes.words == ["A"])
    #expect(await bench.provider.metadataRequests == 0)
  }

  @Test(arguments: ["Alice@contoso.example", "alice@CONTOSO.example", Bench.alice.home, "uid-alice"])
  func `an account is chosen by user name, home id or local id`(name: String) async throws {
    var document = CacheDocument()
    try document.signIn(Bench.alice, scopes: "A", token: "AT-alice", refreshToken: nil)
    try document.signIn(Bench.bob, scopes: "A", token: "AT-bob", refreshToken: nil)
    let bench = Bench(document)
    #expect(try await bench.token(try bench.subscription(account: name)) == "AT-alice")
    #expect(await bench.need(try bench.subscription())?.reason == .accountAmbiguous)
    #expect(await bench.need(try bench.subscription(account: "carol"))?.reason == .noAccount)
  }

  @Test func `somebody signed in to another application only does not make the choice ambiguous`() async throws {
    var document = CacheDocument()
    try document.signIn(Bench.alice, scopes: "A", token: "AT-alice", refreshToken: nil)
    try document.signIn(
      Bench.bob, scopes: "A", token: "AT-bob", refreshToken: "RT", clientID: "other")
    let bench = Bench(document)
    #expect(try await bench.token(try bench.subscription()) == "AT-alice")
    #expect(await bench.need(try bench.subscription(account: "bob@contoso.example"))?.reason == .noTokens)
  }

  // fresh-hit
  @Test func `a valid token of the cache is served without a request, from the restart on`() async throws {
    let bench = try Bench.signedIn()
    let value = try await bench.broker.bearer(for: try bench.subscription())
    #expect(value.revealedToken() == "AT-alice")
    #expect(value.origin.source == .cache)
    #expect(value.origin.account?.username == "Alice@contoso.example")
    #expect(value.origin.tenant == Bench.tenant)
    #expect(value.lifetime.expiresAt == ManualClock.start + 3600)
    #expect(bench.published.tokens == ["AT-alice"])
    #expect(await bench.provider.metadataRequests == 0)
    #expect(await bench.provider.forms.isEmpty)
  }

  // buffer: served to the last second, renewed behind five minutes before it.
  @Test func `five minutes before the expiry a token is renewed behind, at the expiry somebody waits`() async throws {
    let bench = try Bench.signedIn()
    let subscription = try bench.subscription()
    bench.clock.advance(3299)
    #expect(try await bench.token(subscription) == "AT-alice")
    #expect(await bench.provider.forms.isEmpty)
    bench.clock.advance(1)
    await bench.provider.script(tokens: [Bench.refusal("temporarily_unavailable", status: 503), .json(503, "")])
    #expect(try await bench.token(subscription) == "AT-alice")
    _ = try await bench.nextEvent()
    #expect(await bench.provider.forms.count == 2)
    bench.clock.advance(299)
    await bench.provider.script(tokens: [Bench.tokens("AT-2", refreshToken: "RT-2")])
    #expect(try await bench.token(subscription) == "AT-alice")
    _ = try await bench.nextEvent()
    #expect(try await bench.token(subscription) == "AT-2")
    bench.clock.advance(3600)
    await bench.provider.script(tokens: [Bench.tokens("AT-3")])
    #expect(try await bench.token(subscription) == "AT-3")
    #expect(await bench.redeemed() == ["RT-alice", "RT-alice", "RT-alice", "RT-2"])
  }

  // cached-in-future
  @Test func `a token that was filed in the future is not used`() async throws {
    let bench = try Bench.signedIn()
    bench.clock.advance(-1)
    await bench.provider.script(tokens: [Bench.tokens("AT-2")])
    #expect(try await bench.token(try bench.subscription()) == "AT-2")
  }

  // aging-refresh-ok
  @Test func `a token past its refresh_on is served while one request renews it`() async throws {
    var document = CacheDocument()
    try document.signIn(
      Bench.alice, scopes: "A", token: "AT", refreshToken: "RT", extra: #", "refresh_in": 1800"#)
    let bench = Bench(document)
    let subscription = try bench.subscription()
    bench.clock.advance(1799)
    #expect(try await bench.token(subscription) == "AT")
    bench.clock.advance(1)
    await bench.provider.script(tokens: [Bench.tokens("AT-2")])
    for _ in 0..<5 { _ = try await bench.token(subscription) }
    _ = try await bench.nextEvent()
    #expect(try await bench.token(subscription) == "AT-2")
    #expect(await bench.provider.forms.count == 1)
  }

  // aging-sts-down
  @Test(arguments: [
    Bench.refusal(), Bench.refusal("invalid_client", status: 401), .json(403, "<html>"),
    .json(503, "down", retryAfter: "9"),
    .failure(.unreachable(host: "login.microsoftonline.com", port: 443, errno: 111)),
  ])
  func `while a token is valid no failure of its renewal reaches a caller`(answer: ScriptedProvider.Answer) async throws
  {
    let bench = try Bench.signedIn()
    let subscription = try bench.subscription()
    bench.clock.advance(3300)
    await bench.provider.script(tokens: [answer])
    #expect(try await bench.token(subscription) == "AT-alice")
    guard case .failed(_, _, let servedUntil) = try await bench.nextEvent().outcome else {
      Issue.record("renewed")
      return
    }
    #expect(servedUntil == ManualClock.start + 3600)
    #expect(try await bench.token(subscription) == "AT-alice")
    #expect(await bench.store.snapshot().refreshTokenTexts == ["RT-alice"])
  }

  // expired-sts-down
  @Test func `a provider that is down does not cost the refresh token`() async throws {
    let bench = try Bench.signedIn()
    let subscription = try bench.subscription()
    bench.clock.advance(3600)
    await bench.provider.script(tokens: [.json(503, "", retryAfter: "7")])
    let down = AcquisitionError.providerUnavailable(.answered(status: 503), retryAfter: 7)
    #expect(await bench.result(subscription) == .failure(down))
    bench.clock.advance(7)
    await bench.provider.script(tokens: [Bench.tokens("AT-2")])
    #expect(try await bench.token(subscription) == "AT-2")
  }

  // expired-sts-ok, rt-kept-when-absent
  @Test func `an expired token is replaced with the refresh token, which is rotated in place or kept`() async throws {
    let bench = try Bench.signedIn()
    let subscription = try bench.subscription()
    bench.clock.advance(3600)
    await bench.provider.script(tokens: [Bench.tokens("AT-2", refreshToken: "RT-2"), Bench.tokens("AT-3", person: nil)])
    let value = try await bench.broker.bearer(for: subscription)
    #expect(value.origin.source == .identityProvider)
    let form = try #require(await bench.provider.forms.first)
    #expect(form.contains("grant_type=refresh_token") && form.contains("client_info=1"))
    #expect(form.contains("scope=A%20offline_access%20openid%20profile"))
    var document = await bench.store.snapshot()
    #expect(document.refreshTokenTexts == ["RT-2"] && document.accessTokenTexts == ["AT-2"])
    bench.clock.advance(3600)
    #expect(try await bench.token(subscription) == "AT-3")
    document = await bench.store.snapshot()
    #expect(document.refreshTokenTexts == ["RT-2"] && document.accessTokenTexts == ["AT-3"])
    #expect(document.accounts(environments: ["login.microsoftonline.com"]).count == 1)
  }

  @Test func `two APIs have two tokens and one refresh token, and neither asks for the other's scopes`() async throws {
    let bench = try Bench.signedIn()
    await bench.provider.script(tokens: [Bench.tokens("AT-B", scope: "B", refreshToken: "RT-2")])
    #expect(try await bench.token(try bench.subscription("B")) == "AT-B")
    #expect(try await bench.token(try bench.subscription("A")) == "AT-alice")
    #expect(await bench.provider.forms.map { $0.contains("scope=B%20offline_access%20openid%20profile") } == [true])
    #expect(await bench.store.snapshot().accessTokenTexts == ["AT-B", "AT-alice"])
  }

  @Test func `requests for one account never overlap, so that each refresh token is used once`() async throws {
    let bench = try Bench.signedIn()
    await bench.provider.script(
      tokens: ["B", "C", "D"].enumerated().map {
        Bench.tokens("AT-\($1)", scope: $1, refreshToken: "RT-\($0 + 2)")
      })
    // The scripted replies come in the order of the requests, whoever makes them.
    async let first = bench.result(try bench.subscription("B"))
    async let second = bench.result(try bench.subscription("C"))
    async let third = bench.result(try bench.subscription("D"))
    _ = try await (first, second, third)
    #expect(await bench.redeemed() == ["RT-alice", "RT-2", "RT-3"])
    #expect(await bench.store.snapshot().refreshTokenTexts == ["RT-4"])
  }

  // exact-before-superset
  @Test func `the token for exactly the scopes comes before a wider one`() async throws {
    var document = CacheDocument()
    try document.signIn(Bench.alice, scopes: "A B", token: "AT-wide", refreshToken: "RT")
    let bench = Bench(document)
    #expect(try await bench.token(try bench.subscription("a")) == "AT-wide")
    await bench.provider.script(tokens: [Bench.tokens("AT-C", scope: "C")])
    #expect(try await bench.token(try bench.subscription("C")) == "AT-C")
    #expect(await bench.provider.forms.count == 1)
  }

  // declined-scope
  @Test func `what was not granted is asked for again, and what was is not`() async throws {
    let bench = try Bench.signedIn()
    await bench.provider.script(tokens: [
      Bench.tokens("AT-B", scope: "B"), Bench.tokens("AT-C", scope: "C"),
    ])
    let both = try await bench.broker.bearer(for: try bench.subscription("B C"))
    #expect(both.revealedToken() == "AT-B" && both.scopes.words == ["B"])
    #expect(try await bench.token(try bench.subscription("C")) == "AT-C")
    #expect(try await bench.token(try bench.subscription("B")) == "AT-B")
    #expect(await bench.provider.forms.count == 2)
  }

  // alias
  @Test func `everything filed under another host of the cloud is found, and renewed there`() async throws {
    var document = try CacheDocument.ofAlice(environment: "sts.windows.net")
    let bench = Bench(document)
    #expect(try await bench.token(try bench.subscription()) == "AT-alice")
    bench.clock.advance(3600)
    await bench.provider.script(tokens: [Bench.tokens("AT-2", refreshToken: "RT-2")])
    #expect(try await bench.token(try bench.subscription()) == "AT-2")
    document = await bench.store.snapshot()
    #expect(document[.accessToken].values.map { $0["environment"] } == ["sts.windows.net"])
    #expect(document.refreshTokenTexts == ["RT-2"])
  }

  // several-rts
  @Test func `refresh tokens are tried newest first until one works`() async throws {
    var document = try CacheDocument.ofAlice()
    try document.signIn(Bench.alice, scopes: "B", token: "AT-B", refreshToken: "RT-new", after: 10)
    let bench = Bench(document)
    bench.clock.advance(3600)
    await bench.provider.script(tokens: [Bench.refusal(), Bench.tokens("AT-2")])
    #expect(try await bench.token(try bench.subscription()) == "AT-2")
    #expect(await bench.redeemed() == ["RT-new", "RT-alice"])
    #expect(await bench.store.snapshot().refreshTokenTexts == ["RT-alice", "RT-new"])
  }

  @Test func `what the newest refresh token met is what is told, and a provider that is down ends the search`()
    async throws
  {
    var document = try CacheDocument.ofAlice()
    try document.signIn(Bench.alice, scopes: "B", token: "AT-B", refreshToken: "RT-new", after: 10)
    let bench = Bench(document)
    bench.clock.advance(3610)
    await bench.provider.script(tokens: [
      Bench.refusal(suberror: "basic_action", claims: Self.mfa), Bench.refusal(suberror: "message_only"),
      .json(503, "", retryAfter: "5"),
    ])
    let required = try #require(await bench.need(try bench.subscription()))
    #expect(required.reason == .basicAction && required.claims?.text == Self.mfa && required.retryAfter == 120)
    let down = AcquisitionError.providerUnavailable(.answered(status: 503), retryAfter: 5)
    #expect(await bench.result(try bench.subscription("B")) == .failure(down))
    #expect(await bench.redeemed() == ["RT-new", "RT-alice", "RT-new"])
  }

  // rt-not-removed, bad-token
  @Test func `only a condemned refresh token is dropped, and only while it is the stored one`() async throws {
    let bench = try Bench.signedIn()
    bench.clock.advance(3600)
    await bench.provider.script(tokens: [Bench.refusal(), Bench.refusal(suberror: "bad_token")])
    #expect(await bench.need(try bench.subscription())?.reason == .signInRequired)
    #expect(await bench.store.snapshot().refreshTokenTexts == ["RT-alice"])
    bench.clock.advance(120)
    #expect(await bench.need(try bench.subscription())?.reason == .signInRequired)
    #expect(await bench.store.snapshot().refreshTokenTexts == [])
    #expect(await bench.need(try bench.subscription())?.reason == .noTokens)

    let rotated = try Bench.signedIn()
    rotated.clock.advance(3600)
    await rotated.provider.script(tokens: [Bench.refusal(suberror: "bad_token")])
    await rotated.provider.hold()
    async let need = rotated.need(try rotated.subscription())
    while await rotated.provider.forms.isEmpty { await Task.yield() }
    try await rotated.store.modify { [now = rotated.clock.now] document in
      let held = document.refreshTokens(Bench.query(Bench.alice))
      document.rotate(held[0], to: Secret("RT-by-another"), obtainedAt: now)
    }
    await rotated.provider.release()
    #expect(try await need?.reason == .signInRequired)
    #expect(await rotated.store.snapshot().refreshTokenTexts == ["RT-by-another"])
  }

  // concurrent-signout
  @Test func `a sign-out during the refresh leaves nothing behind and hands nothing out`() async throws {
    let bench = try Bench.signedIn()
    bench.clock.advance(3600)
    await bench.provider.script(tokens: [Bench.tokens("AT-2", refreshToken: "RT-2")])
    await bench.provider.hold()
    async let need = bench.need(try bench.subscription())
    while await bench.provider.forms.isEmpty { await Task.yield() }
    try await bench.signOut(Bench.alice)
    await bench.provider.release()
    #expect(try await need?.reason == .noAccount)
    let document = await bench.store.snapshot()
    #expect(document.refreshTokenTexts.isEmpty && document.accessTokenTexts.isEmpty && document[.account].isEmpty)
    #expect(bench.published.tokens.isEmpty)
  }

  // foci-known-orphan, foci-not-for-confidential: families are nobody's unless asked for.
  @Test func `other applications' refresh tokens are never sent`() async throws {
    var document = try CacheDocument.ofAlice(clientID: "sibling", extra: #", "foci": "1""#)
    let bench = Bench(document)
    #expect(await bench.need(try bench.subscription())?.reason == .noTokens)
    try document.signIn(Bench.alice, scopes: "B", token: "AT", refreshToken: "RT-own")
    try await bench.store.modify { [document] in $0 = document }
    await bench.provider.script(tokens: [Bench.tokens("AT-2")])
    #expect(try await bench.token(try bench.subscription()) == "AT-2")
    #expect(await bench.redeemed() == ["RT-own"])
  }

  // classification
  @Test(
    arguments: [
      ("invalid_grant", "basic_action", .basicAction), ("invalid_grant", "additional_action", .additionalAction),
      ("invalid_grant", "message_only", .messageOnly), ("invalid_grant", "consent_required", .consentRequired),
      ("invalid_grant", "user_password_expired", .passwordExpired), ("invalid_grant", nil, .signInRequired),
      ("invalid_grant", "token_expired", .signInRequired), ("invalid_grant", "client_mismatch", .signInRequired),
      ("invalid_grant", "protection_policy_required", .protectionPolicyRequired),
      ("interaction_required", nil, .signInRequired), ("interaction_required", "basic_action", .basicAction),
      ("login_required", nil, .signInRequired), ("consent_required", nil, .consentRequired),
    ] as [(String, String?, InteractionReason)])
  func `what the provider answers is sorted by its suberror`(
    error: String, suberror: String?, reason: InteractionReason
  ) async throws {
    let bench = try Bench.signedIn()
    bench.clock.advance(3600)
    await bench.provider.script(tokens: [Bench.refusal(error, suberror: suberror)])
    let required = try #require(await bench.need(try bench.subscription()))
    #expect(required.reason == reason)
    #expect(required.reply?.error == error)
  }

  // server-unavailable-vs-ui
  @Test(
    arguments: [.json(403, "<html>"), .json(429, "{}"), .json(429, #"{"error": "invalid_grant"}"#)]
      as [ScriptedProvider.Answer])
  func `a provider that is not itself asks for nobody`(answer: ScriptedProvider.Answer) async throws {
    let bench = try Bench.signedIn()
    bench.clock.advance(3600)
    await bench.provider.script(tokens: [answer])
    guard case .failure(.providerUnavailable) = await bench.result(try bench.subscription()) else {
      Issue.record("not the provider's trouble")
      return
    }
  }

  @Test func `a refused application is the operator's trouble, not the person's`() async throws {
    let bench = try Bench.signedIn()
    bench.clock.advance(3600)
    await bench.provider.script(tokens: [Bench.refusal("invalid_client", status: 401)])
    let rejected = AcquisitionError.rejected(TokenErrorReply(error: "invalid_client"), retryAfter: 60)
    #expect(await bench.result(try bench.subscription()) == .failure(rejected))
  }

  // other-user-returned
  @Test func `another person's tokens are neither filed nor handed out`() async throws {
    let bench = try Bench.signedIn()
    bench.clock.advance(3600)
    await bench.provider.script(tokens: [Bench.tokens("AT-bob", refreshToken: "RT-bob", person: Bench.bob)])
    #expect(await bench.need(try bench.subscription())?.reason == .userMismatch)
    let document = await bench.store.snapshot()
    #expect(document.refreshTokenTexts == ["RT-alice"] && document.accessTokenTexts == ["AT-alice"])
  }

  // single-flight
  @Test func `a thousand callers at the instant of expiry make one request`() async throws {
    let bench = try Bench.signedIn()
    bench.clock.advance(3600)
    await bench.provider.hold()
    await bench.provider.script(tokens: [Bench.tokens("AT-2")])
    let subscription = try bench.subscription()
    let tokens = await withTaskGroup(of: String.self) { group in
      for _ in 0..<1000 { group.addTask { await bench.result(subscription).text } }
      group.addTask {
        while await bench.provider.forms.isEmpty { await Task.yield() }
        await bench.provider.release()
        return "released"
      }
      return await group.reduce(into: [:]) { $0[$1, default: 0] += 1 }
    }
    #expect(tokens == ["AT-2": 1000, "released": 1])
    #expect(await bench.provider.forms.count == 1)
  }

  // claims-bypass
  @Test func `claims ask anew whatever is cached, and what comes serves everybody`() async throws {
    let bench = try Bench.signedIn()
    #expect(try await bench.token(try bench.subscription()) == "AT-alice")
    bench.clock.advance(1)
    await bench.provider.script(tokens: [Bench.tokens("AT-claims")])
    #expect(try await bench.token(try bench.subscription(challenge: Self.mfa)) == "AT-claims")
    #expect(await bench.provider.forms.first?.contains("claims=%7B%22access_token") == true)
    let other = TokenBroker(TokenBroker.Surroundings(now: { [clock = bench.clock] in clock.now }), store: bench.store)
    #expect(try await other.bearer(for: try bench.subscription()).revealedToken() == "AT-claims")
  }
}

extension Result<String, AcquisitionError> {
  fileprivate var text: String {
    switch self {
    case .success(let token): token
    case .failure(let error): error.reason
    }
  }
}
