// Owns the members of a JOSE header that this code base reads and writes.

/// The protected header of a JWT (RFC 7515 §4).
public struct JWTHeader: Sendable, Hashable, Codable {
  /// The algorithm as written, also an unknown one.
  public var alg: String
  /// Which key signed, where the token says so.
  public var kid: String?
  /// `JWT`, `at+jwt`, or nothing.
  public var typ: String?
  /// Extensions that must be understood. There are none that are, so a token with any is refused (RFC 7515 §4.1.11).
  public var crit: [String]?

  /// A header to sign under.
  public init(algorithm: JWTAlgorithm, keyIdentifier: String?, type: String? = "JWT") {
    alg = algorithm.rawValue
    kid = keyIdentifier
    typ = type
  }
}
