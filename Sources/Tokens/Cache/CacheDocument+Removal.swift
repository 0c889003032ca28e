// Owns signing out: what goes with an account, what stays because it is somebody else's.

extension CacheDocument {
  /// Removes an account from hosts: its access tokens, ID tokens and accounts, whichever application they are filed for, and the
  /// refresh tokens of this application and its family. Other applications keep theirs, and what is known of applications stays
  /// (MSAL's sign-out).
  public mutating func removeAccount(home: String, environments: [String], clientID: String) {
    let hosts = Set(environments.map { $0.lowercased() })
    func isTheirs(_ entry: CacheEntry) -> Bool {
      let fields = entry.fields
      return fields.is(.homeAccountID, home) && hosts.contains(fields.lowercased(.environment) ?? "")
    }
    let families = families(of: clientID, hosts: hosts)
    for (key, entry) in self[.refreshToken] where isTheirs(entry) {
      let isFamilys = entry["family_id"].map { !$0.isEmpty && families.contains($0) } ?? false
      if entry["client_id"] == clientID || isFamilys { remove(.refreshToken, key) }
    }
    for section in [CacheSection.accessToken, .idToken, .account] {
      for (key, entry) in self[section] where isTheirs(entry) { remove(section, key) }
    }
  }

  /// Removes the application's own access tokens from hosts; those of people stay.
  public mutating func removeApplicationTokens(clientID: String, environments: [String]) {
    let hosts = Set(environments.map { $0.lowercased() })
    for key in keys(.accessToken, clientID: clientID, homeAccountID: nil) {
      guard let entry = entry(.accessToken, key), hosts.contains(entry["environment"]?.lowercased() ?? "") else {
        continue
      }
      remove(.accessToken, key)
    }
  }

  private func families(of clientID: String, hosts: Set<String>) -> Set<String> {
    Set(
      self[.appMetadata].values
        .filter { $0["client_id"] == clientID && hosts.contains($0["environment"]?.lowercased() ?? "") }
        .compactMap { $0["family_id"] })
  }
}
