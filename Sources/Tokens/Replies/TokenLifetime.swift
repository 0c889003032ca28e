// When a token is renewed and when it is over. The three instants are fixed when it arrives; who asks later only
// compares them with the clock.

package import Bytes

/// What a held token is good for at an instant.
package enum Freshness: Sendable, Hashable {
  /// Use it.
  case fresh
  /// Use it, and renew it behind.
  case aging
  /// Do not use it.
  case expired
}

/// The instants of one token.
package struct TokenLifetime: Sendable, Hashable {
  /// When it arrived.
  package let obtainedAt: UnixTime
  /// From when on it is renewed behind.
  package let refreshAt: UnixTime
  /// From when on it is not used any more.
  package let expiresAt: UnixTime

  /// Seconds before its expiry in which a token is renewed (every MSAL's).
  package static let buffer: Int64 = 300

  /// The instants of a token that arrives now.
  ///
  /// It is renewed at the provider's `refresh_in`, or five minutes before its expiry if that is earlier; a token that
  /// lives less than ten minutes, at half its life. (MSAL keeps the five minutes and thereby never finds a short-lived
  /// token in its cache.) Renewal comes earlier by `jitter` times a tenth of the life, at most five minutes, so that
  /// proxies started together do not ask together.
  /// - Parameter jitter: 0 up to 1, drawn per token.
  package init(expiresIn: Int64, refreshIn: Int64?, now: UnixTime, jitter: Double) {
    let margin = min(Self.buffer, expiresIn / 2)
    let due = min(refreshIn ?? .max, expiresIn - margin)
    let spread = Double(min(Self.buffer, expiresIn / 10)) * min(max(jitter, 0), 1)
    obtainedAt = now
    expiresAt = now + expiresIn
    // Never sooner than half way to the due instant: a short `refresh_in` is not answered by a request at once.
    refreshAt = now + max(due - Int64(spread), due / 2)
  }

  /// The instants of a token that a renewal brought again, because its service keeps it: the service is asked when half
  /// of what is left is over, and not sooner than after a minute.
  package init(ofSameToken expiresIn: Int64, now: UnixTime) {
    obtainedAt = now
    expiresAt = now + expiresIn
    refreshAt = now + min(max(expiresIn / 2, 60), expiresIn)
  }

  /// The instants of a token that was held elsewhere.
  package init(obtainedAt: UnixTime, refreshAt: UnixTime, expiresAt: UnixTime) {
    self.obtainedAt = obtainedAt
    self.refreshAt = refreshAt
    self.expiresAt = expiresAt
  }

  /// The same, ended where the token that it was exchanged for ends. What cannot outlive that is not renewed before.
  package func ending(by end: UnixTime) -> TokenLifetime {
    guard end < expiresAt else { return self }
    return TokenLifetime(obtainedAt: obtainedAt, refreshAt: end, expiresAt: end)
  }

  /// What the token is good for. One that was obtained in the future says that a clock is wrong; its expiry then means
  /// nothing (MSAL for Go's rule).
  package func freshness(at now: UnixTime) -> Freshness {
    if now >= expiresAt || obtainedAt > now { return .expired }
    return now >= refreshAt ? .aging : .fresh
  }
}
