import Bytes
import Testing
import Tokens

@Suite struct TokenLifetimeTests {
  private static let now = UnixTime(1_700_000_000)

  @Test(
    arguments: [
      // life, refresh_in, jitter, renewed after
      (3600, nil, 0, 3300), (3600, nil, 1, 3000), (3600, nil, 0.5, 3150), (86_400, nil, 1, 85_800),
      (3600, 1800, 0, 1800), (3600, 1800, 1, 1500), (3600, 3500, 0, 3300), (3600, 100, 1, 50),
      (600, nil, 0, 300), (599, nil, 0, 300), (300, nil, 0, 150), (300, nil, 1, 120), (10, nil, 0, 5), (1, nil, 0, 1),
      (3600, nil, -1, 3300), (3600, nil, 7, 3000),
    ] as [(Int64, Int64?, Double, Int64)])
  func `renewal is due before the buffer, earlier by jitter`(
    life: Int64, refreshIn: Int64?, jitter: Double, renewedAfter: Int64
  ) {
    let lifetime = TokenLifetime(expiresIn: life, refreshIn: refreshIn, now: Self.now, jitter: jitter)
    #expect(lifetime.obtainedAt == Self.now)
    #expect(lifetime.refreshAt - Self.now == renewedAfter)
    #expect(lifetime.expiresAt == Self.now + life)
  }

  @Test(
    arguments: [
      // life, refresh_in, jitter, renewed after
      (3600, nil, 0, 3300), (3600, nil, 1, 825), (3600, nil, 0.5, 2063), (86_400, 43_200, 1, 10_800),
      (600, nil, 1, 75), (3600, 100, 1, 25),
      // Too short to be spread.
      (599, nil, 1, 241), (10, nil, 1, 4),
    ] as [(Int64, Int64?, Double, Int64)])
  func `the renewal of a first token comes at any time of the last three quarters`(
    life: Int64, refreshIn: Int64?, jitter: Double, renewedAfter: Int64
  ) {
    let lifetime = TokenLifetime(expiresIn: life, refreshIn: refreshIn, isSpread: true, now: Self.now, jitter: jitter)
    #expect(lifetime.refreshAt - Self.now == renewedAfter)
    #expect(lifetime.expiresAt == Self.now + life)
  }

  @Test(
    arguments: [
      (-1, .expired), (0, .fresh), (3299, .fresh), (3300, .aging), (3599, .aging), (3600, .expired), (9999, .expired),
    ] as [(Int64, Freshness)])
  func `an hour's token is fresh, aging, expired`(age: Int64, expected: Freshness) {
    let lifetime = TokenLifetime(expiresIn: 3600, refreshIn: nil, now: Self.now, jitter: 0)
    #expect(lifetime.freshness(at: Self.now + age) == expected)
  }

  @Test func `a five minutes' token is served from memory`() {
    let lifetime = TokenLifetime(expiresIn: 300, refreshIn: nil, now: Self.now, jitter: 0)
    #expect(lifetime.freshness(at: Self.now + 149) == .fresh)
    #expect(lifetime.freshness(at: Self.now + 150) == .aging)
    #expect(lifetime.freshness(at: Self.now + 299) == .aging)
    #expect(lifetime.freshness(at: Self.now + 300) == .expired)
  }

  @Test(
    arguments: [
      // life, age, least rest
      (3600, 0, 300, true), (3600, 3300, 300, true), (3600, 3301, 300, false), (3600, 1800, 3600, true),
      (3600, 1801, 3600, false), (200, 100, 300, true), (200, 101, 300, false), (3600, 3600, 0, true),
      (3600, 3601, 0, false),
    ] as [(Int64, Int64, Int64, Bool)])
  func `a token has the wanted rest of life, or half of what it ever has`(
    life: Int64, age: Int64, least: Int64, expected: Bool
  ) {
    let lifetime = TokenLifetime(expiresIn: life, refreshIn: nil, now: Self.now, jitter: 0)
    #expect(lifetime.lives(least, at: Self.now + age) == expected)
  }

  @Test func `an endless lifetime does not overflow`() {
    let lifetime = TokenLifetime(expiresIn: .max, refreshIn: nil, now: Self.now, jitter: 1)
    #expect(lifetime.expiresAt == .distantFuture)
    #expect(lifetime.freshness(at: Self.now) == .fresh)
  }
}
