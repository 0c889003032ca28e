// Owns what `/readyz` says: whether every token that routes need is at hand, and why not.

internal import Identity
internal import Tokens

/// A verdict with its reasons, a line each.
struct ReadinessReport {
  /// Whether requests of every route can be served.
  let isReady: Bool
  /// `ready`, or a line for each token that is missing.
  let text: String

  init(_ statuses: [TokenStatus], expected: Int, now: UnixTime) {
    var reasons: [String] = []
    for status in statuses where !status.isReady(at: now) {
      let subject = "application \(status.application), scopes \(status.scopes.description)"
      if let failure = status.failure {
        let ago = max(now - failure.since, 0)
        let wait = max(failure.retryAt - now, 0)
        reasons.append("\(subject): \(failure.error.reason) for \(ago) s, next attempt in \(wait) s")
      } else {
        reasons.append("\(subject): the first token has not arrived yet")
      }
    }
    if statuses.count < expected { reasons.append("tokens have not been asked for yet") }
    isReady = reasons.isEmpty
    text = isReady ? "ready\n" : "not ready\n" + reasons.map { "- \($0)\n" }.joined()
  }
}
