package import Bytes

/// The usability of a held token at an instant.
package enum Freshness: Sendable, Hashable {
  case fresh
  /// Use it, and renew it in the background.
  case aging
  /// Do not use it.
  case expired
}

/// The instants of a token, fixed when it arrives; users only compare them with the clock.
package struct TokenLifetime: Sendable, Hashable {
  package let obtainedAt: UnixTime
  /// The beginning of renewal in the background.
  package let refreshAt: UnixTime
  /// The end of its use.
  package let expiresAt: UnixTime

  /// Seconds before its expiry in which a token is renewed (every MSAL's).
  package static let buffer: Int64 = 300

  /// The instants of a token that arrives now.
  ///
  /// It is renewed at the provider's `refresh_in`, or five minutes before its expiry if that is earlier; a token that
  /// lives less than ten minutes, at half its life. (MSAL keeps the five minutes and thereby never finds a short-lived
  /// token in its cache.) Renewal comes earlier by `jitter` times a tenth of the life, at most five minutes.
  ///
  /// A token that is obtained while none is usable, or after a failure, may be one of thousands: proxies start
  /// together, and an outage ends for all of them. Its renewal comes at any time of the last three quarters, so that
  /// the next requests are spread.
  /// - Parameter jitter: 0 up to 1, drawn per token.
  package init(expiresIn: Int64, refreshIn: Int64?, isSpread: Bool = false, now: UnixTime, jitter: Double) {
    let margin = min(Self.buffer, expiresIn / 2)
    let due = min(refreshIn ?? .max, expiresIn - margin)
    let isWide = isSpread && expiresIn >= 2 * Self.buffer
    let spread = Double(isWide ? due / 4 * 3 : min(Self.buffer, expiresIn / 10)) * min(max(jitter, 0), 1)
    obtainedAt = now
    expiresAt = now + expiresIn
    // Otherwise not before half the time: a short `refresh_in` must not cause a request at once.
    refreshAt = now + max(due - Int64(spread), isWide ? due / 4 : due / 2)
  }

  /// The instants of a token that its service keeps: it is asked at half of the rest, but not within a minute.
  package init(ofSameToken expiresIn: Int64, now: UnixTime) {
    obtainedAt = now
    expiresAt = now + expiresIn
    refreshAt = now + min(max(expiresIn / 2, 60), expiresIn)
  }

  /// The instants of a token from elsewhere.
  package init(obtainedAt: UnixTime, refreshAt: UnixTime, expiresAt: UnixTime) {
    self.obtainedAt = obtainedAt
    self.refreshAt = refreshAt
    self.expiresAt = expiresAt
  }

  /// The same, ended by the end of the token that it was exchanged for. It is not renewed before.
  package func ending(by end: UnixTime) -> TokenLifetime {
    guard end < expiresAt else { return self }
    return TokenLifetime(obtainedAt: obtainedAt, refreshAt: end, expiresAt: end)
  }

  /// True if the token has so many seconds left, or half of its life: a provider's tokens may never live longer.
  package func lives(_ seconds: Int64, at now: UnixTime) -> Bool {
    expiresAt - now >= min(seconds, (expiresAt - obtainedAt) / 2)
  }

  /// The token's usability. One that was obtained in the future has expired (MSAL for Go's rule).
  package func freshness(at now: UnixTime) -> Freshness {
    if now >= expiresAt || obtainedAt > now { return .expired }
    return now >= refreshAt ? .aging : .fresh
  }
}
