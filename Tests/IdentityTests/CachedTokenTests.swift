// When a token of the cache is handed out, when it is renewed behind, and when it does not count.

import Bytes
import HTTPClient
import Testing
import Tokens

@testable import Identity

@Suite(.timeLimit(.minutes(5))) struct CachedTokenTests {
  private typealias Bench = AccountBench
  private static let mfa = #"{"access_token":{"acrs":{"essential":true,"value":"c1"}}}"#

  @Test func `fresh-hit: a valid token of the cache is served without a request, from the restart on`() async throws {
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

  // Served to the last second, renewed behind five minutes before it.
  @Test func `buffer: a token is renewed in the background five minutes before its expiry, and awaited after it`()
    async throws
  {
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

  @Test func `cached-in-future: a token that was filed in the future is not used`() async throws {
    let bench = try Bench.signedIn()
    bench.clock.advance(-1)
    await bench.provider.script(tokens: [Bench.tokens("AT-2")])
    #expect(try await bench.token(try bench.subscription()) == "AT-2")
  }

  @Test func `odd-values: a token without cached_at is served to its end`() async throws {
    let dated = String(decoding: try CacheDocument.ofAlice().text(), as: UTF8.self)
    let document = try CacheDocument(text: Array(dated.replacing("cached_at", with: "x_cached_at").utf8))
    let bench = Bench(document)
    let value = try await bench.broker.bearer(for: try bench.subscription())
    #expect(value.revealedToken() == "AT-alice" && value.isUsable(at: bench.clock.now))
    bench.clock.advance(3299)
    #expect(try await bench.token(try bench.subscription()) == "AT-alice")
    #expect(await bench.provider.forms.isEmpty)
  }

  @Test func `aging-refresh-ok: a token past its refresh_on is served while one request renews it`() async throws {
    var document = CacheDocument()
    try document.signIn(Bench.alice, scopes: "A", token: "AT", refreshToken: "RT", extra: #", "refresh_in": 1800"#)
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

  @Test(arguments: [
    Bench.refusal(), Bench.refusal("invalid_client", status: 401), .json(403, "<html>"),
    .json(503, "down", retryAfter: "9"),
    .failure(.unreachable(host: "login.microsoftonline.com", port: 443, errno: 111)),
  ])
  func `aging-sts-down: while a token is valid no failure of its renewal reaches a caller`(
    answer: ScriptedProvider.Answer
  ) async throws {
    let bench = try Bench.signedIn()
    let subscription = try bench.subscription()
    bench.clock.advance(3300)
    await bench.provider.script(tokens: [answer])
    #expect(try await bench.token(subscription) == "AT-alice")
    let failure = try #require(try await bench.nextEvent().failure)
    #expect(failure.servedUntil == ManualClock.start + 3600)
    #expect(try await bench.token(subscription) == "AT-alice")
    #expect(await bench.store.snapshot().refreshTokenTexts == ["RT-alice"])
  }

  @Test func `exact-before-superset: the token for exactly the scopes comes before a wider one`() async throws {
    var document = CacheDocument()
    try document.signIn(Bench.alice, scopes: "A B", token: "AT-wide", refreshToken: "RT")
    let bench = Bench(document)
    #expect(try await bench.token(try bench.subscription("a")) == "AT-wide")
    await bench.provider.script(tokens: [Bench.tokens("AT-C", scope: "C")])
    #expect(try await bench.token(try bench.subscription("C")) == "AT-C")
    #expect(await bench.provider.forms.count == 1)
  }

  @Test func `declined-scope: what was not granted is asked for again, and what was is not`() async throws {
    let bench = try Bench.signedIn()
    await bench.provider.script(tokens: [Bench.tokens("AT-B", scope: "B"), Bench.tokens("AT-C", scope: "C")])
    let both = try await bench.broker.bearer(for: try bench.subscription("B C"))
    #expect(both.revealedToken() == "AT-B" && both.scopes.words == ["B"])
    #expect(try await bench.token(try bench.subscription("C")) == "AT-C")
    #expect(try await bench.token(try bench.subscription("B")) == "AT-B")
    #expect(await bench.provider.forms.count == 2)
  }

  @Test func `alias: everything filed under another host of the cloud is found, and renewed there`() async throws {
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

  @Test func `claims-bypass: claims ask anew whatever is cached, and the new token serves all callers`() async throws {
    let bench = try Bench.signedIn()
    #expect(try await bench.token(try bench.subscription()) == "AT-alice")
    bench.clock.advance(1)
    await bench.provider.script(tokens: [Bench.tokens("AT-claims")])
    #expect(try await bench.token(try bench.subscription(challenge: Self.mfa)) == "AT-claims")
    #expect(await bench.provider.forms.first?.contains("claims=%7B%22access_token") == true)
    let other = TokenBroker(at: bench.clock, store: bench.store)
    #expect(try await other.bearer(for: try bench.subscription()).revealedToken() == "AT-claims")
  }
}
