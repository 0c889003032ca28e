// Owns the memory of failed token requests of one key: until when the next one is not sent. Knows neither which request
// failed nor how the failure is shown.

public import Bytes

/// How long to leave a provider alone after failures of one kind of request.
public struct Throttle: Sendable, Hashable {
  /// Failures in a row.
  public private(set) var failures = 0
  private var since = UnixTime(0)
  private var until: UnixTime?

  /// Seconds for which a refused application or request is not tried again: long enough to end a storm, short enough
  /// that a corrected secret is noticed (msal-python's for identical requests).
  public static let refusal: Int64 = 60
  /// Seconds for which a request that needs a person is not tried again (MSAL for .NET's).
  public static let signInNeeded: Int64 = 120
  /// The longest pause after transient failures without `Retry-After`, in seconds.
  public static let transientLimit: Int64 = 30

  /// Nothing failed yet.
  public init() {}

  /// Takes a failure in. `Retry-After` wins over every rule; transient failures without it pause 1, 2, 4 … seconds.
  public mutating func failed(_ errorClass: TokenErrorClass, retryAfter: Int64?, now: UnixTime) {
    failures += 1
    since = now
    if let retryAfter {
      until = now + min(max(retryAfter, 1), RetryAfter.limit)
      return
    }
    switch errorClass {
    case .configuration, .declined: until = now + Self.refusal
    case .signInNeeded, .policy, .refreshTokenUnusable, .familyMismatch: until = now + Self.signInNeeded
    case .transient: until = now + min(Self.transientLimit, 1 << Int64(min(failures - 1, 16)))
    case .pending, .slowDown: until = nil
    }
  }

  /// Forgets every failure: a request succeeded, or something it depends on is new.
  public mutating func succeeded() {
    self = Throttle()
  }

  /// Until when nothing is sent; nil when it may be. A clock set back ends the pause: it would last for the difference.
  public func pause(at now: UnixTime) -> UnixTime? {
    guard let until, now < until, now >= since else { return nil }
    return until
  }
}
