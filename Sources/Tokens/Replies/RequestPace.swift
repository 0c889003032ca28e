package import Bytes

/// The requests of one application for its own tokens, at one provider. A limit is the application's or the address's
/// (RFC 6585 §4), not one token's: what one request learns, the others keep to.
///
/// After a refusal with `Retry-After` none is sent before that time is over, and then one at a time: a second refusal
/// spreads the next one wider. After a success the next request follows within the spread of a first refusal, and after
/// each further one within half of that, until it is short. Then all are sent: a provider that is well again gives a
/// process all its tokens within 13 times the time that it named.
///
/// A process that is refused twice in a pace, for a token that it does not have yet, is one of many that ask together,
/// and too often for all of them. It keeps the pace of the second refusal for four successes: until then most of the
/// others have their tokens.
package struct RequestPace: Sendable {
  /// Seconds in which the answer to a request is expected: others wait for it.
  package static let answerLimit: Int64 = 30
  /// A spread below so many seconds ends the pace.
  static let leastSpread: Int64 = 15
  /// Successes for which the pace of a second refusal is kept.
  static let keptSuccesses = 4
  /// Seconds after the last refusal that end the pace of a process that sends few requests: longer than it is kept.
  static let limit: Int64 = 7200

  /// Refusals since the pace began.
  private var refusals = 0
  private var refusedAt = UnixTime(0)
  /// The time that the provider named last.
  private var retryAfter: Int64 = 0
  /// Successes that do not change the pace.
  private var keeps = 0
  /// The spread of the next request; 0 without a pace.
  private var spread: Int64 = 0
  private var earliest = UnixTime(0)
  private var latest = UnixTime(0)

  /// Without a refusal.
  package init() {}

  /// The end of the pause; nil if a request may be sent. A clock set back ends the pause.
  /// - Parameter end: the end of the token that serves: a request comes before it if the provider allows that.
  package func pause(before end: UnixTime? = nil, at now: UnixTime) -> UnixTime? {
    let until = max(earliest, min(latest, end.map { $0 - Throttle.retryMargin } ?? latest))
    return spread > 0 && now < until && now >= refusedAt ? until : nil
  }

  /// The same. Without a pause a request is sent now, and the others wait for its answer.
  package mutating func admit(before end: UnixTime? = nil, at now: UnixTime) -> UnixTime? {
    if let until = pause(before: end, at: now) { return until }
    if now - refusedAt > Self.limit { self = RequestPace() }
    (earliest, latest) = (now + Self.answerLimit, now + Self.answerLimit)
    return nil
  }

  /// Records a refusal. Those of requests that were sent together are one.
  /// - Parameter isServing: true if there is a token that serves yet.
  package mutating func refused(
    retryAfter: Int64, isServing: Bool, sent: UnixTime, now: UnixTime, jitter: Double
  ) {
    let isAnother = isLater(sent, at: now)
    if isAnother || refusals == 0 {
      refusals += 1
      (refusedAt, self.retryAfter) = (now, retryAfter)
      if refusals > 1, !isServing { keeps = Self.keptSuccesses }
      spread = Throttle.spread(of: retryAfter, refusals: refusals)
      (earliest, latest) = Throttle.retry(retryAfter, spread: spread, now: now, jitter: jitter)
    } else {
      earliest = max(earliest, Throttle.retry(retryAfter, spread: 0, now: now, jitter: jitter).earliest)
      latest = max(latest, earliest)
    }
  }

  /// Records a token.
  package mutating func succeeded(sent: UnixTime, now: UnixTime, jitter: Double) {
    guard isLater(sent, at: now) else { return }
    if keeps > 0 {
      keeps -= 1
      (earliest, latest) = (now, Throttle.retry(retryAfter, spread: spread, now: now, jitter: jitter).latest)
      return
    }
    let gap = min(spread, Throttle.spread(of: retryAfter, refusals: 1))
    if gap < Self.leastSpread {
      self = RequestPace()
      return
    }
    spread = gap / 2
    (earliest, latest) = (now, now + Int64((Double(gap) * jitter).rounded(.up)))
  }

  /// Records that a request failed without `Retry-After`.
  package mutating func ended(sent: UnixTime, now: UnixTime) {
    if isLater(sent, at: now) { (earliest, latest) = (now, now) }
  }

  /// True if a refusal came after a request was sent, or in the same second: it is not repeated.
  package func isRefused(since sent: UnixTime) -> Bool { spread > 0 && refusedAt >= sent }

  /// True if a request was sent after the last refusal: what was sent before proves nothing.
  private func isLater(_ sent: UnixTime, at now: UnixTime) -> Bool {
    spread > 0 && (sent > refusedAt || now < refusedAt)
  }
}
