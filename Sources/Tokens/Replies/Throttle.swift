// The memory of failed token requests of one key: until when the next one is not sent. Knows neither which request
// failed nor how the failure is shown.

package import Bytes

/// How long to leave a provider alone after failures of one kind of request.
package struct Throttle: Sendable, Hashable {
  /// Whose requests failed.
  package enum Requester: Sendable, Hashable {
    /// The proxy's, for a token that all callers share.
    case proxy
    /// One caller's. Each failure pauses 1, 2, 4 … seconds, whatever it was: what is missing may be there in a moment,
    /// and no one else waits for it.
    case caller
  }

  private let requester: Requester
  /// Failures in a row.
  package private(set) var failures = 0
  private var since = UnixTime(0)
  private var refusedSince: UnixTime?
  private var until: UnixTime?

  /// Seconds for which a refused application or request is not tried again: long enough to end a storm, short enough
  /// that a corrected secret is noticed (msal-python's for identical requests).
  package static let refusal: Int64 = 60
  /// Seconds for which a refusal is not repeated that may be over in a moment, because not all of the provider's
  /// servers know what was registered: a federated credential, an identity's assignment.
  package static let propagation: Int64 = 10
  /// Seconds after the first refusal for which that may be the reason.
  package static let propagationLimit: Int64 = 300
  /// Seconds for which a request that needs a person is not tried again (MSAL for .NET's).
  package static let signInNeeded: Int64 = 120
  /// The longest pause after transient failures without `Retry-After`, in seconds.
  package static let transientLimit: Int64 = 30

  /// Nothing failed yet.
  package init(_ requester: Requester = .proxy) { self.requester = requester }

  /// Takes a failure in. `Retry-After` wins over every rule; transient failures without it pause 1, 2, 4 … seconds.
  /// - Parameter mayPropagate: whether what proves the application may not be known everywhere yet.
  package mutating func failed(
    _ errorClass: TokenErrorClass, retryAfter: Int64?, mayPropagate: Bool = false, now: UnixTime
  ) {
    failures += 1
    since = now
    let refused = refusedSince ?? now
    refusedSince = errorClass == .configuration ? refused : nil
    if let retryAfter {
      until = now + min(max(retryAfter, 1), RetryAfter.limit)
      return
    }
    let backoff = now + min(Self.transientLimit, 1 << Int64(min(failures - 1, 16)))
    if requester == .caller {
      until = backoff
      return
    }
    switch errorClass {
    case .configuration where mayPropagate && (0..<Self.propagationLimit).contains(now - refused):
      until = now + Self.propagation
    case .configuration, .declined: until = now + Self.refusal
    case .signInNeeded, .policy, .refreshTokenUnusable, .familyMismatch: until = now + Self.signInNeeded
    case .transient: until = backoff
    case .pending, .slowDown: until = nil
    }
  }

  /// Forgets every failure: a request succeeded, or something it depends on is new.
  package mutating func succeeded() {
    self = Throttle(requester)
  }

  /// Until when nothing is sent; nil when it may be. A clock set back ends the pause: it would last for the difference.
  package func pause(at now: UnixTime) -> UnixTime? {
    guard let until, now < until, now >= since else { return nil }
    return until
  }
}
