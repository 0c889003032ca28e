package import Bytes
internal import HTTP

/// A person who is signed in, and the tokens of one application for them.
package struct SignedInAccount: Sendable, Hashable {
  /// One access token, without its text.
  package struct TokenState: Sendable, Hashable {
    /// Its tenant; nil if the provider has no tenants.
    package var tenant: String?
    package var scopes: [String]
    package var expiresAt: UnixTime

    fileprivate var order: (String, String) { (tenant ?? "", scopes.joined(separator: " ")) }

    /// True if a request can still carry it.
    package func isUsable(at now: UnixTime) -> Bool { now < expiresAt }
  }

  package var account: CachedAccount
  /// The application's access tokens for that person, expired ones too, by tenant and scopes.
  package var tokens: [TokenState]
  /// True if the application can get new ones without the person: it holds a refresh token.
  package var canRefresh: Bool
}

extension CacheDocument {
  /// The accounts that are signed in at an authority, with an application's tokens for them. If several issuers share a
  /// host, only this issuer's accounts.
  /// - Parameter name: only the accounts of this name; nil is all.
  package func signedInAccounts(
    at authority: Authority, clientID: String, called name: String? = nil
  ) -> [SignedInAccount] {
    accounts(authority: authority, clientID: clientID, named: name).map { account in
      let query = CacheQuery(at: authority, clientID: clientID, homeAccountID: account.homeAccountID)
      let tokens = accessTokens(query).filter(\.isPlainBearer)
        .map { token -> SignedInAccount.TokenState in
          let realm: String? = authority.isolation == nil ? token.realm : nil
          return SignedInAccount.TokenState(
            tenant: realm.map { account.tenant(ofRealm: $0) }, scopes: token.scopes, expiresAt: token.expiresOn)
        }
        .sorted { $0.order < $1.order }
      return SignedInAccount(account: account, tokens: tokens, canRefresh: !refreshTokens(query).isEmpty)
    }
  }

  /// An application's tokens for a person that it could revoke: the refresh tokens, else the access tokens.
  package func heldTokens(
    of home: String, at authority: Authority, clientID: String
  ) -> [(token: Secret, hint: TokenHint)] {
    let query = CacheQuery(at: authority, clientID: clientID, homeAccountID: home)
    let refreshTokens = refreshTokens(query).map { ($0.secret, TokenHint.refreshToken) }
    if !refreshTokens.isEmpty { return refreshTokens }
    return accessTokens(query).map { ($0.secret, .accessToken) }
  }
}

extension Authority {
  /// The name of new entries: the authority's host, without its port, in lower case (msal-python's rule), or its
  /// cloud's; for an issuer its whole URL: a library that would send its tokens to another issuer does not find them.
  package var environment: String { environments.first ?? url.host }

  /// The product of these accounts.
  package var accountAuthority: AccountAuthority { kind == .adfs ? .federationServices : .standard }

  /// The name of the authorization endpoint's operator: Microsoft's host, or the issuer.
  package var authorizationServer: String { isolation ?? environment }

  /// The separator between tokens of issuers on the same host (`ext_cache_key`); nil for Microsoft's kinds, whose
  /// tenants separate them. Without it, two realms with one client id would serve each other's tokens.
  package var isolation: String? { kind == .issuer ? description : nil }

  /// True if an account may belong to this authority: to its cloud, or, for an issuer, to itself.
  package func holds(_ account: CachedAccount) -> Bool {
    isolation.map { $0 == account.environment } ?? environments.contains(account.environment)
  }
}

extension CacheDocument {
  /// The host of a person's new entries: the account's, so that no library sees the person twice.
  package func environment(ofAccount home: String?, at authority: Authority) -> String {
    guard let home, authority.isolation == nil else { return authority.environment }
    let hosts = Set(authority.environments.map { $0.lowercased() })
    return account(home: home, hosts: hosts)?.environment ?? authority.environment
  }
}
