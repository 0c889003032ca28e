// What may be told of a person who is signed in: tenants, and how the tokens stand. Never a token.

package import Bytes
internal import HTTP

/// A person who is signed in, and what one application holds for them.
package struct SignedInAccount: Sendable, Hashable {
  /// One access token, without the token.
  package struct TokenState: Sendable, Hashable {
    /// The tenant it is for; nil where the provider has no tenants.
    package var tenant: String?
    /// What it is for.
    package var scopes: [String]
    /// When it ends, or ended.
    package var expiresAt: UnixTime

    fileprivate var order: (String, String) { (tenant ?? "", scopes.joined(separator: " ")) }

    /// Whether a request could still carry it.
    package func isUsable(at now: UnixTime) -> Bool { now < expiresAt }
  }

  /// Who it is.
  package var account: CachedAccount
  /// The application's access tokens for that person, expired ones too, by tenant and scopes.
  package var tokens: [TokenState]
  /// Whether the application can get new ones without the person: it holds a refresh token.
  package var canRefresh: Bool
}

extension CacheDocument {
  /// The accounts that are signed in at an authority, with what an application holds for them. Where several issuers
  /// share a host, only this issuer's accounts.
  package func signedInAccounts(at authority: Authority, clientID: String) -> [SignedInAccount] {
    accounts(authority: authority, clientID: clientID).map { account in
      let query = CacheQuery(
        environments: authority.environments, realm: nil, clientID: clientID, homeAccountID: account.homeAccountID,
        isolation: authority.isolation)
      let tokens = keys(.accessToken, clientID: clientID, homeAccountID: account.homeAccountID)
        .compactMap { HeldAccessToken(key: $0, entry: entry(.accessToken, $0)) }
        .filter {
          query.environments.contains($0.environment) && $0.isolation == authority.isolation && $0.isPlainBearer
        }
        .map { token -> SignedInAccount.TokenState in
          let realm: String? = authority.isolation == nil ? token.realm : nil
          return SignedInAccount.TokenState(
            tenant: realm.map { account.tenant(ofRealm: $0) }, scopes: token.scopes, expiresAt: token.expiresOn)
        }
        .sorted { $0.order < $1.order }
      return SignedInAccount(account: account, tokens: tokens, canRefresh: !refreshTokens(query).isEmpty)
    }
  }
}

extension CacheDocument {
  /// What an application holds for a person and could have ended: the refresh tokens, else the access tokens.
  package func heldTokens(
    of home: String, at authority: Authority, clientID: String
  ) -> [(token: Secret, hint: RevocationRequest.Hint)] {
    let query = CacheQuery(
      environments: authority.environments, realm: nil, clientID: clientID, homeAccountID: home,
      isolation: authority.isolation)
    let refreshTokens = refreshTokens(query).map { ($0.secret, RevocationRequest.Hint.refreshToken) }
    if !refreshTokens.isEmpty { return refreshTokens }
    return keys(.accessToken, clientID: clientID, homeAccountID: home).sorted()
      .compactMap { HeldAccessToken(key: $0, entry: entry(.accessToken, $0)) }
      .filter { query.environments.contains($0.environment) && $0.isolation == authority.isolation }
      .map { ($0.secret, .accessToken) }
  }
}

extension Authority {
  /// The name under which new entries are filed: the authority's host, without its port, in lower case (msal-python's
  /// rule). A regional host is for the network only, and files under its cloud's. An issuer files under its whole URL:
  /// no other library looks there, so none takes one issuer's tokens to another.
  package var environment: String { environments.first ?? url.host }

  /// Which product's accounts these are.
  package var accountAuthority: AccountAuthority { kind == .adfs ? .federationServices : .standard }

  /// Who answers for the authorization endpoint: Microsoft for all tenants of a host, and every other issuer for
  /// itself.
  package var authorizationServer: String { isolation ?? environment }

  /// What keeps tokens of one issuer apart from those of another on the same host (`ext_cache_key`); nil for
  /// Microsoft's kinds, whose tenants do that. Without it, two realms with one client id would serve each other's
  /// tokens.
  package var isolation: String? { kind == .issuer ? description : nil }
}

extension Authority {
  /// Whether an account may be one of this authority's: of its cloud, or, of an issuer, its own.
  package func holds(_ account: CachedAccount) -> Bool {
    isolation.map { $0 == account.environment } ?? environments.contains(account.environment)
  }
}

extension CacheDocument {
  /// The host under which a person's new entries are filed: that of the account where one stands already, under
  /// whichever alias of the authority's cloud, so that no library sees the person twice.
  package func environment(ofAccount home: String?, at authority: Authority) -> String {
    guard let home, authority.isolation == nil else { return authority.environment }
    let known = Set(
      accounts(environments: authority.environments).filter { $0.homeAccountID == home }.map(\.environment))
    return known.contains(authority.environment) ? authority.environment : known.min() ?? authority.environment
  }
}
