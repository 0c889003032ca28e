extension IssuedTokens {
  /// The key of a new entry (msal-python's `key_makers`): parts joined by `-`, in lower case. None is looked up by it.
  func key(of section: CacheSection, target: String = "") -> String {
    let home = home ?? ""
    let parts: [String] =
      switch section {
      // A key apart, so that no library takes tokens that need more than their scopes for plain ones.
      case .accessToken:
        [home, environment, isolation == nil ? "accesstoken" : "atext", clientID, realm, target]
          + (isolation.map { [$0] } ?? [])
      // No realm, since it serves every tenant.
      case .refreshToken: [home, environment, "refreshtoken", clientID, "", target]
      case .idToken: [home, environment, "idtoken", clientID, realm, ""]
      case .account: [home, environment, realm]
      case .appMetadata: ["appmetadata", environment]
      }
    let key = parts.joined(separator: "-").lowercased()
    // The client id keeps its case there, as in msal-python.
    return section == .appMetadata ? "\(key)-\(clientID)" : key
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
