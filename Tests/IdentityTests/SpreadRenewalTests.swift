// Tokens that many proxies obtain at one time, and their next renewals.

import Bytes
import Testing
import Tokens

@testable import Identity

@Suite(.timeLimit(.minutes(5))) struct SpreadRenewalTests {
  /// Seconds from a token's arrival to its renewal.
  private func renewal(_ value: BearerValue) -> Int64 { value.lifetime.refreshAt - value.lifetime.obtainedAt }

  @Test func `the renewals of a first token and of the first after a failure are spread, and no others`() async throws {
    let bench = Bench()
    let broker = TokenBroker(TokenBroker.Surroundings(now: { [clock = bench.clock] in clock.now }, jitter: { 1 }))
    let subscription = try bench.subscription()
    #expect(renewal(try await broker.bearer(for: subscription)) == 825)
    #expect(renewal(try await broker.renewedBearer(for: subscription)) == 3000)
    await bench.provider.script(tokens: [.json(429, "{}", retryAfter: "7")])
    await #expect(throws: AcquisitionError.self) { try await broker.renewedBearer(for: subscription) }
    bench.clock.advance(60)
    #expect(renewal(try await broker.renewedBearer(for: subscription)) == 825)
    #expect(renewal(try await broker.renewedBearer(for: subscription)) == 3000)
  }
}
