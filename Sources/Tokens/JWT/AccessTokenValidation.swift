// The requirements of an access token beyond `JWTValidation`. Issuers sign other things with the same keys: ID tokens,
// logout tokens, security events, proofs (RFC 8725 §3.11 and §3.12).

import Bytes

extension Authority {
  /// Judges a token whose signature, issuer, audience and times are proven. `certificate` is the SHA-256 of the
  /// certificate that the caller has shown in TLS; empty if it has shown none.
  package func judgeAccess(_ token: SignedJWT, certificate: [UInt8]) throws(JWTRefusal) {
    let claims = token.claims
    let type = Self.mediaType(token.header.typ)
    // RFC 9068 §2.1, and the values of earlier issuers; JOSE is SPIFFE's.
    guard type.map({ ["at+jwt", "jwt", "jose"].contains($0) }) ?? true else { throw .headerType }
    let purpose = claims.purpose?.lowercased() ?? ""
    // Keycloak's `typ` and Cognito's `token_use`; the events of RFC 8417.
    if ["refresh", "offline", "logout"].contains(purpose) || claims.names.contains(.events) { throw .purpose }
    if type != "at+jwt", purpose == "id" || isIDToken(claims) { throw .idToken }
    if let confirmation = claims.confirmation {
      guard !certificate.isEmpty, confirmation == .certificate(Base64URL.encode(certificate)) else {
        throw .confirmation
      }
    }
  }

  /// True if the claims are those of OpenID Connect Core 1.0 §2. An access token has no hash of itself or of a code; it
  /// has a nonce, or the requesting application as its audience, only beside its scopes or roles.
  private func isIDToken(_ claims: JWTClaims) -> Bool {
    if !claims.names.isDisjoint(with: [.accessTokenHash, .codeHash, .stateHash]) { return true }
    // Entra names the requesting application in each access token.
    if isOfEntra { return claims.application == nil }
    let isForAccess = !claims.names.isDisjoint(with: [.scope, .clientID, .cid]) || claims.identityType != nil
    if isForAccess || !claims.scopes.isEmpty || claims.purpose?.lowercased() == "bearer" { return false }
    return claims.nonce != nil || claims.audiences.count == 1 && claims.audiences[0] == claims.application
  }

  /// A `typ` in lower case and without `application/`, which may be left out (RFC 7515 §4.1.9).
  private static func mediaType(_ typ: String?) -> String? {
    guard let type = typ?.lowercased() else { return nil }
    let prefix = "application/"
    return type.hasPrefix(prefix) ? String(type.dropFirst(prefix.count)) : type
  }
}
