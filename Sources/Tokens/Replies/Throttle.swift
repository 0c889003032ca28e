// The memory of failed token requests of one key, and the pause before the next one.

package import Bytes

/// The pause of requests to a provider after failures of one kind of request.
package struct Throttle: Sendable, Hashable {
  /// The requester of the failed requests.
  package enum Requester: Sendable, Hashable {
    /// The proxy's, for a token that all callers share.
    case proxy
    /// One caller's. Each failure pauses 1, 2, 4 … seconds, whatever its reason: it may be gone in a moment, and no
    /// other caller waits for it.
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
  /// Seconds before a refusal is tried again that may soon end, because not all of the provider's servers know a new
  /// registration: a federated credential, an identity's assignment.
  package static let propagation: Int64 = 10
  /// Seconds after the first refusal for which that may be the reason.
  package static let propagationLimit: Int64 = 300
  /// Seconds for which a request that needs a person is not tried again (MSAL for .NET's).
  package static let signInNeeded: Int64 = 120
  /// The longest pause after transient failures without `Retry-After`, in seconds.
  package static let transientLimit: Int64 = 30

  /// Without a failure.
  package init(_ requester: Requester = .proxy) { self.requester = requester }

  /// Records a failure. `Retry-After` wins over every rule; transient failures without it pause 1, 2, 4 … seconds.
  /// - Parameter mayPropagate: true if the application's registration may not be known everywhere yet.
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
