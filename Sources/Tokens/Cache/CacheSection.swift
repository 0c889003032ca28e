// Owns the names of the unified cache's parts, as every MSAL spells them.

/// A section of the unified cache (MSAL's `CredentialType`, and the two that hold no credential).
package enum CacheSection: String, Sendable, Hashable, CaseIterable {
  /// Access tokens.
  case accessToken = "AccessToken"
  /// Who is signed in.
  case account = "Account"
  /// ID tokens, as the provider sent them.
  case idToken = "IdToken"
  /// Refresh tokens.
  case refreshToken = "RefreshToken"
  /// What is known of applications: the family.
  case appMetadata = "AppMetadata"

  /// Its place in `allCases`.
  var index: Int {
    switch self {
    case .accessToken: 0
    case .account: 1
    case .idToken: 2
    case .refreshToken: 3
    case .appMetadata: 4
    }
  }
}
