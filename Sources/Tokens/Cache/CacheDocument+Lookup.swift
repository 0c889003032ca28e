package import Bytes

/// The owner of a wanted token, and the places to look.
package struct CacheQuery: Sendable, Hashable {
  /// Hosts that serve the same accounts (`Authority.environments`).
  package var environments: [String]
  /// The tenant; nil is any tenant: enough if `isolation` names the issuer, and otherwise finds nothing.
  package var realm: String?
  package var clientID: String
  /// The account; nil for the application's own tokens.
  package var homeAccountID: String?
  /// Set if plain tokens are not to be trusted: two issuers may share a host (`IssuedTokens.isolation`).
  package var isolation: String?

  package init(
    environments: [String], realm: String?, clientID: String, homeAccountID: String?, isolation: String? = nil
  ) {
    self.environments = environments.map { $0.lowercased() }
    self.realm = realm
    self.clientID = clientID
    self.homeAccountID = homeAccountID
    self.isolation = isolation
  }

  /// The tokens of an application at an authority.
  package init(at authority: Authority, realm: String? = nil, clientID: String, homeAccountID: String?) {
    self.init(
      environments: authority.environments, realm: realm, clientID: clientID, homeAccountID: homeAccountID,
      isolation: authority.isolation)
  }
}

extension CacheDocument {
  /// A person's or an application's access tokens, of all issuers, in the order of their keys.
  func accessTokens(_ query: CacheQuery) -> [HeldAccessToken] {
    keys(.accessToken, clientID: query.clientID, homeAccountID: query.homeAccountID).sorted()
      .compactMap { HeldAccessToken(key: $0, entry: entry(.accessToken, $0)) }
      .filter { query.environments.contains($0.environment) && $0.isolation == query.isolation }
  }

  /// The access token to use for a scope set: one for exactly these scopes, else the one with the fewest more, else the
  /// one that lives longest. Expired tokens, and those from the future, are not found; nothing is removed.
  package func accessToken(_ query: CacheQuery, scopes: ScopeSet, now: UnixTime) -> HeldAccessToken? {
    guard query.realm != nil || query.isolation != nil else { return nil }
    let wanted = Set(scopes.words.map { $0.lowercased() })
    var best: (token: HeldAccessToken, size: Int)?
    for token in accessTokens(query) where token.isPlainBearer && query.realm.map({ $0 == token.realm }) ?? true {
      guard token.expiresOn > now, (token.cachedAt ?? now) <= now else { continue }
      let held = Set(token.scopes.map { $0.lowercased() })
      guard wanted.isSubset(of: held) else { continue }
      // Scopes that describe the sign-in make no token wider: some libraries write them into the target, others do not.
      let size = held.subtracting(ScopeSet.reserved).count
      if let best, (best.size, now - best.token.expiresOn) <= (size, now - token.expiresOn) { continue }
      best = (token, size)
    }
    return best?.token
  }

  /// Every refresh token that may be redeemed for an account, in the order in which to try them: the application's own,
  /// newest first, then, with `family`, those of its family. None that may belong to another issuer.
  package func refreshTokens(_ query: CacheQuery, family: String? = nil) -> [HeldRefreshToken] {
    guard let home = query.homeAccountID else { return [] }
    if let issuer = query.isolation {
      return issuedRefreshTokens(query, issuer: issuer).sorted(by: HeldRefreshToken.isTriedBefore)
    }
    let own = refreshTokenEntries(query).filter { $0.isolation == nil }
    guard let family else { return own.sorted(by: HeldRefreshToken.isTriedBefore) }
    let known = Set(own.map(\.key))
    let siblings = self[.refreshToken].compactMap { key, entry -> HeldRefreshToken? in
      guard !known.contains(key), entry["home_account_id"] == home, entry["family_id"] == family else { return nil }
      return HeldRefreshToken(key: key, entry: entry)
    }.filter { query.environments.contains($0.environment) }
    return own.sorted(by: HeldRefreshToken.isTriedBefore) + siblings.sorted(by: HeldRefreshToken.isTriedBefore)
  }

  /// An application's refresh tokens for an account, of all issuers, in no order.
  func refreshTokenEntries(_ query: CacheQuery) -> [HeldRefreshToken] {
    keys(.refreshToken, clientID: query.clientID, homeAccountID: query.homeAccountID)
      .compactMap { HeldRefreshToken(key: $0, entry: entry(.refreshToken, $0)) }
      .filter { query.environments.contains($0.environment) }
  }
}
