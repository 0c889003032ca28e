// Owns under which names an authority's accounts and tokens stand in the unified cache. Sign-in, silence and sign-out
// must agree.

internal import HTTP

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
