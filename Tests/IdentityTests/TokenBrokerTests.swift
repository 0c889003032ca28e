// The broker against a scripted provider and a manual clock: what is sent, what callers get.

import Bytes
import HTTPClient
import Platform
import Telemetry
import Testing
import Tokens

@testable import Identity

@Suite(.timeLimit(.minutes(5))) struct TokenBrokerTests {
  @Test func `the first caller waits for the provider, the second gets the held token`() async throws {
    let bench = Bench()
    let subscription = try bench.subscription(capabilities: ["cp1"])
    let first = try await bench.broker.bearer(for: subscription)
    let second = try await bench.broker.bearer(for: subscription)
    #expect(first === second)
    #expect(first.revealedToken() == "token-1")
    #expect(first.lifetime.expiresAt == ManualClock.start + 3600)
    #expect(first.scopes == subscription.key.scopes)
    #expect(await bench.provider.metadataRequests == 1)
    let claims = "%7B%22access_token%22%3A%7B%22xms_cc%22%3A%7B%22values%22%3A%5B%22cp1%22%5D%7D%7D%7D"
    let form =
      "grant_type=client_credentials&client_id=client&scope=orders.read&claims=\(claims)&client_secret=s3cret"
    #expect(await bench.provider.forms == [form])
    #expect(bench.published.tokens == ["token-1"])
  }

  @Test func `a thousand callers at the instant of expiry make one request`() async throws {
    let bench = Bench()
    let subscription = try bench.subscription()
    _ = try await bench.broker.bearer(for: subscription)
    bench.clock.advance(3600)
    let tokens = await storm(at: bench.broker, subscription, of: bench.provider, requests: 2)
    #expect(tokens == ["token-2": 1000, "released": 1])
    #expect(await bench.provider.forms.count == 2)
  }

  @Test func `a token that ends too soon is renewed first, by one request for all, and given if that fails`()
    async throws
  {
    let bench = Bench()
    let subscription = try bench.subscription()
    func token() async throws -> String {
      try await bench.broker.bearer(for: subscription, leastLife: 1200).revealedToken()
    }
    #expect(try await token() == "token-1")
    bench.clock.advance(2400)
    #expect(try await token() == "token-1")
    bench.clock.advance(1)
    await bench.provider.hold()
    async let first = token()
    async let second = token()
    await bench.provider.arrival(of: 2)
    await bench.provider.release()
    #expect(try await first == "token-2")
    #expect(try await second == "token-2")
    bench.clock.advance(2401)
    await bench.provider.script(tokens: [.json(503, "{}"), .json(503, "{}")])
    #expect(try await token() == "token-2")
    // The provider's pause is respected.
    #expect(try await token() == "token-2")
    #expect(await bench.provider.forms.count == 4)
  }

  @Test func `records of an acquisition name the first waiting request`() async throws {
    let bench = Bench()
    let subscription = try bench.subscription()
    await bench.provider.hold()
    let behind = Task { try await bench.broker.bearer(for: subscription) }
    await bench.provider.arrival(of: 1)
    let request = Task {
      try await RequestScope.around(RequestScope(LogRequest(requestID: "waiting", traceID: ""))) {
        () async throws in try await bench.broker.bearer(for: subscription)
      }
    }
    // The actor takes calls in turn: once it has answered this, the request waits.
    while await bench.broker.waiting.isEmpty { await Task.yield() }
    await bench.provider.release()
    #expect(try await request.value === behind.value)
    #expect(bench.scopes.withLock { $0 } == ["waiting"])
  }

  @Test func `another configuration keeps what it wants, under its application, and nothing else`() async throws {
    let bench = Bench()
    let kept = try bench.subscription(capabilities: ["cp1"])
    let gone = try bench.subscription()
    let held = try await bench.broker.bearer(for: kept)
    _ = try await bench.broker.bearer(for: gone)
    let asked = await bench.provider.forms
    let next = try bench.subscription(capabilities: ["cp1"])
    await bench.broker.follow([next])
    #expect(try await bench.broker.bearer(for: next) === held)
    #expect(await bench.broker.statuses(of: [next]).count == 1)
    #expect(await bench.provider.forms == asked)
    // A subscription that returns finds its token in the cache.
    await bench.broker.follow([next, gone])
    _ = try await bench.broker.bearer(for: gone)
    #expect(await bench.provider.forms == asked)
  }

  @Test func `waiters share the error`() async throws {
    let bench = Bench()
    let subscription = try bench.subscription()
    await bench.provider.hold()
    await bench.provider.script(tokens: [.json(400, #"{"error": "invalid_scope"}"#)])
    let errors = await withTaskGroup(of: AcquisitionError?.self) { group in
      for _ in 0..<20 {
        group.addTask {
          do throws(AcquisitionError) {
            _ = try await bench.broker.bearer(for: subscription)
            return nil
          } catch {
            return error
          }
        }
      }
      await bench.provider.arrival()
      await bench.provider.release()
      return await group.reduce(into: []) { $0.append($1) }
    }
    #expect(errors.count == 20)
    let rejected = AcquisitionError.rejected("invalid_scope", retryAfter: 60)
    #expect(errors.allSatisfy { $0?.told == rejected })
    #expect(await bench.provider.forms.count == 1)
  }

  @Test func `an aging token is served while one request renews it`() async throws {
    let bench = Bench()
    let subscription = try bench.subscription()
    _ = try await bench.broker.bearer(for: subscription)
    _ = try await bench.nextEvent()
    bench.clock.advance(3299)
    _ = try await bench.broker.bearer(for: subscription)
    #expect(await bench.provider.forms.count == 1)
    await bench.provider.hold()
    bench.clock.advance(1)
    for _ in 0..<10 { #expect(try await bench.broker.bearer(for: subscription).revealedToken() == "token-1") }
    await bench.provider.arrival(of: 2)
    #expect(try await bench.broker.bearer(for: subscription).revealedToken() == "token-1")
    await bench.provider.release()
    _ = try await bench.nextEvent()
    #expect(try await bench.broker.bearer(for: subscription).revealedToken() == "token-2")
    #expect(await bench.provider.forms.count == 2)
    #expect(bench.published.tokens == ["token-1", "token-2"])
  }

  @Test func `a loop that claims the renewal has it done behind`() async throws {
    let bench = Bench()
    let subscription = try bench.subscription()
    let value = try await bench.broker.bearer(for: subscription)
    _ = try await bench.nextEvent()
    #expect(!value.claimsRefresh(at: bench.clock.now))
    bench.clock.advance(3300)
    #expect(value.claimsRefresh(at: bench.clock.now))
    #expect(!value.claimsRefresh(at: bench.clock.now))
    bench.broker.refreshBehind(subscription)
    _ = try await bench.nextEvent()
    #expect(bench.published.tokens == ["token-1", "token-2"])
  }

  @Test func `a renewal that failed is claimed again after its pause, and the token serves to its last second`()
    async throws
  {
    let bench = Bench()
    let subscription = try bench.subscription()
    let value = try await bench.broker.bearer(for: subscription)
    _ = try await bench.nextEvent()
    bench.clock.advance(3300)
    await bench.provider.script(tokens: [
      .json(503, "busy", retryAfter: "100"), .failure(.timedOut(host: "id.example")),
    ])
    #expect(value.claimsRefresh(at: bench.clock.now))
    bench.broker.refreshBehind(subscription)
    let failure = try #require(try await bench.nextEvent().failure)
    #expect(failure == (.down(503, retryAfter: 100), .transient, value.lifetime.expiresAt))

    bench.clock.advance(99)
    #expect(!value.claimsRefresh(at: bench.clock.now))
    #expect(try await bench.broker.bearer(for: subscription) === value)
    #expect(await bench.provider.forms.count == 2)

    bench.clock.advance(1)
    #expect(try await bench.broker.bearer(for: subscription) === value)
    _ = try await bench.nextEvent()
    #expect(await bench.provider.forms.count == 3)

    bench.clock.advance(199)
    #expect(value.isUsable(at: bench.clock.now))
    await bench.provider.script(tokens: [.json(503, "busy", retryAfter: "5")])
    #expect(try await bench.broker.bearer(for: subscription) === value)
    _ = try await bench.nextEvent()
    bench.clock.advance(1)
    #expect(!value.isUsable(at: bench.clock.now))
    #expect(await bench.result(subscription) == .failure(.down(503, retryAfter: 4)))
    #expect(await bench.provider.forms.count == 4)
    bench.clock.advance(4)
    #expect(try await bench.broker.bearer(for: subscription).revealedToken() == "token-2")
  }

  @Test func `a refused application is not asked about again for a minute`() async throws {
    let bench = Bench()
    let subscription = try bench.subscription()
    let refusal = #"{"error": "invalid_client", "error_codes": [7000215]}"#
    await bench.provider.script(tokens: [.json(401, refusal)])
    let reply = TokenErrorReply(error: "invalid_client", codes: [7_000_215])
    for (pause, elapsed) in [(60, 0), (60, 1), (59, 29), (30, 29), (1, 1)] as [(Int64, Int64)] {
      #expect(await bench.result(subscription) == .failure(.rejected(reply, retryAfter: pause)))
      bench.clock.advance(elapsed)
    }
    #expect(await bench.provider.forms.count == 1)
    #expect(try await bench.broker.bearer(for: subscription).revealedToken() == "token-1")
  }

  // An application's capabilities do not change the key of its tokens.
  @Test
  func `capabilities-no-bypass: other scopes and secrets are other tokens of one provider, other capabilities are not`()
    async throws
  {
    let bench = Bench()
    let subscriptions = [
      try bench.subscription(), try bench.subscription(scopes: "orders.write"), try bench.subscription(version: 1),
      try bench.subscription(capabilities: ["cp1"]),
    ]
    var tokens: Set<String> = []
    for subscription in subscriptions {
      tokens.insert(try await bench.broker.bearer(for: subscription).revealedToken())
    }
    #expect(tokens.count == 3)
    #expect(await bench.provider.forms.count == 3)
    #expect(await bench.provider.metadataRequests == 1)
    _ = try await bench.broker.bearer(for: try bench.subscription())
    #expect(await bench.provider.forms.count == 3)
  }

  @Test func `the state of a key is told without its token`() async throws {
    let bench = Bench()
    let subscription = try bench.subscription()
    await bench.provider.script(tokens: [.json(429, "", retryAfter: "7")])
    _ = await bench.result(subscription)
    let failed = try #require(await bench.broker.statuses().first)
    #expect(!failed.isReady(at: bench.clock.now))
    #expect(failed.failure?.error.told == .down(429, retryAfter: 7))
    #expect(failed.failure?.retryAt == ManualClock.start + 7)
    bench.clock.advance(7)
    let value = try await bench.broker.bearer(for: subscription)
    let ready = try #require(await bench.broker.statuses().first)
    #expect(ready.isReady(at: bench.clock.now))
    #expect(!ready.isReady(at: value.lifetime.expiresAt))
    #expect(ready.failure == nil)
    var shown = "\(ready) \(value) \(subscription)"
    dump(value, to: &shown)
    dump(subscription, to: &shown)
    #expect(!shown.contains("token-1") && !shown.contains("s3cret"), "\(shown)")
  }
}
