// The signature algorithms that are accepted. `none` and the symmetric ones are absent, so a token cannot select them.

/// An asymmetric signature algorithm of RFC 7518 §3.1.
package enum JWTAlgorithm: String, Sendable, Hashable, CaseIterable {
  /// RSASSA-PKCS1-v1_5 with SHA-256: what Entra and most providers sign with.
  case rs256 = "RS256"
  /// RSASSA-PSS with SHA-256.
  case ps256 = "PS256"
}
