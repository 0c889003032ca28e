// Owns what is known of a token beside its bytes: whose it is, for which tenant, from where.

public import Tokens

/// Where a token came from (the part of MSAL's result that tells).
public struct TokenOrigin: Sendable, Hashable {
  /// Who handed it out.
  public enum Source: String, Sendable, Hashable {
    /// The provider, just now.
    case identityProvider = "identity_provider"
    /// The cache: it was obtained earlier, here or by another process.
    case cache
  }

  /// Who handed it out.
  public var source: Source
  /// The tenant it is for, which need not be the person's own; nil where the provider has no tenants.
  public var tenant: String?
  /// Whose it is; nil for an application's own.
  public var account: CachedAccount?

  /// An origin.
  package init(source: Source = .identityProvider, tenant: String? = nil, account: CachedAccount? = nil) {
    self.source = source
    self.tenant = tenant
    self.account = account
  }

  /// The origin of a token that is filed under a tenant of an authority. Where the authority names none
  /// (`organizations`), a token is for the person's own tenant, the second half of the home account id.
  init(_ source: Source, authority: Authority, realm: String?, account: CachedAccount?) {
    let home = account?.homeAccountID.split(separator: ".", maxSplits: 1).dropFirst().first.map(String.init)
    let tenant: String? =
      switch authority.kind {
      case .entra(.specific(let written), _): realm ?? written
      case .entra: home
      case .b2c(let written, _), .ciam(let written): realm ?? written
      case .adfs, .issuer: nil
      }
    self.init(source: source, tenant: tenant, account: account)
  }
}
