// Owns the members of a JOSE header that this code base reads and writes.

/// The protected header of a JWT (RFC 7515 §4).
package struct JWTHeader: Sendable, Hashable, Codable {
  /// The algorithm as written, also an unknown one.
  package var alg: String
  /// Which key signed, where the token says so.
  package var kid: String?
  /// `JWT`, `at+jwt`, or nothing.
  package var typ: String?
  /// Extensions that must be understood. There are none that are, so a token with any is refused (RFC 7515 §4.1.11).
  package var crit: [String]?

  /// A header to sign under.
  package init(algorithm: JWTAlgorithm, keyIdentifier: String?, type: String? = "JWT") {
    alg = algorithm.rawValue
    kid = keyIdentifier
    typ = type
  }
}
