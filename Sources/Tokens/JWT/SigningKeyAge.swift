// Owns when an issuer's keys are fetched again, so that a withdrawn key is believed for a bounded time, whether the
// issuer answers or not.

package import Bytes

/// How old the keys are that callers' tokens are judged by.
package struct SigningKeyAge: Sendable, Equatable {
  /// Seconds after which keys are fetched again.
  package static let refresh: Int64 = 600
  /// Seconds after which keys are believed no more that could not be fetched again.
  package static let limit: Int64 = 3600
  /// Seconds between two attempts to fetch keys while there are some: any caller can name an unknown key.
  package static let pause: Int64 = 60

  private var fetchedAt: UnixTime?
  private var triedAt: UnixTime?

  /// What is to be done before a token is judged.
  package enum Need: Sendable, Equatable {
    case none
    /// Fetch the keys; where that fails, those that are there still serve.
    case refresh
    /// Fetch the keys; without, no token can be judged.
    case keys
  }

  /// No keys yet.
  package init() {}

  /// What is to be done now. A clock that was set back makes keys old, not young.
  package func need(at now: UnixTime) -> Need {
    guard let fetchedAt, (0..<Self.limit).contains(now - fetchedAt) else { return .keys }
    return now - fetchedAt < Self.refresh || !mayTry(at: now) ? .none : .refresh
  }

  /// Whether the last attempt is long enough ago for another one.
  package func mayTry(at now: UnixTime) -> Bool {
    guard let triedAt else { return true }
    return !(0..<Self.pause).contains(now - triedAt)
  }

  /// Until when what these keys have proven is believed without another look at them.
  package var believedUntil: UnixTime {
    guard let fetchedAt else { return UnixTime(0) }
    let nextTry = max(fetchedAt + Self.refresh, (triedAt ?? fetchedAt) + Self.pause)
    return min(nextTry, fetchedAt + Self.limit)
  }

  /// The keys were fetched.
  package mutating func fetched(at now: UnixTime) {
    fetchedAt = now
    triedAt = now
  }

  /// The keys could not be fetched.
  package mutating func failed(at now: UnixTime) {
    triedAt = now
  }
}
