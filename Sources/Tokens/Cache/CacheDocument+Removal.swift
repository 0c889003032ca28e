internal import Bytes

extension CacheDocument {
  /// Signs a person out of an application at an authority. If several issuers share a host, only out of this one.
  package mutating func removeAccount(home: String, at authority: Authority, clientID: String) {
    guard let issuer = authority.isolation else {
      return removeAccount(home: home, environments: authority.environments, clientID: clientID)
    }
    removeIssued(CacheQuery(at: authority, clientID: clientID, homeAccountID: home), issuer: issuer)
  }

  /// Removes an account from hosts (MSAL's sign-out): what every application has but refresh tokens, and of these what
  /// this application and its family have.
  package mutating func removeAccount(home: String, environments: [String], clientID: String) {
    let hosts = Set(environments.map { $0.lowercased() })
    let families = families(of: clientID, hosts: hosts)
    for (key, entry) in self[.refreshToken] where entry.isOf(home, hosts) {
      let isFamilys = entry["family_id"].map { !$0.isEmpty && families.contains($0) } ?? false
      if entry["client_id"] == clientID || isFamilys { remove(.refreshToken, key) }
    }
    for section in [CacheSection.accessToken, .idToken, .account] {
      for (key, entry) in self[section] where entry.isOf(home, hosts) { remove(section, key) }
    }
  }

  /// Removes an issuer's entries, and unmarked ones unless a sign-in at another issuer of the host is known.
  private mutating func removeIssued(_ query: CacheQuery, issuer: String) {
    guard let home = query.homeAccountID else { return }
    let hosts = Set(query.environments)
    let own = Set(issuedRefreshTokens(query, issuer: issuer).map(\.key))
    var isShared = false
    for (key, entry) in self[.idToken] where entry.isOf(home, hosts) {
      let mark = entry.fields[.isolation]
      let name = AccountIdentity(clientInfo: nil, idToken: entry.secret?.revealed()).issuer.flatMap(Self.issuerName)
      if mark == issuer || (mark == nil && name == issuer) { remove(.idToken, key) } else { isShared = true }
    }
    for section in [CacheSection.refreshToken, .accessToken] {
      for (_, entry) in self[section] where entry.isOf(home, hosts) {
        if let mark = entry.fields[.isolation], mark != issuer { isShared = true }
      }
    }
    for (key, entry) in self[.refreshToken] where entry.isOf(home, hosts) && entry["client_id"] == query.clientID {
      let mark = entry.fields[.isolation]
      if mark == issuer || own.contains(key) || (mark == nil && !isShared) { remove(.refreshToken, key) }
    }
    for section in [CacheSection.accessToken, .account] {
      for (key, entry) in self[section] where entry.isOf(home, hosts) {
        let mark = entry.fields[.isolation]
        if mark == issuer || (mark == nil && !isShared) { remove(section, key) }
      }
    }
  }

  private func families(of clientID: String, hosts: Set<String>) -> Set<String> {
    Set(
      self[.appMetadata].values
        .filter { $0["client_id"] == clientID && hosts.contains($0["environment"]?.lowercased() ?? "") }
        .compactMap { $0["family_id"] })
  }
}

extension CacheEntry {
  /// True if it is a person's, under one of these names.
  fileprivate func isOf(_ home: String, _ hosts: Set<String>) -> Bool {
    let fields = fields
    return fields.is(.homeAccountID, home) && hosts.contains(fields.lowercased(.environment) ?? "")
  }
}
