// Owns the keys under which new entries are written: msal-python's. Entries are never looked up by them.

/// Makes keys (msal-python's `key_makers`): parts joined by `-`, absent ones empty, all in lower case.
enum CacheKey {
  /// An access token's. Tokens that need something beside their scopes have a key apart, so that no library takes them
  /// for plain ones.
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

  /// An ID token's.
  static func idToken(home: String?, environment: String, clientID: String, realm: String) -> String {
    [home ?? "", environment, "idtoken", clientID, realm, ""].joined(separator: "-").lowercased()
  }

  /// An account's.
  static func account(home: String, environment: String, realm: String) -> String {
    [home, environment, realm].joined(separator: "-").lowercased()
  }

  /// An application's; the client id keeps its case, as msal-python has it.
  static func appMetadata(environment: String, clientID: String) -> String {
    "appmetadata-\(environment.lowercased())-\(clientID)"
  }
}
