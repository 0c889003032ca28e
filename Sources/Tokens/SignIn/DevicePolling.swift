package import Bytes

/// The polling of one device code (RFC 8628 §3.4 and §3.5).
package struct DevicePolling: Sendable, Equatable {
  /// The next step.
  package enum Action: Sendable, Equatable {
    /// Wait for seconds, then ask.
    case ask(after: Int64)
    /// Stop: the codes are no longer valid.
    case expired
    case declined
    /// The provider refuses for another reason.
    case refused(TokenFailure)
  }

  /// Seconds between two requests, at present. It never becomes shorter.
  package private(set) var interval: Int64
  /// The end of the codes.
  package let expiresAt: UnixTime

  /// Seconds that `slow_down` adds (RFC 8628 §3.5).
  package static let slowDown: Int64 = 5
  /// Longest interval in seconds when requests become rarer because the provider is silent.
  package static let longestBackOff: Int64 = 60

  /// The polling of codes that arrived now.
  package init(_ reply: DeviceAuthorizationReply, now: UnixTime) {
    interval = reply.interval
    expiresAt = now + reply.expiresIn
  }

  /// The first step: a wait, since no person confirms a code at once.
  package func begin(at now: UnixTime) -> Action { ask(after: interval, now: now) }

  /// The step after an answer without tokens.
  package mutating func next(after failure: TokenFailure, now: UnixTime) -> Action {
    guard case .refused(let reply) = failure.cause else {
      // A reply that accepted the code and gave no usable token: another request cannot give one.
      if failure.cause != .unintelligible { return .refused(failure) }
      return backOff(failure.retryAfter, now: now)
    }
    switch failure.errorClass {
    case .pending: return ask(after: max(interval, failure.retryAfter ?? 0), now: now)
    case .slowDown:
      interval += Self.slowDown
      return ask(after: max(interval, failure.retryAfter ?? 0), now: now)
    case .transient: return backOff(failure.retryAfter, now: now)
    case .declined: return .declined
    case .configuration where ["expired_token", "code_expired"].contains(reply.error): return .expired
    case .configuration, .signInNeeded, .policy, .familyMismatch, .refreshTokenUnusable: return .refused(failure)
    }
  }

  /// The step after a request without an answer: ask less often, as RFC 8628 §3.5 demands after a time-out.
  package mutating func nextWithoutAnswer(now: UnixTime) -> Action { backOff(nil, now: now) }

  private mutating func backOff(_ retryAfter: Int64?, now: UnixTime) -> Action {
    interval = max(interval, min(interval * 2, Self.longestBackOff))
    return ask(after: max(interval, retryAfter ?? 0), now: now)
  }

  private func ask(after seconds: Int64, now: UnixTime) -> Action {
    now + seconds < expiresAt ? .ask(after: seconds) : .expired
  }
}
