internal import Bytes
internal import Identity
internal import Routing
internal import Tokens

/// The answer of `/readyz`: a verdict with its reasons, a line each, and the state of accounts.
struct ReadinessReport {
  /// True if the proxy should get requests. Once true, it stays so: a provider that fails later, or a route that a
  /// reload brings, does not keep callers from the other routes. Neither does a missing sign-in: callers are told what
  /// is needed, and the sign-in may come in through the same listener.
  let isReady: Bool
  /// `ready`, or a line for each token that is missing; then a line for each account's token.
  let text: String

  /// - Parameters:
  ///   - needs: the requirements for sign-ins, by route.
  ///   - rule: the missing tokens that make the proxy not ready; the others are only listed.
  init(
    _ statuses: [TokenStatus], needs: [String: SignInRequirement] = [:], expected: Int, now: UnixTime,
    rule: ReadinessRule = .tokens
  ) {
    var isMissingTokens = statuses.count < expected
    var reasons: [String] = []
    var accounts: [String] = []
    for status in statuses {
      if rule.awaits(status) { isMissingTokens = true }
      if case .account(let name) = status.subject {
        accounts.append("account \(Self.name(status, name)), \(Self.subject(status)): \(Self.account(status, now))")
      } else if !status.isReady(at: now), status.expiresAt == nil || status.failure != nil {
        reasons.append("\(Self.subject(status)): \(Self.missing(status, now))")
      }
    }
    if statuses.count < expected { reasons.append("tokens have not been asked for yet") }
    isReady = !(isMissingTokens && rule != .started)
    text = (isReady ? "ready\n" : "not ready\n") + (reasons + accounts + Self.lines(needs)).map { "- \($0)\n" }.joined()
  }

  private static func lines(_ needs: [String: SignInRequirement]) -> [String] {
    needs.sorted { $0.key < $1.key }.map { "route \($0.key): the next sign-in has to bring \($0.value.words)" }
  }

  private static func subject(_ status: TokenStatus) -> String {
    let agent = status.agent.map { " agent \($0)," } ?? ""
    return "application \(status.application),\(agent) scopes \(status.scopes.description)"
  }

  private static func name(_ status: TokenStatus, _ written: String?) -> String {
    let known = status.account.map { $0.name }
    return written ?? known ?? "(the only one)"
  }

  private static func missing(_ status: TokenStatus, _ now: UnixTime) -> String {
    guard let failure = status.failure else { return "the first token has not arrived yet" }
    let ago = max(now - failure.since, 0)
    let wait = max(failure.retryAt - now, 0)
    return "\(failure.error.reason) for \(words(seconds: ago)), next attempt in \(words(seconds: wait))"
  }

  private static func account(_ status: TokenStatus, _ now: UnixTime) -> String {
    if status.isReady(at: now), let end = status.expiresAt { return "token held, \(words(seconds: end - now)) left" }
    guard let error = status.failure?.error else { return "signed in, token obtained on demand" }
    return error.interactionRequired.map { "sign-in needed: \($0.reason.rawValue)" } ?? missing(status, now)
  }
}

extension ReadinessRule {
  /// True if the proxy is not ready because this token is missing. One that has ended had arrived; a person's is
  /// obtained on request, so a sign-in is enough.
  func awaits(_ status: TokenStatus) -> Bool {
    if self == .started || status.expiresAt != nil { return false }
    if status.subject.isUnattended { return true }
    return self == .people && (status.account == nil || status.failure?.error.interactionRequired != nil)
  }
}
