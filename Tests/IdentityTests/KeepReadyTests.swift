// A proxy without traffic: ready by itself, ready again by itself.

import Bytes
import HTTPClient
import Testing
import Tokens

@testable import Identity

@Suite struct KeepReadyTests {
  @Test func `a provider that is away at the start is waited for, and tokens are renewed when due`() async throws {
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
    #expect(await bench.naps.current() == 60)
    #expect(await bench.broker.statuses().first?.isReady(at: bench.clock.now) == true)
    #expect(bench.published.tokens == ["token-1"])

    // Fifty-five minutes in naps of one, then the renewal; nobody asked for a token.
    for _ in 0..<54 {
      bench.clock.advance(60)
      await bench.naps.wake()
      #expect(await bench.naps.current() == 60)
    }
    #expect(bench.published.tokens == ["token-1"])
    bench.clock.advance(60)
    await bench.naps.wake()
    #expect(await bench.naps.current() == 60)
    #expect(bench.published.tokens == ["token-1", "token-2"])

    keeper.cancel()
    await bench.naps.wake()
    await keeper.value
  }
}
