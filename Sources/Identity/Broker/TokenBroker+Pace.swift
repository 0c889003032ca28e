// The pauses of requests that wait for their turn, and the pace of each application's own ones.

internal import Bytes
internal import Tokens

/// The pace of an application's requests, and the failure that began it.
struct ApplicationPace: Sendable {
  var pace = RequestPace()
  var failure: AcquisitionError
}

extension ApplicationName {
  /// nil for tokens of people: a limit that one person meets applies to no other person.
  init?(_ key: AcquisitionKey) {
    guard key.subject == .application else { return nil }
    self.init(authority: key.authority, clientID: key.clientID)
  }
}

extension TokenBroker {
  /// The failure of a pause that began while a request waited for its turn; nil if it is sent now.
  func refusal(of subscription: TokenSubscription) -> AcquisitionError? {
    let (key, now) = (subscription.key, surroundings.now())
    let state = states[key]
    if let failure = state?.pausedFailure(at: now) { return failure }
    guard let name = ApplicationName(key), let failure = paces[name]?.failure,
      let until = paces[name]?.pace.admit(before: state?.usable(at: now)?.lifetime.expiresAt, at: now)
    else { return nil }
    return failure.retrying(after: until - now)
  }

  /// True if a request that got no answer may be sent once more.
  func mayRepeat(_ subscription: TokenSubscription, sent: UnixTime) -> Bool {
    guard let name = ApplicationName(subscription.key) else { return true }
    return paces[name]?.pace.isRefused(since: sent) != true
  }

  /// Records the answer to a request, or its failure; returns the end of the pause of its application.
  func pause(
    after failure: AcquisitionError?, to subscription: TokenSubscription, sent: UnixTime
  ) -> UnixTime? {
    let now = surroundings.now()
    guard let name = ApplicationName(subscription.key) else {
      guard let failure, failure.retryAfter != nil, failure.errorClass == .transient else { return nil }
      return states[subscription.key]?.pause(after: failure, now: now, jitter: surroundings.jitter())
    }
    guard let failure else {
      paces[name]?.pace.succeeded(sent: sent, now: now, jitter: surroundings.jitter())
      return nil
    }
    guard let retryAfter = failure.retryAfter, failure.errorClass == .transient else {
      paces[name]?.pace.ended(sent: sent, now: now)
      return nil
    }
    let end = states[subscription.key]?.usable(at: now)?.lifetime.expiresAt
    var paced = paces[name] ?? ApplicationPace(failure: failure)
    paced.failure = failure
    paced.pace.refused(
      retryAfter: retryAfter, isServing: end != nil, sent: sent, now: now, jitter: surroundings.jitter())
    paces[name] = paced
    return paced.pace.pause(before: end, at: now)
  }
}
