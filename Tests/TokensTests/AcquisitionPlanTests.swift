// Silent acquisition's decision, row by row, and the memory of failures behind it.

import Testing
import Tokens

@Suite struct AcquisitionPlanTests {
  private static let now = UnixTime(1_700_000_000)
  private static let held = TokenLifetime(obtainedAt: now, refreshAt: now + 3300, expiresAt: now + 3600)

  private static func paused(until: Int64) -> Throttle {
    var throttle = Throttle()
    throttle.failed(.transient, retryAfter: 60, now: now + (until - 60))
    return throttle
  }

  static let cases: [(held: TokenLifetime?, pausedUntil: Int64?, at: Int64, expected: AcquisitionPlan)] = [
    (nil, nil, 0, .request(.clientCredentials)),
    (nil, 30, 0, .fail(until: now + 30)),
    (nil, 30, 29, .fail(until: now + 30)),
    (nil, 30, 30, .request(.clientCredentials)),
    (held, nil, 0, .useCached),
    (held, nil, 3299, .useCached),
    (held, nil, 3300, .useCachedAndRefreshBehind(.clientCredentials)),
    (held, nil, 3599, .useCachedAndRefreshBehind(.clientCredentials)),
    (held, nil, 3600, .request(.clientCredentials)),
    (held, 3350, 3349, .useCached),
    (held, 3350, 3350, .useCachedAndRefreshBehind(.clientCredentials)),
    (held, 3620, 3599, .useCached),
    (held, 3620, 3600, .fail(until: now + 3620)),
    (held, 3620, 3620, .request(.clientCredentials)),
    (held, nil, -1, .request(.clientCredentials)),
  ]

  @Test(arguments: cases)
  func `what is held, what failed and what time it is decide`(
    held: TokenLifetime?, pausedUntil: Int64?, at offset: Int64, expected: AcquisitionPlan
  ) {
    let throttle = pausedUntil.map(Self.paused) ?? Throttle()
    #expect(
      AcquisitionPlan(held: held, grant: .clientCredentials, throttle: throttle, now: Self.now + offset) == expected)
  }
}

@Suite struct ThrottleTests {
  private static let now = UnixTime(1_700_000_000)

  @Test(
    arguments: [
      (.configuration, nil, 60), (.configuration, 120, 120), (.signInNeeded, nil, 120), (.policy, nil, 120),
      (.declined, nil, 60), (.refreshTokenUnusable, nil, 120), (.familyMismatch, nil, 120), (.transient, nil, 1),
      (.transient, 5, 5), (.transient, 7200, 3600), (.pending, nil, 0), (.slowDown, nil, 0), (.signInNeeded, 0, 1),
    ] as [(TokenErrorClass, Int64?, Int64)])
  func `a first failure pauses by its class, or as long as the provider said`(
    errorClass: TokenErrorClass, retryAfter: Int64?, seconds: Int64
  ) {
    var throttle = Throttle()
    throttle.failed(errorClass, retryAfter: retryAfter, now: Self.now)
    #expect(throttle.pause(at: Self.now) == (seconds > 0 ? Self.now + seconds : nil))
    #expect(throttle.pause(at: Self.now + seconds) == nil)
    if seconds > 0 { #expect(throttle.pause(at: Self.now + (seconds - 1)) == Self.now + seconds) }
  }

  @Test func `transient failures in a row double the pause up to half a minute`() {
    var throttle = Throttle()
    var pauses: [Int64] = []
    for _ in 1...8 {
      throttle.failed(.transient, retryAfter: nil, now: Self.now)
      pauses.append((throttle.pause(at: Self.now) ?? Self.now) - Self.now)
    }
    #expect(pauses == [1, 2, 4, 8, 16, 30, 30, 30])
    throttle.succeeded()
    #expect(throttle.pause(at: Self.now) == nil)
    #expect(throttle.failures == 0)
  }

  @Test func `a clock set back ends the pause`() {
    var throttle = Throttle()
    throttle.failed(.configuration, retryAfter: nil, now: Self.now)
    #expect(throttle.pause(at: Self.now - 1) == nil)
  }
}
