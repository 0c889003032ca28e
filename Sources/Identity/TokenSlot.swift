// Owns what the broker remembers of one key, and how a success or a failure changes it.

internal import Tokens

/// One key's memory.
struct TokenSlot {
  /// Who wants it.
  let subscription: TokenSubscription
  /// The held token, expired or not.
  private(set) var value: BearerValue?
  /// When the next request may be sent.
  private(set) var throttle = Throttle()
  /// What is wrong since when; nil after a success.
  private(set) var failure: TokenStatus.Failure?
  /// The request in flight.
  var flight: Task<Result<BearerValue, AcquisitionError>, Never>?

  /// Nothing known yet.
  init(subscription: TokenSubscription) {
    self.subscription = subscription
  }

  /// What to do for a caller now.
  func plan(at now: UnixTime) -> AcquisitionPlan {
    AcquisitionPlan(held: value?.lifetime, grant: subscription.grant, throttle: throttle, now: now)
  }

  /// Takes a new token in.
  mutating func take(_ new: BearerValue) {
    value = new
    throttle.succeeded()
    failure = nil
  }

  /// Takes a failure in; says what callers are told. The held token stays, and may be claimed for renewal after the pause.
  mutating func take(_ new: AcquisitionFailure, now: UnixTime) -> AcquisitionError {
    throttle.failed(new.errorClass, retryAfter: new.retryAfter, now: now)
    let until = throttle.pause(at: now) ?? now + 1
    let error = new.error(retryAfter: until - now)
    failure = TokenStatus.Failure(error: error, since: failure?.since ?? now, retryAt: until)
    letRefreshBeClaimed()
    return error
  }

  /// Lets a caller claim the held token's renewal once more, when it is due and no pause is on.
  func letRefreshBeClaimed() {
    guard let value else { return }
    value.releaseRefresh(at: max(value.lifetime.refreshAt, failure?.retryAt ?? value.lifetime.refreshAt))
  }
}
