// Owns what may be told of a person who is signed in: tenants, and how the tokens stand. Never a token.

package import Bytes

/// A person who is signed in, and what one application holds for them.
package struct SignedInAccount: Sendable, Hashable {
  /// One access token, without the token.
  package struct TokenState: Sendable, Hashable {
    /// The tenant it is filed under; nil where the provider has no tenants.
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
        .map { token in
          SignedInAccount.TokenState(
            tenant: authority.isolation == nil ? token.realm : nil, scopes: token.scopes, expiresAt: token.expiresOn)
        }
        .sorted { $0.order < $1.order }
      return SignedInAccount(account: account, tokens: tokens, canRefresh: !refreshTokens(query).isEmpty)
    }
  }
}
