package import Bytes

package struct IDTokenValidation: Sendable {
  /// Seconds that the provider's clock and ours may differ (msal-python's).
  package static let leeway: Int64 = 120

  /// The provider's issuer, as in its metadata.
  package var issuer: String
  /// The kind of provider: Entra's issuers may be templates.
  package var authority: Authority
  /// The application: the only audience.
  package var clientID: String
  /// The sign-in's nonce; nil for device codes, which have none.
  package var nonce: String?
  /// True if a token may be without the nonce: with PKCE it needs none (RFC 9700 §4.5.3), and some omit it.
  package var mayLackNonce = false
  /// The maximum age that was requested, in seconds.
  package var maxAge: Int64?

  package init(issuer: String, authority: Authority, clientID: String, nonce: String?, maxAge: Int64? = nil) {
    self.issuer = issuer
    self.authority = authority
    self.clientID = clientID
    self.nonce = nonce
    self.maxAge = maxAge
  }

  /// The token's claims, now proven.
  package func accept(
    _ token: SignedJWT, now: UnixTime, signature: (SignedJWT, JWTAlgorithm) -> SignatureVerdict
  ) throws(JWTRefusal) -> JWTClaims {
    let rule = JWTValidation(
      issuers: [authority.issuer(of: token, named: issuer)], audiences: [clientID], algorithms: [.rs256, .ps256],
      leeway: Self.leeway)
    let claims = try rule.accept(token, now: now, signature: signature)
    if let nonce, claims.nonce != nonce, !(mayLackNonce && claims.nonce == nil) { throw .nonce }
    if claims.audiences.count > 1, claims.application != clientID { throw .authorizedParty(claims.application) }
    if let maxAge {
      guard let at = claims.authenticatedAt, now <= at + maxAge + Self.leeway else {
        throw .age(authenticatedAt: claims.authenticatedAt)
      }
    }
    return claims
  }
}

extension Authority {
  /// The issuer that a token of this authority must name, with the tenant that Entra's metadata leave to the token. The
  /// token's tenant counts only because the signature covers issuer and tenant together.
  package func issuer(of token: SignedJWT, named issuer: String) -> String {
    if issuer == ProviderMetadata.google, let named = token.claims.issuer, issuer == "https://\(named)" { return named }
    guard case .entra = kind, let tenant = token.claims.tenant, case .specific = EntraTenant(tenant) else {
      return issuer
    }
    return issuer.replacing("{tenantid}", with: tenant)
  }
}
