// The memory of failed silent requests: what is not sent again, for how long, and what ends it.

import Bytes
import HTTPClient
import Testing
import Tokens

@testable import Identity

@Suite(.timeLimit(.minutes(5))) struct SilentThrottlingTests {
  private typealias Bench = AccountBench

  @Test(
    arguments: [(429, "120", 120), (400, "120", 120), (503, "7200", 3600), (503, "1", 1)] as [(Int, String, Int64)])
  func `retry-after, retry-after-400, retry-after-cap: a provider that names a time is left alone for it`(
    status: Int, field: String, seconds: Int64
  ) async throws {
    let bench = try await Bench.expired(.json(status, #"{"error": "invalid_grant"}"#, retryAfter: field))
    _ = await bench.result(try bench.subscription())
    for (elapsed, sent) in [(0, 1), (seconds - 1, 1), (1, 2)] {
      bench.clock.advance(elapsed)
      if sent == 2 { await bench.provider.script(tokens: [Bench.tokens("AT-2")]) }
      _ = await bench.result(try bench.subscription())
      #expect(await bench.provider.forms.count == sent)
    }
  }

  // Deliberately shorter: a proxy is waited for.
  @Test func `default-60: a provider that is down without a time is asked again after a second`() async throws {
    let bench = try await Bench.expired(.json(503, ""), .json(503, ""))
    _ = await bench.result(try bench.subscription())
    #expect(await bench.provider.forms.count == 2)
    _ = await bench.result(try bench.subscription())
    #expect(await bench.provider.forms.count == 2)
    bench.clock.advance(1)
    await bench.provider.script(tokens: [Bench.tokens("AT-2")])
    #expect(try await bench.token(try bench.subscription()) == "AT-2")
  }

  @Test func `ui-required-120: who has to sign in is not asked about for two minutes`() async throws {
    let bench = try await Bench.expired(Bench.refusal(suberror: "consent_required"))
    for (elapsed, left) in [(0, 120), (1, 119), (118, 1)] as [(Int64, Int64)] {
      bench.clock.advance(elapsed)
      let error = try #require(await bench.failure(try bench.subscription()))
      #expect(error.interactionRequired?.reason == .consentRequired && error.retryAfter == left)
    }
    #expect(await bench.provider.forms.count == 1)
    bench.clock.advance(1)
    await bench.provider.script(tokens: [Bench.tokens("AT-2")])
    #expect(try await bench.token(try bench.subscription()) == "AT-2")
  }

  // A new refresh token frees them.
  @Test(arguments: [Bench.refusal(suberror: "basic_action"), .json(503, "", retryAfter: "600")])
  func `ui-required-120: a new sign-in ends every pause at once`(answer: ScriptedProvider.Answer) async throws {
    let bench = try await Bench.expired(answer)
    _ = await bench.result(try bench.subscription())
    try await bench.signIn(Bench.alice, scopes: "B", token: "AT-B", refreshToken: "RT-2")
    await bench.provider.script(tokens: [Bench.tokens("AT-2")])
    #expect(try await bench.token(try bench.subscription()) == "AT-2")
    #expect(await bench.redeemed() == ["RT-alice", "RT-2"])
  }

  @Test func `other-request-free, ui-required-claims: other scopes, accounts and claims are other requests`()
    async throws
  {
    let bench = try await Bench.expired()
    try await bench.signIn(Bench.bob, scopes: "Z", token: "AT-Z", refreshToken: "RT-bob")
    let alice = Bench.alice.username
    await bench.provider.script(tokens: [Bench.refusal()])
    #expect(await bench.need(try bench.subscription(account: alice))?.reason == .signInRequired)
    await bench.provider.script(tokens: [
      Bench.tokens("AT-B", scope: "B"), Bench.tokens("AT-bob", person: Bench.bob),
      Bench.refusal(suberror: "basic_action"),
    ])
    #expect(try await bench.token(try bench.subscription("B", account: alice)) == "AT-B")
    #expect(try await bench.token(try bench.subscription(account: Bench.bob.username)) == "AT-bob")
    let claims = #"{"access_token":{"nbf":{"essential":true}}}"#
    #expect(await bench.need(try bench.subscription(account: alice, challenge: claims))?.reason == .basicAction)
    #expect(await bench.provider.forms.count == 4)
    #expect(await bench.need(try bench.subscription(account: alice))?.reason == .signInRequired)
    #expect(await bench.provider.forms.count == 4)
  }

  @Test func `sts-5xx-retry: one server error is repeated after a second, with the same refresh token`() async throws {
    let bench = try await Bench.expired(.json(503, ""), Bench.tokens("AT-2"))
    #expect(try await bench.token(try bench.subscription()) == "AT-2")
    #expect(await bench.redeemed() == ["RT-alice", "RT-alice"])
    #expect(await bench.naps.lengths == [1])
  }

  @Test func `discovery-cached: metadata is fetched once for all callers`() async throws {
    let bench = try await Bench.expired(Bench.tokens("AT-B", scope: "B"), Bench.tokens("AT-C", scope: "C"))
    async let first = bench.token(try bench.subscription("B"))
    async let second = bench.token(try bench.subscription("C"))
    _ = try await (first, second)
    #expect(await bench.provider.metadataRequests == 1)
  }
}
