// The sentences that tell a caller that a person is needed. They name neither the account nor the provider's message.

internal import Identity
internal import Tokens

extension InteractionRequired {
  /// Sentences for a caller: the cause and the cure. `route` is empty if it is not known, `link` nil if there is no
  /// page to sign in at.
  func words(route: String, link: String?, _ commands: OperatorCommands) -> String {
    let cause =
      switch reason {
      case .noAccount: "The account of this route is not signed in."
      case .accountAmbiguous: "Several accounts are signed in, and this route names none."
      case .noTokens: "The account of this route has nothing left to get a token with."
      case .userMismatch: "The identity provider answered for another person than the account of this route."
      case .consentRequired: "The account of this route has not consented to what the route needs."
      case .passwordExpired: "The password of this route's account has to be changed."
      case .basicAction: "The identity provider wants the account of this route to prove more, such as a second factor."
      case .additionalAction:
        "The identity provider wants something done outside the sign-in first, such as enrolling a device."
      case .messageOnly: "The identity provider has a message for the account of this route."
      case .protectionPolicyRequired:
        "A device policy keeps the account of this route out; signing in alone does not change that."
      case .signInRequired: "The account of this route has to sign in again."
      }
    let cure =
      switch reason {
      case .accountAmbiguous: "Name one under the route's 'token'."
      case .protectionPolicyRequired: "Use an account or a device that satisfies the policy."
      case _ where link != nil: "Sign in, and come back here."
      case _ where commands.reachesCache:
        "The operator signs in with 'bearer-proxy login\(route.isEmpty ? "" : " --route \(route)")'; no restart is "
          + "needed."
      default: "The operator has to \(OperatorCommands.cacheForPeople)."
      }
    return "\(cause) \(cure)"
  }
}
