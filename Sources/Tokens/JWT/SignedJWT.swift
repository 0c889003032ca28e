package import Bytes

/// A JWT in the JWS compact serialisation (RFC 7515 §3.1), read but not yet verified.
package struct SignedJWT: Sendable {
  package let header: JWTHeader
  /// The claims: unproven until validated.
  package let claims: JWTClaims
  /// The bytes that were signed: the first two parts as written, with their dot.
  package let signingInput: [UInt8]
  package let signature: [UInt8]

  package init(_ text: some StringProtocol) throws(JWTRefusal) {
    guard text.utf8.count <= 65_536 else { throw .tooLong }
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 3 else { throw .parts }
    header = try JWTHeader(JWTMembers(json: Self.bytes(parts[0], .header), of: .header))
    claims = try JWTClaims(JWTMembers(json: Self.bytes(parts[1], .claims), of: .claims))
    signature = try Self.bytes(parts[2], .signature)
    signingInput = Array(parts[0].utf8) + [UInt8(ascii: ".")] + Array(parts[1].utf8)
  }

  /// The bytes that a signature for a new token covers (RFC 7515 §5.1).
  package static func signingInput(_ header: JSONValue, _ claims: JSONValue) -> [UInt8] {
    let parts = [header, claims].map { Base64URL.encode(Array($0.canonicalText().utf8)) }
    return Array(parts.joined(separator: ".").utf8)
  }

  /// The compact serialisation of a signing input and its signature: a token, so a secret.
  package static func compact(signingInput: [UInt8], signature: [UInt8]) -> Secret {
    Secret(signingInput + [UInt8(ascii: ".")] + Array(Base64URL.encode(signature).utf8))
  }

  private static func bytes(_ text: some StringProtocol, _ part: JWTRefusal.Part) throws(JWTRefusal) -> [UInt8] {
    try mapping({ JWTRefusal.base64url(part, $0) }, Base64URL.decode(text))
  }
}

extension SignedJWT {
  /// The claims of a token, unproven; nil for a text that is no JWT.
  package static func claims(of token: String) -> JWTClaims? {
    do throws(JWTRefusal) { return try SignedJWT(token).claims } catch { return nil }
  }
}

extension [String: JSONValue] {
  /// The claims of a token, unproven and of any type; none of a text that is no JWT.
  init(claimsOf token: String) {
    let parts = token.split(separator: ".", omittingEmptySubsequences: false)
    self = parts.count == 3 ? Self(base64URL: parts[1]) : [:]
  }

  /// The members of an object in base64url, padded or not; none of another text.
  package init(base64URL text: some StringProtocol) {
    do throws(Base64URLError) {
      self = JSONValue(json: try Base64URL.decode(text.prefix { $0 != "=" }))?.members ?? [:]
    } catch {
      self = [:]
    }
  }
}

/// The protected header of a JWT (RFC 7515 §4).
package struct JWTHeader: Sendable, Hashable {
  /// The algorithm as written, also an unknown one.
  package var alg: String
  /// The key that signed, if the token names it.
  package var kid: String?
  /// `JWT`, `at+jwt`, or nothing.
  package var typ: String?
  /// Extensions that must be understood. None is supported, so a token with any is refused (RFC 7515 §4.1.11).
  package var crit: [String]?
}

extension JWTHeader {
  init(_ members: JWTMembers) throws(JWTRefusal) {
    guard let algorithm = try members.text("alg") else { throw .json(.header) }
    alg = algorithm
    kid = try members.text("kid")
    typ = try members.text("typ")
    crit = try members.list("crit")
  }
}

/// An asymmetric signature algorithm of RFC 7518 §3.1.
package enum JWTAlgorithm: String, Sendable, Hashable, CaseIterable {
  /// RSASSA-PKCS1-v1_5 with SHA-256: Entra's and most providers' choice.
  case rs256 = "RS256"
  /// RSASSA-PSS with SHA-256.
  case ps256 = "PS256"
}
