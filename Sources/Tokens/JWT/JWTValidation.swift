package import Bytes

/// The result of checking a token's signature.
package enum SignatureVerdict: Sendable, Hashable {
  /// It was made over these bytes with the issuer's key.
  case valid
  /// It was not.
  case invalid
  /// The issuer publishes no key that could have signed the token.
  case unknownKey
}

/// The requirements for a token: its issuer, audience and signature.
package struct JWTValidation: Sendable {
  /// The names of the one issuer, compared byte by byte: several if its tokens have two versions.
  package var issuers: Set<String>
  /// The audiences that mean us: one of them must be among the token's.
  package var audiences: Set<String>
  /// The algorithms that may have signed it.
  package var algorithms: Set<JWTAlgorithm>
  /// Maximum difference of the issuer's clock and ours in seconds, 300 by default.
  package var leeway: Int64

  package init(
    issuers: Set<String>, audiences: Set<String>, algorithms: Set<JWTAlgorithm> = [.rs256], leeway: Int64 = 300
  ) {
    self.issuers = issuers
    self.audiences = audiences
    self.algorithms = algorithms
    self.leeway = leeway
  }

  /// The token's claims, now proven. The signature comes first, so that errors tell a forger no more than that. Then
  /// issuer, audience and times (RFC 7519 §7.2, RFC 8725 §3.1).
  package func accept(
    _ token: SignedJWT, now: UnixTime, signature: (SignedJWT, JWTAlgorithm) -> SignatureVerdict
  ) throws(JWTRefusal) -> JWTClaims {
    switch signature(token, try judgeHeader(token)) {
    case .valid: break
    case .invalid: throw .signature
    case .unknownKey: throw .unknownKey(identifier: token.header.kid)
    }
    try judgeClaims(token, now: now)
    return token.claims
  }

  /// Checks everything that needs no key, before keys are requested.
  package func judgeUnproven(_ token: SignedJWT, now: UnixTime) throws(JWTRefusal) {
    _ = try judgeHeader(token)
    try judgeClaims(token, now: now)
  }

  private func judgeHeader(_ token: SignedJWT) throws(JWTRefusal) -> JWTAlgorithm {
    guard let algorithm = JWTAlgorithm(rawValue: token.header.alg), algorithms.contains(algorithm) else {
      throw .algorithm(token.header.alg)
    }
    if token.header.crit != nil { throw .criticalExtension }
    return algorithm
  }

  private func judgeClaims(_ token: SignedJWT, now: UnixTime) throws(JWTRefusal) {
    let claims = token.claims
    guard let issuer = claims.issuer, issuers.contains(issuer) else { throw .issuer(claims.issuer) }
    guard !audiences.isDisjoint(with: claims.audiences) else { throw .audience(claims.audiences) }
    guard let expiresAt = claims.expiresAt else { throw .withoutExpiry }
    if now >= expiresAt + leeway { throw .expired(at: expiresAt) }
    if let notBefore = claims.notBefore, now < notBefore - leeway { throw .notYetValid(from: notBefore) }
  }
}
