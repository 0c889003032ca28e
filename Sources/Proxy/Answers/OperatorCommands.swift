// The commands for operators, and the advice about a missing sign-in: one rule for answers, log records, `/status` and
// the commands, so that no advice names a command that would refuse.

internal import Bytes
internal import Telemetry
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
    reachesCache ? loginCommand(route) : nil
  }

  private func loginCommand(_ route: String) -> String {
    "bearer-proxy login -c \(configuration.shellWord) --route \(route)"
  }

  /// The cure for a route that needs a person.
  package func advice(_ reason: InteractionReason, route: String) -> String {
    let accounts = "bearer-proxy accounts -c \(configuration.shellWord)"
    return switch reason {
    case .accountAmbiguous: (reachesCache ? Cure.personChoice : .personName).words([.accounts: accounts])
    case .protectionPolicyRequired: Cure.personPolicy.words()
    case .additionalAction: "\(Cure.personFirst.words()) \(signIn(route))"
    case .noAccount, .noTokens, .userMismatch, .basicAction, .messageOnly, .consentRequired, .passwordExpired,
      .signInRequired:
      signIn(route)
    }
  }

  private func signIn(_ route: String) -> String {
    let cure: Cure = reachesCache ? .personSignIn : hasPages ? .personPages : .personCache
    return cure.words([.login: loginCommand(route), .configuration: configuration, .route: route])
  }
}
