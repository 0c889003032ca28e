// Changes of the shared cache by others while a proxy runs: new tokens are used, removed ones are not.

import Bytes
import TestSupport
import Testing
import Tokens

@testable import Identity

@Suite(.timeLimit(.minutes(5))) struct CacheFollowingTests {
  private typealias Bench = AccountBench

  /// Runs `body` while the broker follows its cache.
  private func following(_ bench: AccountBench, _ body: () async throws -> Void) async throws {
    let follower = Task { await bench.broker.followCache() }
    defer { follower.cancel() }
    try await body()
  }

  @Test func `external-sign-in: a sign-in by another program serves the next request`() async throws {
    let bench = Bench()
    let subscription = try bench.subscription()
    #expect(await bench.need(subscription)?.reason == .noAccount)
    try await bench.signIn(Bench.alice, scopes: "A", token: "AT-alice", refreshToken: "RT")
    #expect(try await bench.token(subscription) == "AT-alice")
    let status = try #require(await bench.broker.statuses().first)
    #expect(status.failure == nil && status.account?.username == Bench.alice.username)
  }

  @Test func `a sign-in of another process is seen by the very next request, before a notification`() async throws {
    let directory = try TemporaryDirectory()
    let (ours, theirs) = (
      await CacheStore.file(path: directory.file("cache.json")) { _ in },
      await CacheStore.file(path: directory.file("cache.json")) { _ in }
    )
    let bench = Bench()
    let broker = TokenBroker(at: bench.clock, store: ours)
    let subscription = try bench.subscription()
    await #expect(throws: AcquisitionError.self) { try await broker.bearer(for: subscription) }
    let document = try CacheDocument.ofAlice()
    try await theirs.modify { $0 = document }
    #expect(try await broker.bearer(for: subscription).revealedToken() == "AT-alice")
  }

  @Test func `a sign-out takes the token away from every process that holds it`() async throws {
    let bench = try Bench.signedIn()
    let subscription = try bench.subscription()
    let value = try await bench.broker.bearer(for: subscription)
    try await following(bench) {
      #expect(value.isUsable(at: bench.clock.now))
      try await bench.signOut(Bench.alice)
      await bench.published.changes.wait { bench.published.tokens == ["AT-alice", "-"] }
      #expect(!value.isUsable(at: bench.clock.now))
      #expect(await bench.need(subscription)?.reason == .noAccount)
    }
  }

  @Test func `a second person makes the only one ambiguous, and takes the token away`() async throws {
    let bench = try Bench.signedIn()
    let (only, named) = (try bench.subscription(), try bench.subscription(account: Bench.alice.username))
    let value = try await bench.broker.bearer(for: only)
    #expect(try await bench.token(named) == "AT-alice")
    try await following(bench) {
      try await bench.signIn(Bench.bob, scopes: "A", token: "AT-bob", refreshToken: "RT-bob")
      await bench.published.changes.wait { !value.isUsable(at: bench.clock.now) }
      #expect(await bench.need(only)?.reason == .accountAmbiguous)
      #expect(try await bench.token(named) == "AT-alice")
    }
  }

  @Test func `a token that another process files before our request begins is taken instead of asking`() async throws {
    let bench = try Bench.signedIn()
    let subscription = try bench.subscription()
    _ = try await bench.broker.bearer(for: subscription)
    bench.clock.advance(3600)
    try await bench.signIn(Bench.alice, scopes: "A", token: "AT-2", refreshToken: "RT-2")
    let request = try await bench.broker.requestOvertaken(by: bench.store.snapshot(), subscription, at: bench.clock.now)
    #expect(try await request.value.get().revealedToken() == "AT-2")
    #expect(await bench.redeemed().isEmpty)
  }

  @Test func `a token that another process has renewed is taken over`() async throws {
    let bench = try Bench.signedIn()
    let subscription = try bench.subscription()
    _ = try await bench.broker.bearer(for: subscription)
    try await following(bench) {
      bench.clock.advance(1000)
      try await bench.signIn(Bench.alice, scopes: "A", token: "AT-theirs", refreshToken: "RT")
      await bench.published.changes.wait { bench.published.tokens.last == "AT-theirs" }
      #expect(try await bench.token(subscription) == "AT-theirs")
      #expect(await bench.provider.forms.isEmpty)
    }
  }

  @Test func `of two tokens of one second every reader uses the one stored last`() async throws {
    let bench = try Bench.signedIn()
    let subscription = try bench.subscription()
    #expect(try await bench.token(subscription) == "AT-alice")
    try await bench.signIn(Bench.alice, scopes: "A", token: "AT-theirs", refreshToken: "RT-2")
    for _ in 0..<2 {
      #expect(try await bench.broker.currentBearer(for: subscription).revealedToken() == "AT-theirs")
    }
    #expect(bench.published.tokens == ["AT-alice", "AT-theirs"])
  }

  @Test func `a token for more scopes does not take the place of a narrower one of the same second`() async throws {
    let bench = try Bench.signedIn()
    let subscription = try bench.subscription()
    #expect(try await bench.token(subscription) == "AT-alice")
    try await bench.signIn(Bench.alice, scopes: "A B", token: "AT-wide", refreshToken: "RT-2")
    #expect(try await bench.broker.currentBearer(for: subscription).revealedToken() == "AT-alice")
    #expect(try await bench.token(try bench.subscription("B")) == "AT-wide")
  }

  @Test func `an application's token for more scopes takes the place of a narrower one when that is due`() async throws
  {
    let bench = try Bench.signedIn()
    let application = try bench.application(secret: "s3cret")
    let (narrow, wide) = (try application.wish("A"), try application.wish("A", "B"))
    await bench.provider.script(tokens: [
      Bench.tokens("AT-narrow", person: nil), Bench.tokens("AT-wide", scope: "A B", person: nil),
    ])
    #expect(try await bench.token(narrow) == "AT-narrow")
    bench.clock.advance(1000)
    #expect(try await bench.token(wide) == "AT-wide")
    #expect(try await bench.broker.currentBearer(for: narrow).revealedToken() == "AT-narrow")
    bench.clock.advance(2300)
    #expect(try await bench.broker.currentBearer(for: narrow).revealedToken() == "AT-wide")
    #expect(await bench.provider.forms.count == 2)
  }

  @Test func `the second holder of the lock finds the first one's token`() async throws {
    let bench = try Bench.signedIn()
    let subscription = try bench.subscription()
    let other = TokenBroker(at: bench.clock, store: bench.store)
    bench.clock.advance(3600)
    await bench.provider.script(tokens: [Bench.tokens("AT-2", refreshToken: "RT-2")])
    #expect(try await other.bearer(for: subscription).revealedToken() == "AT-2")
    #expect(try await bench.token(subscription) == "AT-2")
    #expect(await bench.provider.forms.count == 1)
  }

  @Test func `an application's token outlives the process and serves no other application`() async throws {
    let bench = try Bench.signedIn()
    let subscription = try bench.application(secret: "s3cret").wish("A")
    await bench.provider.script(tokens: [Bench.tokens("AT-app", person: nil)])
    #expect(try await bench.token(subscription) == "AT-app")
    let restarted = TokenBroker(at: bench.clock, store: bench.store)
    #expect(try await restarted.bearer(for: subscription).revealedToken() == "AT-app")
    #expect(try await restarted.bearer(for: try bench.subscription()).revealedToken() == "AT-alice")
    #expect(await bench.provider.forms.count == 1)
  }

  @Test func `the state of accounts is told without a request`() async throws {
    let bench = try Bench.signedIn()
    let statuses = await bench.broker.statuses(of: [
      try bench.subscription(), try bench.subscription("B"), try bench.subscription(account: "carol"),
    ])
    #expect(statuses.filter { $0.isReady(at: bench.clock.now) }.map(\.scopes.words) == [["A"]])
    let missing = try #require(statuses.first { $0.subject == .account("carol") })
    #expect(missing.failure?.error.interactionRequired?.reason == .noAccount)
    #expect(await bench.provider.metadataRequests == 0)
  }
}

extension TokenBroker {
  /// Begins a request, and takes in what the cache holds before the request's task can run.
  fileprivate func requestOvertaken(
    by document: CacheDocument, _ subscription: TokenSubscription, at now: UnixTime
  ) throws -> Task<Result<BearerValue, AcquisitionError>, Never> {
    let request = flight(for: subscription)
    let cached = document.lookup(for: subscription.key, realm: AccountBench.tenant, now: now)
    states[subscription.key]?.take(cached, now: now, jitter: { 0 })
    if states[subscription.key]?.value?.origin.source != .cache { throw AcquisitionError(.cacheUnread) }
    return request
  }
}
