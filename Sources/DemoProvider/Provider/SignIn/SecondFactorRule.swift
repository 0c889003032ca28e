// Owns when a password is not enough: where the application asks for more, or the directory does for this person.

/// Whether a one-time code is needed, and what an application without a person at hand is told.
struct SecondFactorRule {
  /// The user names, in lower case, of whom the directory asks it always.
  private let always: Set<String>

  init(_ behaviour: ProviderBehaviour) {
    always = Set(behaviour.secondFactorUsers.map { $0.lowercased() })
  }

  /// Whether a sign-in of `person` needs it. Of `acr_values` only the one that there is counts; the others are wishes
  /// (OpenID Connect Core 1.0 §3.1.2.1).
  func isNeeded(_ person: Person, _ request: AuthorizationRequest?) -> Bool {
    if always.contains(person.user.userName.lowercased()) { return true }
    guard let request else { return false }
    return !request.claims.contexts.isEmpty || request.acrValues.contains(Authentication.twofold)
  }

  /// Refuses tokens to who did not bring it, with the claims of a sign-in that does.
  func check(_ person: Person, _ authentication: Authentication, _ claims: ClaimsAsked) throws(ProviderError) {
    if authentication.isTwofold { return }
    if let context = claims.contexts.first {
      throw .stepUpRequired(claims: #"{"access_token":{"acrs":{"essential":true,"value":"\#(context)"}}}"#)
    }
    if always.contains(person.user.userName.lowercased()) {
      throw .stepUpRequired(claims: Self.policy)
    }
  }

  /// Entra names the policies of Conditional Access that are not satisfied.
  static let policy =
    #"{"access_token":{"capolids":{"essential":true,"values":["c0a7050d-0000-4000-8000-0000000000e1"]}}}"#
}
