// The commands for operators, and the advice about a missing sign-in: one rule for answers, log records, `/status` and
// the commands, so that no advice names a command that would refuse.

internal import Bytes
package import Tokens

package struct OperatorCommands: Sendable, Hashable {
  package var configuration: String
  /// True if `login` and `accounts`, which are processes of their own, can reach the tokens.
  package var reachesCache: Bool
  /// True if a listener has sign-in pages.
  package var hasPages: Bool

  /// The commands for a configuration; without more, for one with a cache that outlives a process.
  package init(configuration: String, reachesCache: Bool = true, hasPages: Bool = false) {
    (self.configuration, self.reachesCache, self.hasPages) = (configuration, reachesCache, hasPages)
  }

  package var check: String { "bearer-proxy check -c \(configuration.shellWord)" }

  /// Tries every route, or one. It needs no running proxy, hence no admin listener.
  package func liveCheck(route: String? = nil) -> String {
    "bearer-proxy check --live -c \(configuration.shellWord)" + (route.map { " --route \($0)" } ?? "")
  }

  /// Signs a route's person in; nil if the cache ends with the command.
  package func login(route: String) -> String? {
    reachesCache ? "bearer-proxy login -c \(configuration.shellWord) --route \(route)" : nil
  }

  /// The step before `login` if tokens are kept in memory.
  static let cacheForPeople = "set 'cache: {file: PATH}' and restart, then sign in with 'bearer-proxy login'"

  /// The cure for a route that needs a person.
  package func advice(_ reason: InteractionReason, route: String) -> String {
    switch reason {
    case .accountAmbiguous:
      reachesCache
        ? "Name one of those that 'bearer-proxy accounts -c \(configuration.shellWord)' lists under the route's token, "
          + "as 'account'."
        : "Write the user name of one of them under the route's token, as 'account'."
    case .protectionPolicyRequired:
      "Use an account or a device that satisfies the policy: 'account' of the route's token names the account."
    case .additionalAction: "Have the person do first what the provider asks for in the detail. Then: \(signIn(route))"
    case .noAccount, .noTokens, .userMismatch, .basicAction, .messageOnly, .consentRequired, .passwordExpired,
      .signInRequired:
      signIn(route)
    }
  }

  private func signIn(_ route: String) -> String {
    if let command = login(route: route) { return "Sign in with: \(command)" }
    if hasPages {
      return "Tokens are kept in the memory of the running proxy: sign in there, in a browser that calls route "
        + "\(route). For 'bearer-proxy login', set 'cache: {file: PATH}' and restart the proxy first."
    }
    let command = OperatorCommands(configuration: configuration).login(route: route) ?? ""
    return "Set 'cache: {file: PATH}' in \(configuration) and restart the proxy: tokens in memory end with each "
      + "process. Then sign in with: \(command)"
  }
}
