// The pauses of requests that wait for their turn, and the pace of each application's own ones.

internal import Bytes
internal import Tokens

/// The pace of an application's requests, and the failure that began it.
struct ApplicationPace: Sendable {
  struct Name: Hashable {
    var authority: Authority
    var clientID: String
  }

  var pace = RequestPace()
  var failure: AcquisitionError
}

extension ApplicationPace.Name {
  /// nil for tokens of people: a limit that one person meets applies to no other person.
  init?(_ key: AcquisitionKey) {
    guard key.subject == .application else { return nil }
    self.init(authority: key.authority, clientID: key.clientID)
  }
}

extension TokenBroker {
  /// The pause that keeps a request from being sent; nil if it is sent now.
  func refusal(of subscription: TokenSubscription) -> TokenAcquisition.Refusal? {
    let (key, now) = (subscription.key, surroundings.now())
    let state = states[key]
    if let until = state?.trouble.throttle.pause(at: now), let failure = state?.trouble.cause {
      return TokenAcquisition.Refusal(failure: failure, until: until)
    }
    guard let name = ApplicationPace.Name(key), let failure = paces[name]?.failure,
      let until = paces[name]?.pace.admit(before: state?.usable(at: now)?.lifetime.expiresAt, at: now)
    else { return nil }
    return TokenAcquisition.Refusal(failure: failure, until: until)
  }

  /// A request's end, with the pause of its application.
  func paced(
    _ report: TokenAcquisition.Report, _ subscription: TokenSubscription, servedUntil end: UnixTime?
  ) -> TokenAcquisition.Report {
    guard let sent = report.sentAt, let name = ApplicationPace.Name(subscription.key) else { return report }
    let now = surroundings.now()
    var report = report
    switch report.result {
    case .success: paces[name]?.pace.succeeded(sent: sent, now: now, jitter: surroundings.jitter())
    case .failure(let failure):
      if let retryAfter = failure.retryAfter, failure.errorClass == .transient {
        var paced = paces[name] ?? ApplicationPace(failure: failure)
        paced.failure = failure
        paced.pace.refused(retryAfter: retryAfter, sent: sent, now: now, jitter: surroundings.jitter())
        report.pausedUntil = paced.pace.pause(before: end, at: now)
        paces[name] = paced
      } else {
        paces[name]?.pace.ended(sent: sent, now: now)
      }
    }
    return report
  }
}
