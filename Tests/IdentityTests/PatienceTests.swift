// The time that callers wait for a provider, and the use of an answer that comes later.

import Bytes
import HTTPClient
import Platform
import TestSupport
import Testing
import Tokens

@testable import Identity

@Suite(.timeLimit(.minutes(1)))
struct PatienceTests {
  private static let slow = AcquisitionError.unreached(.timedOut(host: "login.microsoftonline.com"))

  @Test func `callers of a slow provider are told so in time, and the refresh token that comes later is kept`()
    async throws
  {
    let gate = Tally()
    let bench = AccountBench(try .ofAlice()) { await gate.wait(for: 1) }
    let subscription = try bench.subscription()
    await bench.provider.script(tokens: [AccountBench.tokens("AT-2", refreshToken: "RT-2")])
    await bench.provider.hold()
    bench.clock.advance(3601)
    async let first = bench.result(subscription)
    async let second = bench.result(subscription)
    await bench.provider.arrival()
    gate.signal()
    #expect(await [first, second] == [.failure(Self.slow), .failure(Self.slow)])
    // A caller during the pause does not wait, and no request is sent.
    #expect(await bench.result(subscription) == .failure(Self.slow))
    bench.clock.advance(5)
    #expect(await bench.result(subscription).isFailure)
    #expect(await bench.provider.forms.count == 1)
    #expect(await bench.broker.mayBringRefreshToken)

    await bench.provider.release()
    guard case .obtained = try await bench.nextEvent().outcome else {
      Issue.record("the late answer was not taken")
      return
    }
    #expect(await !bench.broker.mayBringRefreshToken)
    #expect(try await bench.token(subscription) == "AT-2")
    #expect(await bench.store.snapshot().refreshTokenTexts == ["RT-2"])
    #expect(await bench.redeemed() == ["RT-alice"])
    // The request may take longer than any caller waits.
    #expect(await bench.provider.answerLimits == [ProviderRequests.answerLimit])
    #expect(ProviderRequests.answerLimit >= .seconds(60))
    #expect(TokenAcquisition.accountLockWait > ProviderRequests.answerLimit)
  }

  @Test func `no process uses a refresh token for which another's request is under way, though its callers are gone`()
    async throws
  {
    let directory = try TemporaryDirectory()
    let (gate, bench) = (Tally(), try AccountBench.signedIn())
    let (subscription, document) = (try bench.subscription(), try CacheDocument.ofAlice())
    func process(_ document: CacheDocument? = nil) async throws -> TokenBroker {
      let store = await CacheStore.file(path: directory.file("cache.json")) { _ in }
      if let document { try await store.modify { $0 = document } }
      return TokenBroker(
        TokenBroker.Surroundings(
          now: { [clock = bench.clock] in clock.now }, jitter: { 0 }, sleep: { _ in },
          patience: { await gate.wait(for: 1) }), store: store)
    }
    let processes = [try await process(document), try await process()]
    await bench.provider.script(tokens: [AccountBench.tokens("AT-2", refreshToken: "RT-2")])
    await bench.provider.hold()
    bench.clock.advance(3601)
    let first = Task { try await processes[0].bearer(for: subscription) }
    await bench.provider.arrival()
    gate.signal()
    await #expect(throws: Self.slow) { _ = try await first.value }
    await #expect(throws: Self.slow) { _ = try await processes[1].bearer(for: subscription) }
    #expect(await bench.provider.forms.count == 1)
    await bench.provider.release()
    for process in processes {
      while await process.mayBringRefreshToken { await Task.yield() }
      #expect(try await process.bearer(for: subscription).token == Secret("AT-2"))
    }
    #expect(await bench.redeemed() == ["RT-alice"])
  }

  @Test func `a held token is served while its renewal takes longer than callers wait`() async throws {
    let gate = Tally()
    gate.signal()
    let bench = AccountBench(try .ofAlice()) { await gate.wait(for: 1) }
    let subscription = try bench.subscription()
    await bench.provider.script(tokens: [AccountBench.tokens("AT-2", refreshToken: "RT-2")])
    await bench.provider.hold()
    // Five minutes before the end.
    bench.clock.advance(3400)
    #expect(try await bench.token(subscription) == "AT-alice")
    await bench.provider.arrival()
    #expect(try await bench.token(subscription) == "AT-alice")
    await bench.provider.release()
    _ = try await bench.nextEvent()
    #expect(try await bench.token(subscription) == "AT-2")
  }

  @Test func `an application's token that comes later than callers wait serves those who come then`() async throws {
    let (gate, clock, published) = (Tally(), ManualClock(), Published())
    let provider = ScriptedProvider()
    let broker = TokenBroker(
      TokenBroker.Surroundings(
        now: { clock.now }, jitter: { 0 }, sleep: { _ in }, patience: { await gate.wait(for: 1) },
        publish: { published.take($0, $1) }))
    let subscription = try provider.application().wish("a")
    await provider.hold()
    let first = Task { try await broker.bearer(for: subscription) }
    await provider.arrival()
    gate.signal()
    let late = AcquisitionError.unreached(.timedOut(host: "id.example"))
    await #expect(throws: late) { _ = try await first.value }
    await provider.release()
    await published.changes.wait(for: 1)
    #expect(try await broker.bearer(for: subscription).token == Secret("token-1"))
    #expect(await provider.forms.count == 1)
    #expect(await provider.answerLimits == [ProviderRequests.usualAnswerLimit])
    // Longer than any caller waits.
    #expect(ProviderRequests.usualAnswerLimit >= .seconds(30))
    #expect(await !broker.mayBringRefreshToken)
  }
}

extension Result {
  fileprivate var isFailure: Bool {
    if case .failure = self { true } else { false }
  }
}
