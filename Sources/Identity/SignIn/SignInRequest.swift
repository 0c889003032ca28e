// Owns what a sign-in is asked for, whichever way the person goes.

public import Tokens

/// A wish to have somebody sign in.
public struct SignInRequest: Sendable {
  /// Which application they sign in to.
  public var application: Application
  /// What the first token is for: one API's scopes, none of the reserved ones.
  public var scopes: ScopeSet
  /// Scopes of other APIs to consent to at once, so that nobody has to be asked when their tokens are wanted.
  public var extraScopes: ScopeSet
  /// Claims to satisfy, of a challenge.
  public var claims: Claims?
  /// What the person is shown; nil leaves that to the provider. Device codes have no prompt.
  public var prompt: Prompt?
  /// Who is expected. Device codes have no hint.
  public var loginHint: String?
  /// Seconds for which an earlier sign-in still counts. Device codes have no such limit.
  public var maxAge: Int64?
  /// Authentication contexts to satisfy, most wanted first (RFC 9470). Device codes have none.
  public var authenticationContexts: [String] = []
  /// Whose tokens alone are filed: a user name or an id. Nil files anybody's.
  public var expectedAccount: String?
  /// Who is asked whether the sign-in is kept.
  public var confirmation = SignInConfirmation.none

  /// A wish of these parts; the rest are options.
  public init(application: Application, scopes: ScopeSet, extraScopes: ScopeSet = .none) {
    self.application = application
    self.scopes = scopes
    self.extraScopes = extraScopes
  }

  /// The challenge's claims and the application's capabilities, merged.
  var mergedClaims: Claims? { Claims(challenge: claims, capabilities: application.capabilities) }
}

/// Who is asked, once it is known who signed in and before anything of it is kept. Where nobody in particular is
/// expected, somebody else on the machine may have signed in.
public enum SignInConfirmation: Sendable {
  /// Nobody.
  case none
  /// The person, on the page that ends the sign-in. Device codes have no such page.
  case page
  /// The program, which asks the person itself.
  case program(@Sendable (CachedAccount) async -> Bool)
}
