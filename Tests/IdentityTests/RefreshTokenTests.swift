// The refresh tokens that are sent, their order, and the cache afterwards.

import Bytes
import HTTPClient
import Testing
import Tokens

@testable import Identity

@Suite(.timeLimit(.minutes(5))) struct RefreshTokenTests {
  private typealias Bench = AccountBench
  private static let mfa = #"{"access_token":{"acrs":{"essential":true,"value":"c1"}}}"#

  @Test
  func
    `expired-sts-ok, rt-kept-when-absent: an expired token is replaced with the refresh token`()
    async throws
  {
    let bench = try await Bench.expired(Bench.tokens("AT-2", refreshToken: "RT-2"), Bench.tokens("AT-3", person: nil))
    let subscription = try bench.subscription()
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
    #expect(document.homeAccountIDs.count == 1)
  }

  @Test func `without offline access a refresh token that is there is not used`() async throws {
    let bench = try Bench.signedIn()
    var application = try bench.application()
    application.hasOfflineAccess = false
    let subscription = try bench.subscription(of: application)
    #expect(try await bench.token(subscription) == "AT-alice")
    bench.clock.advance(3600)
    #expect(await bench.need(subscription)?.reason == .noTokens)
    #expect(await bench.provider.forms.isEmpty)
    // It is left to the programs that share the cache.
    #expect(await bench.store.snapshot().refreshTokenTexts == ["RT-alice"])
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
    // The scripted replies come in the order of the requests.
    async let first = bench.result(try bench.subscription("B"))
    async let second = bench.result(try bench.subscription("C"))
    async let third = bench.result(try bench.subscription("D"))
    _ = try await (first, second, third)
    #expect(await bench.redeemed() == ["RT-alice", "RT-2", "RT-3"])
    #expect(await bench.store.snapshot().refreshTokenTexts == ["RT-4"])
  }

  @Test func `several-rts: refresh tokens are tried newest first until one works`() async throws {
    var document = try CacheDocument.ofAlice()
    try document.signIn(Bench.alice, scopes: "B", token: "AT-B", refreshToken: "RT-new", after: 10)
    let bench = Bench(document)
    bench.clock.advance(3600)
    await bench.provider.script(tokens: [Bench.refusal(), Bench.tokens("AT-2")])
    #expect(try await bench.token(try bench.subscription()) == "AT-2")
    #expect(await bench.redeemed() == ["RT-new", "RT-alice"])
    #expect(await bench.store.snapshot().refreshTokenTexts == ["RT-alice", "RT-new"])
  }

  @Test func `the newest refresh token's refusal is told, and an unavailable provider ends the search`()
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
    let error = try #require(await bench.failure(try bench.subscription()))
    let required = try #require(error.interactionRequired)
    #expect(required.reason == .basicAction && required.claims?.text == Self.mfa && error.retryAfter == 120)
    #expect(await bench.failure(try bench.subscription("B")) == .down(503, retryAfter: 5))
    #expect(await bench.redeemed() == ["RT-new", "RT-alice", "RT-new"])
  }

  @Test
  func `rt-not-removed, bad-token: only a condemned refresh token is dropped, and only while it is the stored one`()
    async throws
  {
    let bench = try await Bench.expired(Bench.refusal(), Bench.refusal(suberror: "bad_token"))
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
    await rotated.provider.arrival()
    try await rotated.store.modify { [now = rotated.clock.now] document in
      let held = document.refreshTokens(Bench.query(Bench.alice))
      document.rotate(held[0], to: Secret("RT-by-another"), obtainedAt: now)
    }
    await rotated.provider.release()
    #expect(try await need?.reason == .signInRequired)
    #expect(await rotated.store.snapshot().refreshTokenTexts == ["RT-by-another"])
  }

  @Test func `concurrent-signout: a sign-out during the refresh leaves nothing behind and hands nothing out`()
    async throws
  {
    let bench = try await Bench.expired(Bench.tokens("AT-2", refreshToken: "RT-2"))
    await bench.provider.hold()
    async let need = bench.need(try bench.subscription())
    await bench.provider.arrival()
    try await bench.signOut(Bench.alice)
    await bench.provider.release()
    #expect(try await need?.reason == .noAccount)
    let document = await bench.store.snapshot()
    #expect(document.refreshTokenTexts.isEmpty && document.accessTokenTexts.isEmpty && document[.account].isEmpty)
    #expect(bench.published.tokens.isEmpty)
  }

  // No application belongs to a family unless that is configured.
  @Test func `foci-known-orphan, foci-not-for-confidential: other applications' refresh tokens are never sent`()
    async throws
  {
    var document = try CacheDocument.ofAlice(clientID: "sibling", extra: #", "foci": "1""#)
    let bench = Bench(document)
    #expect(await bench.need(try bench.subscription())?.reason == .noTokens)
    try document.signIn(Bench.alice, scopes: "B", token: "AT", refreshToken: "RT-own")
    try await bench.store.modify { [document] in $0 = document }
    await bench.provider.script(tokens: [Bench.tokens("AT-2")])
    #expect(try await bench.token(try bench.subscription()) == "AT-2")
    #expect(await bench.redeemed() == ["RT-own"])
  }

  /// An application of Azure CLI's family, with families enabled.
  private func member(_ bench: Bench) throws -> TokenSubscription {
    var application = try bench.application()
    application.family = "1"
    return TokenSubscription(application: application, subject: .account(nil), scopes: try ScopeSet(["A"]))
  }

  private static let family = #", "foci": "1""#

  @Test
  func `foci-join: a sibling's refresh token is redeemed and replaced, and the membership is remembered`()
    async throws
  {
    let bench = Bench(try CacheDocument.ofAlice(clientID: "sibling", extra: Self.family))
    await bench.provider.script(tokens: [Bench.tokens("AT-2", refreshToken: "FRT-2", extra: Self.family)])
    #expect(try await bench.token(try member(bench)) == "AT-2")
    #expect(await bench.redeemed() == ["RT-alice"])
    let document = await bench.store.snapshot()
    #expect(document.refreshTokenTexts == ["FRT-2"])
    #expect(document[.refreshToken].values.allSatisfy { $0["client_id"] == "sibling" })
    let metadata = document[.appMetadata].values.first { $0["client_id"] == "client" }
    #expect(metadata?["family_id"] == "1")
  }

  @Test
  func `foci-mismatch: who is not in the family after all goes on with its own, and nothing of the family's is lost`()
    async throws
  {
    var document = try CacheDocument.ofAlice(clientID: "sibling", extra: Self.family)
    try document.signIn(
      Bench.alice, scopes: "B", token: "AT-o", refreshToken: "FRT-o", clientID: "other", extra: Self.family)
    let bench = Bench(document)
    await bench.provider.script(tokens: [Bench.refusal(suberror: "client_mismatch")])
    #expect(await bench.need(try member(bench))?.reason == .signInRequired)
    // One is enough to know it, and it is known for a while.
    #expect(await bench.need(try member(bench))?.reason == .signInRequired)
    #expect(await bench.redeemed().count == 1)
    #expect(await bench.store.snapshot().refreshTokenTexts == ["FRT-o", "RT-alice"])

    try document.signIn(Bench.alice, scopes: "B", token: "AT", refreshToken: "RT-own")
    let own = Bench(document)
    await own.provider.script(tokens: [Bench.tokens("AT-2")])
    #expect(try await own.token(try member(own)) == "AT-2")
    #expect(await own.redeemed() == ["RT-own"], "its own comes first")
  }

  @Test func `foci-known-orphan: an application known to be in no family uses no family token`()
    async throws
  {
    var document = try CacheDocument.ofAlice(clientID: "sibling", extra: Self.family)
    try document.signIn(Bench.alice, scopes: "B", token: "AT", refreshToken: nil)
    let bench = Bench(document)
    #expect(await bench.need(try member(bench))?.reason == .noTokens)
    #expect(await bench.provider.forms.isEmpty)
  }

  @Test func `foci-error-shown: what a member's family token meets is told`() async throws {
    var document = try CacheDocument.ofAlice(clientID: "sibling", extra: Self.family)
    try document.signIn(Bench.alice, scopes: "B", token: "AT", refreshToken: nil, extra: Self.family)
    let bench = Bench(document)
    await bench.provider.script(tokens: [Bench.refusal(suberror: "basic_action", claims: Self.mfa)])
    let required = await bench.need(try member(bench))
    #expect(required?.reason == .basicAction)
    #expect(required?.claims?.text == Self.mfa)
    #expect(await bench.store.snapshot().refreshTokenTexts == ["RT-alice"])
  }

  @Test func `other-user-returned: another person's tokens are neither filed nor handed out`() async throws {
    let bench = try await Bench.expired(Bench.tokens("AT-bob", refreshToken: "RT-bob", person: Bench.bob))
    #expect(await bench.need(try bench.subscription())?.reason == .userMismatch)
    let document = await bench.store.snapshot()
    #expect(document.refreshTokenTexts == ["RT-alice"] && document.accessTokenTexts == ["AT-alice"])
  }

  @Test func `single-flight: a thousand callers at the instant of expiry make one request`() async throws {
    let bench = try await Bench.expired(Bench.tokens("AT-2"))
    let tokens = await storm(at: bench.broker, try bench.subscription(), of: bench.provider, requests: 1)
    #expect(tokens == ["AT-2": 1000, "released": 1])
    #expect(await bench.provider.forms.count == 1)
  }
}
