package import Bytes

/// The pause of requests to a provider after failures of one key's requests.
package struct Throttle: Sendable, Hashable {
  package enum Requester: Sendable, Hashable {
    /// The proxy's, for a token that all callers share.
    case proxy
    /// One caller's. Each failure pauses 1, 2, 4 … seconds: no other caller waits for it.
    case caller
  }

  private let requester: Requester
  /// Failures in a row.
  package private(set) var failures = 0
  private var since = UnixTime(0)
  private var refusedSince: UnixTime?
  private var transientSince: UnixTime?
  private var until: UnixTime?
  /// Pauses in a row that the provider asked for.
  private var asked = 0

  /// Seconds for which a refused application or request is not tried again: long enough to end a storm, short enough
  /// that a corrected secret is noticed (msal-python's for identical requests).
  package static let refusal: Int64 = 60
  /// Seconds before a refusal is tried again because not all servers of the provider know a registration yet.
  package static let propagation: Int64 = 10
  /// Seconds after the first refusal for which that may be the reason.
  package static let propagationLimit: Int64 = 300
  /// Seconds for which a request that needs a person is not tried again (MSAL for .NET's).
  package static let signInNeeded: Int64 = 120
  /// The longest pause after transient failures without `Retry-After` while they are recent, in seconds. Later it is a
  /// third of the time since the first of them, up to `outageLimit`: if 10,000 proxies with five tokens each asked
  /// every 30 seconds, the end of an outage would bring 1,700 requests a second.
  package static let transientLimit: Int64 = 30
  /// The longest pause in an outage, in seconds: 50,000 tokens at 200 requests a second need 250.
  package static let outageLimit: Int64 = 360
  /// Retries after the first `Retry-After` are spread over this many times its length: proxies that were refused
  /// together must not return together. 50,000 that started within a minute at 200 requests a second need 250 seconds.
  package static let retrySpread: Int64 = 4
  /// The same after further refusals: 10,000 behind one address at 20 requests a second need 500 seconds.
  package static let laterSpread: Int64 = 16
  /// The longest spread in seconds.
  package static let retrySpreadLimit: Int64 = 900
  /// Seconds from the latest retry to the end of a token that still serves.
  package static let retryMargin: Int64 = 60

  /// Without a failure.
  package init(_ requester: Requester = .proxy) { self.requester = requester }

  /// Records a failure. `Retry-After` wins over every rule, and is lengthened by chance; transient failures without it
  /// pause 1, 2, 4 … seconds, of which chance takes off up to a quarter.
  /// - Parameters:
  ///   - mayPropagate: true if the application's registration may not be known everywhere yet.
  ///   - end: the end of the token that still serves: a retry comes before it if the provider allows that.
  package mutating func failed(
    _ errorClass: TokenErrorClass, retryAfter: Int64?, mayPropagate: Bool = false, before end: UnixTime? = nil,
    now: UnixTime, jitter: Double
  ) {
    failures += 1
    since = now
    let refused = refusedSince ?? now
    refusedSince = errorClass == .configuration ? refused : nil
    let troubled = transientSince ?? now
    transientSince = errorClass == .transient ? troubled : nil
    if let retryAfter {
      asked += 1
      let (earliest, latest) = Self.retry(
        retryAfter, spread: Self.spread(of: retryAfter, refusals: asked), now: now, jitter: jitter)
      until = max(earliest, min(latest, end.map { $0 - Self.retryMargin } ?? latest))
      return
    }
    asked = 0
    let backoff = Int64(1) << Int64(min(failures - 1, 16))
    if requester == .caller {
      until = now + min(Self.transientLimit, backoff)
      return
    }
    switch errorClass {
    case .configuration where mayPropagate && (0..<Self.propagationLimit).contains(now - refused):
      until = now + Self.propagation
    case .configuration, .declined: until = now + Self.refusal
    case .signInNeeded, .policy, .refreshTokenUnusable, .familyMismatch: until = now + Self.signInNeeded
    case .transient:
      let limit = min(max((now - troubled) / 3, Self.transientLimit), Self.outageLimit)
      let wait = min(limit, backoff)
      let latest = now + (wait - Int64(Double(wait) * jitter / 4))
      until = min(latest, max(now + min(wait, Self.transientLimit), end.map { $0 - Self.retryMargin } ?? latest))
    case .pending, .slowDown: until = nil
    }
  }

  /// Seconds over which a retry is spread.
  static func spread(of retryAfter: Int64, refusals: Int) -> Int64 {
    min(limited(retryAfter) * (refusals > 1 ? laterSpread : retrySpread), retrySpreadLimit)
  }

  /// The earliest retry, and one that is drawn, rounded up to whole seconds.
  static func retry(
    _ retryAfter: Int64, spread: Int64, now: UnixTime, jitter: Double
  ) -> (earliest: UnixTime, latest: UnixTime) {
    let end = now + limited(retryAfter)
    return (end + (jitter > 0 ? 1 : 0), end + Int64((Double(spread) * jitter).rounded(.up)))
  }

  private static func limited(_ retryAfter: Int64) -> Int64 { min(max(retryAfter, 1), RetryAfter.limit) }

  /// Pauses for a refusal of another request.
  package mutating func paused(until end: UnixTime, now: UnixTime) {
    failures = max(failures, 1)
    (since, until) = (now, end)
  }

  /// Forgets every failure: a request succeeded, or its circumstances changed.
  package mutating func succeeded() {
    self = Throttle(requester)
  }

  /// The end of the pause; nil if there is none. A clock set back ends the pause: it would last for the difference.
  package func pause(at now: UnixTime) -> UnixTime? {
    guard let until, now < until, now >= since else { return nil }
    return until
  }
}
