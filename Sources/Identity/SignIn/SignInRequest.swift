package import Tokens

/// A sign-in, by either way.
package struct SignInRequest: Sendable {
  @Boxed package var application: Application
  /// Its page is that of the application if it names none.
  package var terms: SignInTerms
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
    terms = SignInTerms(scopes: scopes, extraScopes: extraScopes)
  }

  var mergedClaims: Claims? { Claims(challenge: terms.claims, capabilities: application.capabilities) }
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
