// Owns one public key as identity providers publish it (RFC 7517). RSA only: keys of other types are ignored.

import Bytes

/// Why a JWK is of no use for verifying.
package enum JWKError: Error, Sendable, Hashable {
  /// `kty` is not `RSA`.
  case kind(String)
  /// `n` or `e` is missing or no base64url.
  case numbers
}

/// A public RSA key that verifies signatures.
package struct JWK: Sendable, Hashable {
  /// `kid`: the name by which token headers mean it.
  package var identifier: String?
  /// `alg`: the one algorithm it is for, as written; nil: any that fits its kind.
  package var algorithm: String?
  /// `use`: `sig`, `enc`, or not said.
  package var use: String?
  /// `n`: the modulus, big-endian.
  package var modulus: [UInt8]
  /// `e`: the exponent, big-endian.
  package var exponent: [UInt8]

  /// A key that verifies signatures of `algorithm`.
  package init(identifier: String?, algorithm: JWTAlgorithm, modulus: [UInt8], exponent: [UInt8]) {
    self.identifier = identifier
    self.algorithm = algorithm.rawValue
    self.use = "sig"
    self.modulus = modulus
    self.exponent = exponent
  }

  /// Whether a token with this header may have been signed by the key.
  package func fits(_ header: JWTHeader) -> Bool {
    if let kid = header.kid, identifier != kid { return false }
    if let algorithm, algorithm != header.alg { return false }
    return use == nil || use == "sig"
  }
}

extension JWK: Codable {
  private enum Name: String, CodingKey {
    case kty, use, kid, alg, n, e
  }

  /// Reads a key; throws `JWKError` for one that is of no use here.
  package init(from decoder: any Decoder) throws {
    let members = try decoder.container(keyedBy: Name.self)
    let kind = try members.decode(String.self, forKey: .kty)
    guard kind == "RSA" else { throw JWKError.kind(kind) }
    identifier = try members.decodeIfPresent(String.self, forKey: .kid)
    algorithm = try members.decodeIfPresent(String.self, forKey: .alg)
    use = try members.decodeIfPresent(String.self, forKey: .use)
    do {
      modulus = try Base64URL.decode(members.decode(String.self, forKey: .n))
      exponent = try Base64URL.decode(members.decode(String.self, forKey: .e))
    } catch {
      throw JWKError.numbers
    }
  }

  /// Writes the public members.
  package func encode(to encoder: any Encoder) throws {
    var members = encoder.container(keyedBy: Name.self)
    try members.encode("RSA", forKey: .kty)
    try members.encodeIfPresent(use, forKey: .use)
    try members.encodeIfPresent(identifier, forKey: .kid)
    try members.encodeIfPresent(algorithm, forKey: .alg)
    try members.encode(Base64URL.encode(modulus), forKey: .n)
    try members.encode(Base64URL.encode(exponent), forKey: .e)
  }
}
