package import Tokens

/// The parameters of a sign-in, by either way.
package struct SignInRequest: Sendable {
  @Boxed package var application: Application
  /// The scopes of the first token: one API's, none of the reserved ones.
  package var scopes: ScopeSet
  /// Scopes of other APIs to consent to at once, so that no further sign-in is needed for their tokens.
  package var extraScopes: ScopeSet
  /// The parameters of the route.
  package var parameters = TokenParameters.none
  package var claims: Claims?
  /// The pages to show the person; nil leaves that to the provider. Device codes have no prompt.
  package var prompt: Prompt?
  /// The expected person. Device codes have no hint.
  package var loginHint: String?
  /// The sign-in page at which people begin, if it is another one than the application's. Device codes have no hint.
  package var domainHint: DomainHint?
  /// Seconds for which an earlier sign-in still counts. Device codes have no such limit.
  package var maxAge: Int64?
  /// Authentication contexts to satisfy, most wanted first (RFC 9470). Device codes have none.
  package var authenticationContexts: [String] = []
  /// The only account whose tokens are stored: a user name or an id. Nil stores any account's.
  package var expectedAccount: String?
  /// The application's name for people; by default its name.
  package var displayName: String?
  /// The name, for people, of the use after the sign-in.
  package var purpose: String?
  /// The question whether the sign-in is kept.
  package var confirmation = SignInConfirmation.none

  package init(application: Application, scopes: ScopeSet, extraScopes: ScopeSet = .none) {
    self.application = application
    self.scopes = scopes
    self.extraScopes = extraScopes
  }

  var mergedClaims: Claims? { Claims(challenge: claims, capabilities: application.capabilities) }
}

/// The person or program that is asked once the account is known and before anything is kept. If no account is
/// expected, another user of the machine may have signed in.
package enum SignInConfirmation: Sendable {
  /// The sign-in is kept without a question.
  case none
  /// The person, on the page that ends the sign-in. Device codes have no such page.
  case page
  /// The program, which asks the person itself.
  case program(@Sendable (CachedAccount) async -> Bool)
}
