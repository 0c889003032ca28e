/// Makes keys of new entries (msal-python's `key_makers`): parts joined by `-`, absent ones empty, all in lower case.
/// Entries are never looked up by them.
enum CacheKey {
  /// An access token's. Tokens that need more than their scopes have a key apart, so that no library takes them for
  /// plain ones.
  static func accessToken(
    home: String?, environment: String, clientID: String, realm: String, target: String, isolation: String?
  ) -> String {
    let type = isolation == nil ? "accesstoken" : "atext"
    let parts = [home ?? "", environment, type, clientID, realm, target] + (isolation.map { [$0] } ?? [])
    return parts.joined(separator: "-").lowercased()
  }

  /// A refresh token's: no realm, since it serves every tenant.
  static func refreshToken(home: String?, environment: String, clientID: String, target: String) -> String {
    [home ?? "", environment, "refreshtoken", clientID, "", target].joined(separator: "-").lowercased()
  }

  static func idToken(home: String?, environment: String, clientID: String, realm: String) -> String {
    [home ?? "", environment, "idtoken", clientID, realm, ""].joined(separator: "-").lowercased()
  }

  static func account(home: String, environment: String, realm: String) -> String {
    [home, environment, realm].joined(separator: "-").lowercased()
  }

  /// An application's; the client id keeps its case, as in msal-python.
  static func appMetadata(environment: String, clientID: String) -> String {
    "appmetadata-\(environment.lowercased())-\(clientID)"
  }
}

/// A section of the unified cache (MSAL's `CredentialType`, and the two that hold no credential).
package enum CacheSection: String, Sendable, Hashable, CaseIterable {
  case accessToken = "AccessToken"
  /// People who are signed in.
  case account = "Account"
  /// ID tokens, as the provider sent them.
  case idToken = "IdToken"
  case refreshToken = "RefreshToken"
  /// Metadata of applications: the family.
  case appMetadata = "AppMetadata"
}
