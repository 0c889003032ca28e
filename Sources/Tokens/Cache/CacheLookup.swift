package import Bytes

/// The contents of a cache for one request: the account, the access token to use, and the refresh tokens that may bring
/// a new one. `AcquisitionPlan` decides what to do with it.
package struct CacheLookup: Sendable {
  /// The account; nil for an application's own tokens, and if the account is not known.
  package var account: CachedAccount?
  package var accessToken: HeldAccessToken?
  /// The grant for a new token.
  package var grant: AvailableGrant

  /// The lookup for tokens that are never kept in a cache; nil for all others.
  package static func unfiled(_ key: AcquisitionKey) -> CacheLookup? {
    switch key.subject {
    case .caller: CacheLookup(grant: .assertion)
    case .agentUser: CacheLookup(grant: .clientCredentials)
    case .application, .account: key.authority.isManagedIdentity ? CacheLookup(grant: .clientCredentials) : nil
    }
  }
}

/// The grant with which a token can be requested without asking a person.
package enum AvailableGrant: Sendable {
  case clientCredentials
  /// The token that a caller has brought.
  case assertion
  /// An account's refresh tokens, at least one, in the order in which to try them.
  case refreshTokens([HeldRefreshToken])
  /// None: a person has to sign in.
  case nothing(InteractionReason)
  /// Not known: the cache cannot be read now, and nothing was found before. A person may be signed in.
  case unknown

  /// The reason for `nothing`; nil for the others.
  package var reason: InteractionReason? {
    if case .nothing(let reason) = self { reason } else { nil }
  }

  package var refreshTokens: [HeldRefreshToken] {
    if case .refreshTokens(let tokens) = self { tokens } else { [] }
  }
}

extension CacheDocument {
  /// The cache's contents for a request.
  /// - Parameters:
  ///   - realm: the tenant; nil finds only access tokens that are stored under their issuer.
  ///   - family: the family of applications whose refresh tokens count too; nil is none.
  package func lookup(for key: AcquisitionKey, realm: String?, now: UnixTime, family: String? = nil) -> CacheLookup {
    if let unfiled = CacheLookup.unfiled(key) { return unfiled }
    let authority = key.authority
    var query = CacheQuery(at: authority, realm: realm, clientID: key.clientID, homeAccountID: nil)
    guard case .account(let name) = key.subject else {
      query.isolation = authority.applicationIsolation
      return CacheLookup(
        account: nil, accessToken: accessToken(query, scopes: key.scopes, now: now), grant: .clientCredentials)
    }
    let choice = choice(named: name, authority: authority, clientID: key.clientID)
    // Of several the application has to choose, never the library.
    guard let account = choice.first, choice.count == 1 else {
      return CacheLookup(grant: .nothing(choice.isEmpty ? .noAccount : .accountAmbiguous))
    }
    query.homeAccountID = account.homeAccountID
    let tokens = refreshTokens(query, family: self.family(query, presumed: family))
    return CacheLookup(
      account: account, accessToken: accessToken(query, scopes: key.scopes, now: now),
      grant: tokens.isEmpty ? .nothing(.noTokens) : .refreshTokens(tokens))
  }

  /// The family of an application by the cache, or the presumed one if the cache does not know.
  private func family(_ query: CacheQuery, presumed: String?) -> String? {
    guard let presumed else { return nil }
    let known = self[.appMetadata].values.filter {
      $0["client_id"] == query.clientID && query.environments.contains($0["environment"]?.lowercased() ?? "")
    }
    return known.isEmpty ? presumed : known.lazy.compactMap { $0["family_id"] }.first { !$0.isEmpty }
  }

  /// The accounts that a name may mean, or no name. One file may serve many applications: an account that is signed in
  /// to others only counts if no other account fits.
  package func choice(named name: String?, authority: Authority, clientID: String) -> [CachedAccount] {
    let known = accounts(authority: authority, clientID: clientID, named: name)
    let own = known.filter { isOwned($0, by: clientID) }
    return own.isEmpty ? known : own
  }

  /// The accounts that are signed in at an authority, by user name. Issuers that share a host do not share accounts.
  /// - Parameter name: only the accounts of this name; nil is all.
  package func accounts(authority: Authority, clientID: String, named name: String? = nil) -> [CachedAccount] {
    let hosts = Set(authority.environments.map { $0.lowercased() })
    let found = (name.map { homeAccountIDs(called: $0) } ?? homeAccountIDs).compactMap { home -> CachedAccount? in
      let query = CacheQuery(at: authority, clientID: clientID, homeAccountID: home)
      if let issuer = authority.isolation { return account(query, issuer: issuer) }
      return account(home: home, hosts: hosts).map { named($0, query) }
    }
    return found.filter { account in
      (name.map(account.isCalled) ?? true) && authority.hasPolicy(of: account.homeAccountID)
    }
    .sorted { ($0.username, $0.homeAccountID) < ($1.username, $1.homeAccountID) }
  }

  /// A person who is signed in at an issuer, by its own entries or by its ID token.
  private func account(_ query: CacheQuery, issuer: String) -> CachedAccount? {
    guard let home = query.homeAccountID, isSignedIn(query, issuer: issuer) else { return nil }
    var account: CachedAccount?
    let own = ownAccounts(home, issuer: issuer)
    if own.isEmpty {
      account = self.account(home: home, hosts: Set(query.environments).subtracting([issuer.lowercased()]))
    } else {
      account = CachedAccount(home: home, environment: issuer, entries: own)
    }
    account?.environment = issuer
    // The first segment of an issuer's path is no tenant.
    account?.realms = []
    guard var account else { return nil }
    let identity = identity(query, issuer: issuer)
    if let name = identity?.username, own.isEmpty {
      account.username = name
      account.usernames = [name]
    }
    if account.username.isEmpty { account.label = account.label ?? identity?.displayName }
    return account
  }

  /// The account with a label, if it has no user name.
  private func named(_ account: CachedAccount, _ query: CacheQuery) -> CachedAccount {
    guard account.username.isEmpty, account.label == nil else { return account }
    var account = account
    for key in keys(.idToken, clientID: query.clientID, homeAccountID: account.homeAccountID).sorted() {
      let token = entry(.idToken, key)?.secret?.revealed()
      account.label = account.label ?? AccountIdentity(clientInfo: nil, idToken: token).displayName
    }
    return account
  }

  private func isOwned(_ account: CachedAccount, by clientID: String) -> Bool {
    [CacheSection.refreshToken, .accessToken, .idToken].contains {
      !keys($0, clientID: clientID, homeAccountID: account.homeAccountID).isEmpty
    }
  }
}
