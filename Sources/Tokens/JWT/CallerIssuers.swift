// The issuers of callers' tokens at an authority: Entra's of both token versions, its tenants, and their keys.

extension EntraCloud {
  /// The host in the issuer of version 1.0 tokens, which Entra issues for an API unless its registration has
  /// `requestedAccessTokenVersion: 2`; nil for clouds that have none, or whose host is not documented. The table is
  /// Microsoft's: learn.microsoft.com/answers/questions/1190472; the US government's tenants have the global name.
  var firstVersionIssuer: String? {
    switch self {
    case .global, .usGovernment, .usLegacy: "sts.windows.net"
    case .china: "sts.chinacloudapi.cn"
    case .preproduction: "sts.windows-ppe.net"
    case .germanyLegacy, .sovereignFrance, .sovereignGermany, .sovereignSingapore: nil
    }
  }
}

extension Authority {
  /// The tenant of personal Microsoft accounts.
  private static let personalTenant = "9188040d-6c67-4c5b-b112-36a304b66dad"

  /// The issuers that a caller's token may name, beside the metadata's; none if it contradicts itself.
  package func issuers(of token: SignedJWT, named issuer: String) -> Set<String> {
    let second = self.issuer(of: token, named: issuer)
    guard case .entra(let tenant, let cloud) = kind else { return [second] }
    guard let id = token.claims.tenant else { return second.contains("{tenantid}") ? [] : [second] }
    // `https:`, the host, the tenant.
    guard id.isGUID, second.split(separator: "/").dropFirst(2).first?.lowercased() == id.lowercased() else { return [] }
    if tenant == .organizations, id.lowercased() == Self.personalTenant { return [] }
    var issuers: Set = [second]
    if let host = cloud.firstVersionIssuer { issuers.insert("https://\(host)/\(id)/") }
    return issuers
  }

  /// True if a token may be of this authority, as far as that is known before its metadata.
  package func mayIssue(_ token: SignedJWT) -> Bool {
    guard let issuer = token.claims.issuer else { return false }
    if case .entra(_, let cloud) = kind, let host = cloud.firstVersionIssuer, let id = token.claims.tenant, id.isGUID,
      issuer == "https://\(host)/\(id)/"
    {
      return true
    }
    // Google may leave the scheme out.
    return accepts(issuer: issuer) || accepts(issuer: "https://" + issuer)
  }

  /// True if a key signs tokens of this token's issuer and tenant, of both versions. Entra names each key's issuer: a
  /// key of personal accounts signs nothing for a company (Storm-0558).
  package func isKey(_ key: JWK, for token: SignedJWT, named issuer: String) -> Bool {
    guard case .entra = kind, let own = key.issuer else { return true }
    let expanded = token.claims.tenant.map { $0.isGUID ? own.replacing("{tenantid}", with: $0) : own } ?? own
    return expanded == token.claims.issuer || expanded == self.issuer(of: token, named: issuer)
  }

  /// The scopes of these that a token lacks. Its roles count as scopes. Entra's tokens name a scope without the API's
  /// name before it (`api://CLIENT-ID/name`), so that is left out if it is an audience here.
  package func scopes(_ required: ScopeSet, missingIn claims: JWTClaims, audiences: Set<String>) -> ScopeSet {
    let held = Set((claims.scopes + claims.standardScopes + claims.roles).map { $0.lowercased() })
    return required.filtered { scope in
      if held.contains(scope.lowercased()) { return false }
      guard let slash = scope.lastIndex(of: "/"), audiences.contains(String(scope[..<slash])) else { return true }
      return !held.contains(scope[scope.index(after: slash)...].lowercased())
    }
  }

  /// The audiences in tokens for an application that is configured by these: Entra writes a client id as it is into
  /// tokens of version 2.0, and behind `api://` into those of version 1.0. Only within one tenant: another tenant's
  /// administrator could use the second for an application of their own.
  package func audiences(_ configured: Set<String>) -> Set<String> {
    guard case .entra(.specific, _) = kind else { return configured }
    let scheme = "api://"
    return configured.reduce(into: configured) { audiences, audience in
      if audience.isGUID {
        audiences.insert(scheme + audience)
      } else if audience.hasPrefix(scheme), String(audience.dropFirst(scheme.count)).isGUID {
        audiences.insert(String(audience.dropFirst(scheme.count)))
      }
    }
  }
}
