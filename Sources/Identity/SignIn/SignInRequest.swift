// What a sign-in is asked for, whichever way the person goes.

package import Tokens

/// What a sign-in is asked for.
package struct SignInRequest: Sendable {
  /// Which application they sign in to.
  package var application: Application
  /// What the first token is for: one API's scopes, none of the reserved ones.
  package var scopes: ScopeSet
  /// Scopes of other APIs to consent to at once, so that no further sign-in is needed for their tokens.
  package var extraScopes: ScopeSet
  /// What a route adds to its requests.
  package var parameters = TokenParameters.none
  /// Claims to satisfy, of a challenge.
  package var claims: Claims?
  /// What the person is shown; nil leaves that to the provider. Device codes have no prompt.
  package var prompt: Prompt?
  /// Who is expected. Device codes have no hint.
  package var loginHint: String?
  /// At which sign-in page they begin, where it is another one than the application's. Device codes have no hint.
  package var domainHint: DomainHint?
  /// Seconds for which an earlier sign-in still counts. Device codes have no such limit.
  package var maxAge: Int64?
  /// Authentication contexts to satisfy, most wanted first (RFC 9470). Device codes have none.
  package var authenticationContexts: [String] = []
  /// Whose tokens alone are filed: a user name or an id. Nil files any account's.
  package var expectedAccount: String?
  /// What people call the application; its name unless told.
  package var displayName: String?
  /// What can be used after the sign-in, as people call it.
  package var purpose: String?
  /// Who is asked whether the sign-in is kept.
  package var confirmation = SignInConfirmation.none

  /// A request of these parts; the rest are options.
  package init(application: Application, scopes: ScopeSet, extraScopes: ScopeSet = .none) {
    self.application = application
    self.scopes = scopes
    self.extraScopes = extraScopes
  }

  /// The challenge's claims and the application's capabilities, merged.
  var mergedClaims: Claims? { Claims(challenge: claims, capabilities: application.capabilities) }
}

/// Who is asked, once it is known who signed in and before anything of it is kept. Where no account is expected,
/// another user of the machine may have signed in.
package enum SignInConfirmation: Sendable {
  /// The sign-in is kept without a question.
  case none
  /// The person, on the page that ends the sign-in. Device codes have no such page.
  case page
  /// The program, which asks the person itself.
  case program(@Sendable (CachedAccount) async -> Bool)
}
