internal import Bytes
internal import Platform
package import Tokens

/// Tokens that prove an application: of another issuer, or its own, which its certificate's key signs (RFC 7523).
package struct FederatedCredential: Sendable {
  let issuer: String
  /// The one subject, such as `system:serviceaccount:orders:legacy-app`.
  let subject: String
  /// Nil: the provider's token endpoint.
  let audience: String?
  /// The issuer's public keys. A provider on the network would fetch them.
  let keys: JWKSet
  /// The header that names the certificate for each algorithm.
  private var thumbprints: [JWTAlgorithm: (name: String, value: String)] = [:]

  var isCertificate: Bool { audience == nil }

  package static let exchange = Authority.usualExchangeAudience

  package init(issuer: String, subject: String, audience: String = exchange, keys: JWKSet) {
    (self.issuer, self.subject, self.audience, self.keys) = (issuer, subject, audience, keys)
  }

  /// The certificate of an application's RSA key.
  init(certificate pair: CertificateAndKey, of client: String) throws(CryptoError) {
    (issuer, subject, audience) = (client, client, nil)
    let numbers = try RSAKey(pem: pair.key.span).publicKey
    var key = JWK(identifier: nil, algorithm: .rs256, modulus: numbers.modulus, exponent: numbers.exponent)
    key.algorithm = nil
    keys = JWKSet(keys: [key])
    let certificate = try mapping(
      { (error: SigningCertificateError) in CryptoError.certificate(reason: "\(error)") },
      SigningCertificate(pem: pair.certificate, key: pair.key, passphrase: nil))
    thumbprints = [
      .rs256: ("x5t", Base64URL.encode(certificate.sha1)), .ps256: ("x5t#S256", Base64URL.encode(certificate.sha256)),
    ]
  }

  /// The subject of a blueprint's token for one of its agents.
  static func subject(of agent: String, of blueprint: String, in tenant: String) -> String {
    "/eid1/c/pub/t/\(tenant)/a/\(blueprint)/\(agent)"
  }

  func verdict(_ assertion: SignedJWT, _ algorithm: JWTAlgorithm) -> SignatureVerdict {
    // msal pads a thumbprint.
    if let (name, value) = thumbprints[algorithm],
      assertion.members(0)[name]?.text?.prefix(while: { $0 != "=" }) != value[...]
    {
      return .unknownKey
    }
    return keys.verdict(assertion, algorithm)
  }
}

extension JWKSet {
  /// The verdict on an RSA signature by one of these keys.
  func verdict(_ token: SignedJWT, _ algorithm: JWTAlgorithm) -> SignatureVerdict {
    let candidates = candidates(for: token.header)
    for key in candidates {
      do throws(CryptoError) {
        let key = try RSAPublicKey(modulus: key.modulus, exponent: key.exponent)
        let scheme: RSASignatureAlgorithm = algorithm == .ps256 ? .ps256 : .rs256
        if try key.verifies(token.signature.span, of: token.signingInput.span, scheme) { return .valid }
      } catch {
        continue
      }
    }
    return candidates.isEmpty ? .unknownKey : .invalid
  }
}

extension SignedJWT {
  /// All members of the header (part 0) or of the claims (part 1).
  func members(_ part: Int) -> [String: JSONValue] {
    [String: JSONValue](
      base64URL: String(decoding: signingInput.split(separator: UInt8(ascii: "."))[part], as: UTF8.self))
  }
}
