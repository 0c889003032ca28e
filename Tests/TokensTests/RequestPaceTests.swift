import Bytes
import Testing
import Tokens

@Suite struct RequestPaceTests {
  private static let now = UnixTime(1_700_000_000)

  /// A pace after refusals with `Retry-After: 60`, each of a request sent at the end of the pause before.
  private static func refused(
    _ times: Int, isServing: Bool = true, jitter: Double
  ) -> (pace: RequestPace, now: UnixTime) {
    var (pace, now) = (RequestPace(), now)
    for number in 1...times {
      pace.refused(retryAfter: 60, isServing: isServing, sent: now, now: now, jitter: jitter)
      if number < times { now = pace.pause(at: now) ?? now }
    }
    return (pace, now)
  }

  @Test(
    arguments: [
      // Refusals in a row, jitter, end of the token that serves, pause
      (1, 0, nil, 60), (1, 0.5, nil, 180), (1, 1, nil, 300), (2, 0, nil, 60), (2, 1, nil, 960), (9, 1, nil, 960),
      // A token that serves is not let end by the spread, as far as the provider allows.
      (1, 1, 200, 140), (2, 1, 200, 140), (2, 1, 100, 61), (2, 1, 30, 61), (2, 0, 30, 60),
    ] as [(Int, Double, Int64?, Int64)])
  func `no request comes before the time that the provider named, and further refusals spread it`(
    refusals: Int, jitter: Double, end: Int64?, pause: Int64
  ) {
    let (pace, now) = Self.refused(refusals, jitter: jitter)
    #expect(pace.pause(before: end.map { now + $0 }, at: now) == now + pause)
    #expect(pace.pause(before: end.map { now + $0 }, at: now + pause) == nil)
  }

  @Test func `without a refusal nothing waits`() {
    var pace = RequestPace()
    for _ in 1...3 { #expect(pace.admit(at: Self.now) == nil) }
    pace.succeeded(sent: Self.now, now: Self.now, jitter: 1)
    #expect(pace.admit(at: Self.now) == nil)
  }

  @Test func `after the pause one request is sent at a time, until its answer or half a minute later`() {
    for answer in ["token", "time-out", "none"] {
      var (pace, _) = Self.refused(1, jitter: 0)
      let now = Self.now + 60
      #expect(pace.admit(at: now) == nil)
      #expect(pace.admit(at: now) == now + RequestPace.answerLimit)
      #expect(pace.admit(before: now + 10, at: now) == now + RequestPace.answerLimit)
      switch answer {
      case "token": pace.succeeded(sent: now, now: now + 1, jitter: 0)
      case "time-out": pace.ended(sent: now, now: now + 1)
      default: #expect(pace.admit(at: now + 1) != nil)
      }
      let next = answer == "none" ? now + RequestPace.answerLimit : now + 1
      #expect(pace.admit(at: next) == nil, "\(answer)")
    }
  }

  @Test func `each further success halves the time until the next request, until there is no pace`() {
    for refusals in [1, 3] {
      var (pace, now) = Self.refused(refusals, jitter: 1)
      var pauses: [Int64] = []
      for _ in 1...6 {
        now = pace.pause(at: now) ?? now
        #expect(pace.admit(at: now) == nil)
        pace.succeeded(sent: now, now: now, jitter: 1)
        pauses.append((pace.pause(at: now) ?? now) - now)
      }
      #expect(pauses == [240, 120, 60, 30, 15, 0], "\(refusals)")
      for _ in 1...3 { #expect(pace.admit(at: now) == nil) }
    }
  }

  @Test func `without a token that serves, the pace of a second refusal is kept for four successes`() {
    var (pace, now) = Self.refused(2, isServing: false, jitter: 1)
    for (number, expected) in ([960, 960, 960, 960, 240, 120] as [Int64]).enumerated() {
      now = pace.pause(at: now) ?? now
      #expect(pace.admit(at: now) == nil)
      pace.succeeded(sent: now, now: now, jitter: 1)
      #expect(pace.pause(at: now) == now + expected, "\(number)")
      // A token that serves does not wait for a pace that the provider has not asked for again.
      #expect(pace.pause(before: now + 90, at: now) == now + 30)
    }
  }

  @Test func `a refusal after a success in the same pace is no first one`() {
    var (pace, now) = Self.refused(1, jitter: 1)
    now = pace.pause(at: now) ?? now
    pace.succeeded(sent: now, now: now, jitter: 0)
    pace.refused(retryAfter: 60, isServing: false, sent: now + 1, now: now + 2, jitter: 1)
    #expect(pace.pause(at: now + 2) == now + 962)
  }

  @Test func `refusals of requests that were sent together are one, and later answers to them prove nothing`() {
    var pace = RequestPace()
    pace.refused(retryAfter: 60, isServing: true, sent: Self.now, now: Self.now + 1, jitter: 1)
    pace.refused(retryAfter: 60, isServing: true, sent: Self.now, now: Self.now + 2, jitter: 1)
    pace.refused(retryAfter: 500, isServing: true, sent: Self.now + 1, now: Self.now + 2, jitter: 0)
    #expect(pace.pause(at: Self.now + 2) == Self.now + 502)
    pace.succeeded(sent: Self.now, now: Self.now + 3, jitter: 0)
    pace.ended(sent: Self.now + 1, now: Self.now + 3)
    #expect(pace.pause(at: Self.now + 3) == Self.now + 502)
  }

  @Test func `two hours after the last refusal there is no pace`() {
    for (wait, next) in [(7200, RequestPace.answerLimit), (7201, nil)] as [(Int64, Int64?)] {
      var (pace, _) = Self.refused(3, isServing: false, jitter: 0)
      let now = Self.now + 120 + wait
      #expect(pace.admit(at: now) == nil)
      #expect(pace.admit(at: now) == next.map { now + $0 })
    }
  }

  @Test func `a clock set back ends the pause`() {
    let (pace, now) = Self.refused(1, jitter: 1)
    #expect(pace.pause(at: now - 1) == nil)
  }
}
