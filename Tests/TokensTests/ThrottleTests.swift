import Bytes
import Testing
import Tokens

@Suite struct ThrottleTests {
  private static let now = UnixTime(1_700_000_000)

  @Test(
    arguments: [
      // Retry-After, pauses in a row, end of the token that serves, jitter, pause
      (60, 1, nil, 0, 60), (60, 1, nil, 0.001, 61), (60, 1, nil, 0.5, 180), (60, 1, nil, 1, 300),
      (60, 2, nil, 1, 960), (60, 2, nil, 0.5, 510), (60, 3, nil, 1, 960), (60, 60, nil, 1, 960),
      (1, 1, nil, 1, 5), (1, 60, nil, 1, 17), (3600, 1, nil, 1, 4500), (3600, 1, nil, 0, 3600),
      // A token that serves is not let end by the spread, as far as the provider allows.
      (60, 1, 200, 1, 140), (60, 1, 200, 0.1, 84), (60, 1, 100, 1, 61), (60, 1, 30, 1, 61), (60, 1, 30, 0, 60),
    ] as [(Int64, Int, Int64?, Double, Int64)])
  func `retries are spread, never before the time that the provider named`(
    retryAfter: Int64, asked: Int, end: Int64?, jitter: Double, pause: Int64
  ) {
    var throttle = Throttle()
    for _ in 0..<asked {
      throttle.failed(
        .transient, retryAfter: retryAfter, before: end.map { Self.now + $0 }, now: Self.now, jitter: jitter)
    }
    #expect(throttle.pause(at: Self.now) == Self.now + pause)
  }

  @Test func `the spread begins anew after a success, and after a failure without Retry-After`() {
    for isOver in [true, false] {
      var throttle = Throttle()
      throttle.failed(.transient, retryAfter: 60, now: Self.now, jitter: 1)
      if isOver {
        throttle.succeeded()
      } else {
        throttle.failed(.transient, retryAfter: nil, now: Self.now, jitter: 1)
      }
      throttle.failed(.transient, retryAfter: 60, now: Self.now, jitter: 1)
      #expect(throttle.pause(at: Self.now) == Self.now + 300)
    }
  }

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
    throttle.failed(errorClass, retryAfter: retryAfter, now: Self.now, jitter: 0)
    #expect(throttle.pause(at: Self.now) == (seconds > 0 ? Self.now + seconds : nil))
    #expect(throttle.pause(at: Self.now + seconds) == nil)
    if seconds > 0 { #expect(throttle.pause(at: Self.now + (seconds - 1)) == Self.now + seconds) }
  }

  @Test(
    arguments: [
      // seconds since the first failure, failures, end of the token that serves, jitter, pause
      (0, 1, nil, 0, 1), (0, 1, nil, 1, 1), (7, 4, nil, 1, 6), (60, 9, nil, 0, 30), (60, 9, nil, 1, 23),
      (90, 9, nil, 0, 30), (93, 9, nil, 0, 31), (300, 9, nil, 0, 100), (300, 9, nil, 1, 75), (300, 5, nil, 0, 16),
      (1079, 20, nil, 0, 359), (1080, 20, nil, 0, 360), (86_400, 99, nil, 0, 360), (86_400, 99, nil, 1, 270),
      // A token that serves is not let end by a longer pause.
      (300, 9, 600, 0, 100), (300, 9, 120, 0, 60), (300, 9, 90, 0, 30), (300, 9, 10, 0, 30), (3, 3, 10, 0, 4),
      // A clock that was set back.
      (-500, 9, nil, 0, 30),
    ] as [(Int64, Int, Int64?, Double, Int64)])
  func `the pauses of an outage grow with its length`(
    age: Int64, failures: Int, end: Int64?, jitter: Double, pause: Int64
  ) {
    var throttle = Throttle()
    for number in 1...failures {
      throttle.failed(
        .transient, retryAfter: nil, before: end.map { Self.now + $0 },
        now: number == failures ? Self.now : Self.now - age, jitter: jitter)
    }
    #expect(throttle.pause(at: Self.now) == Self.now + pause)
  }

  @Test func `the length of an outage counts from its first failure, of one caller's never`() {
    for requester in [Throttle.Requester.proxy, .caller] {
      var throttle = Throttle(requester)
      for age in [0, 600, 1200] as [Int64] {
        if age == 600 { throttle.succeeded() }
        for _ in 1...9 { throttle.failed(.transient, retryAfter: nil, now: Self.now + age, jitter: 0) }
      }
      let pause: Int64 = requester == .proxy ? 200 : 30
      #expect(throttle.pause(at: Self.now + 1200) == Self.now + 1200 + pause)
    }
  }

  @Test func `transient failures in a row double the pause up to half a minute`() {
    var throttle = Throttle()
    var pauses: [Int64] = []
    for _ in 1...8 {
      throttle.failed(.transient, retryAfter: nil, now: Self.now, jitter: 0)
      pauses.append((throttle.pause(at: Self.now) ?? Self.now) - Self.now)
    }
    #expect(pauses == [1, 2, 4, 8, 16, 30, 30, 30])
    throttle.succeeded()
    #expect(throttle.pause(at: Self.now) == nil)
    #expect(throttle.failures == 0)
  }

  @Test func `a clock set back ends the pause`() {
    var throttle = Throttle()
    throttle.failed(.configuration, retryAfter: nil, now: Self.now, jitter: 0)
    #expect(throttle.pause(at: Self.now - 1) == nil)
  }
}
