// The classes of the provider's refusals and outages if no token is left.

import HTTPClient
import Testing
import Tokens

@testable import Identity

@Suite(.timeLimit(.minutes(5))) struct SilentRefusalTests {
  private typealias Bench = AccountBench

  @Test func `expired-sts-down: a provider that is down does not cost the refresh token`() async throws {
    let bench = try await Bench.expired(.json(503, "", retryAfter: "7"))
    let subscription = try bench.subscription()
    #expect(await bench.failure(subscription) == .down(503, retryAfter: 7))
    bench.clock.advance(7)
    await bench.provider.script(tokens: [Bench.tokens("AT-2")])
    #expect(try await bench.token(subscription) == "AT-2")
  }

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
  func `classification: what the provider answers is sorted by its suberror`(
    error: String, suberror: String?, reason: InteractionReason
  ) async throws {
    let bench = try await Bench.expired(Bench.refusal(error, suberror: suberror))
    let required = try #require(await bench.need(try bench.subscription()))
    #expect(required.reason == reason)
    #expect(required.reply?.error == error)
  }

  @Test(
    arguments: [.json(200, "<html>"), .json(429, "{}"), .json(429, #"{"error": "invalid_grant"}"#)]
      as [ScriptedProvider.Answer])
  func `server-unavailable-vs-ui: a failing provider causes no sign-in`(answer: ScriptedProvider.Answer)
    async throws
  {
    let bench = try await Bench.expired(answer)
    #expect(await bench.failure(try bench.subscription())?.isProviderUnavailable == true)
  }

  @Test
  func `a refresh token that is refused without a word is refused all the same, and a gateway's page says nothing`()
    async throws
  {
    let bench = try await Bench.expired(.json(400, ""))
    let error = try #require(await bench.failure(try bench.subscription()))
    #expect(error.interactionRequired?.reason == .signInRequired && error.retryAfter == 120)
    // The refresh token stays: the provider may have been wrong.
    #expect(await bench.store.snapshot().refreshTokenTexts == ["RT-alice"])
    let other = try Bench.signedIn()
    other.clock.advance(3600)
    await other.provider.script(tokens: [.json(400, "<html>")])
    guard case .rejected(let reply) = await other.failure(try other.subscription())?.kind else {
      Issue.record("a page asks for a person")
      return
    }
    #expect(reply.error == "status 400" && reply.isWithoutCode)
  }

  @Test func `a refused application is the operator's trouble, not the person's`() async throws {
    let bench = try await Bench.expired(Bench.refusal("invalid_client", status: 401))
    #expect(await bench.failure(try bench.subscription()) == .rejected("invalid_client", retryAfter: 60))
  }

  // Other libraries offer this as an option. Here a route would send a token that its API no longer takes.
  @Test func `extended-lifetime: an expired token is not served, however long the provider would let it live on`()
    async throws
  {
    var document = CacheDocument()
    try document.signIn(Bench.alice, scopes: "A", token: "AT", refreshToken: "RT", extra: #", "ext_expires_in": 7200"#)
    let bench = Bench(document)
    bench.clock.advance(3600)
    await bench.provider.script(tokens: [.json(503, "", retryAfter: "9")])
    #expect(await bench.failure(try bench.subscription()) == .down(503, retryAfter: 9))
    #expect(await bench.store.snapshot().accessTokenTexts == ["AT"])
  }
}
