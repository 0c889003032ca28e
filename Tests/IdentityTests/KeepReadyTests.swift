// A proxy without traffic: ready by itself. What no request uses is not renewed.

import Bytes
import HTTPClient
import TestSupport
import Testing
import Tokens

@testable import Identity

@Suite struct KeepReadyTests {
  @Test func `a provider that is away at the start is waited for, and what no request uses is not renewed`()
    async throws
  {
    let bench = Bench()
    let subscription = try bench.subscription()
    let refused = ScriptedProvider.Answer.failure(.unreachable(host: "id.example", port: 443, errno: 111))
    await bench.provider.script(metadata: [refused, refused])
    await bench.naps.takeOver()
    let keeper = Task { await bench.broker.keepReady([subscription]) }

    for pause in [1, 2] as [Int64] {
      #expect(await bench.naps.current() == pause)
      #expect(await bench.broker.statuses().first?.isReady(at: bench.clock.now) == false)
      bench.clock.advance(pause)
      await bench.naps.wake()
    }
    // The first token is all that comes unasked.
    await keeper.value
    #expect(await bench.broker.statuses().first?.isReady(at: bench.clock.now) == true)
    #expect(bench.published.tokens == ["token-1"])

    // The end of an idle route's token is no failure, and the next request gets one.
    bench.clock.advance(7200)
    await bench.broker.keepReady([])
    #expect(bench.published.tokens == ["token-1"])
    let status = try #require(await bench.broker.statuses().first)
    #expect(status.failure == nil && status.expiresAt != nil && !status.isReady(at: bench.clock.now))
    #expect(try await bench.broker.bearer(for: subscription).revealedToken() == "token-2")

    // A request that finds it due renews it, and is served meanwhile.
    bench.clock.advance(3400)
    #expect(try await bench.broker.bearer(for: subscription).revealedToken() == "token-2")
    await bench.published.changes.wait { bench.published.tokens == ["token-1", "token-2", "token-3"] }
  }

  @Test func `a configuration that is loaded again requests nothing for a token that is held`() async throws {
    let bench = Bench()
    let subscription = try bench.subscription()
    await bench.broker.keepReady([subscription])
    await bench.broker.keepReady([subscription])
    #expect(bench.published.tokens == ["token-1"])
  }
}
