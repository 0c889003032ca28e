// The pause of an application's requests for its own tokens after its provider asked for one. A limit is the
// application's or the address's (RFC 6585 §4), not one token's: what one request learns, the others keep to.

package import Bytes

/// The requests of one application for its own tokens, at one provider.
///
/// After a refusal with `Retry-After` none is sent before that time is over, and then one at a time: a second refusal
/// spreads the next one wider. After a success the next request follows within the spread of a first refusal, and after
/// each further one within half of that, until it is short. Then all are sent: a provider that is well again gives a
/// process all its tokens within 13 times the time that it named.
package struct RequestPace: Sendable {
  /// Seconds in which the answer to a request is expected: others wait for it.
  package static let answerLimit: Int64 = 30
  /// A spread below so many seconds ends the pace.
  static let leastSpread: Int64 = 15

  /// Refusals in a row.
  private var refusals = 0
  private var refusedAt = UnixTime(0)
  /// The spread after the first of the refusals.
  private var firstSpread: Int64 = 0
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
    (earliest, latest) = (now + Self.answerLimit, now + Self.answerLimit)
    return nil
  }

  /// Records a refusal. Those of requests that were sent together are one.
  /// - Parameter jitter: 0 up to 1.
  package mutating func refused(retryAfter: Int64, sent: UnixTime, now: UnixTime, jitter: Double) {
    let isAnother = isLater(sent, at: now)
    if isAnother || refusals == 0 {
      refusals += 1
      refusedAt = now
      firstSpread = Throttle.spread(of: retryAfter, refusals: 1)
      spread = Throttle.spread(of: retryAfter, refusals: refusals)
      (earliest, latest) = Throttle.retry(retryAfter, spread: spread, now: now, jitter: jitter)
    } else {
      earliest = max(earliest, Throttle.retry(retryAfter, spread: 0, now: now, jitter: jitter).earliest)
      latest = max(latest, earliest)
    }
  }

  /// Records a token.
  /// - Parameter jitter: 0 up to 1.
  package mutating func succeeded(sent: UnixTime, now: UnixTime, jitter: Double) {
    guard isLater(sent, at: now) else { return }
    let gap = min(spread, firstSpread)
    if gap < Self.leastSpread {
      self = RequestPace()
      return
    }
    (refusals, spread) = (0, gap / 2)
    (earliest, latest) = (now, now + Int64((Double(gap) * jitter).rounded(.up)))
  }

  /// Records that a request failed without `Retry-After`.
  package mutating func ended(sent: UnixTime, now: UnixTime) {
    if isLater(sent, at: now) { (earliest, latest) = (now, now) }
  }

  /// True if a request was sent after the last refusal: what was sent before proves nothing.
  private func isLater(_ sent: UnixTime, at now: UnixTime) -> Bool {
    spread > 0 && (sent > refusedAt || now < refusedAt)
  }
}
