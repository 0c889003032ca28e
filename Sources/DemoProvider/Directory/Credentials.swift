// What proves an application in place of a secret.

internal import Bytes
internal import Platform
package import Tokens

/// Another issuer's tokens that prove an application.
package struct FederatedCredential: Sendable {
  package var issuer: String
  /// The one subject, such as `system:serviceaccount:orders:legacy-app`.
  package var subject: String
  package var audience: String
  /// The issuer's public keys. A provider on the network would fetch them.
  package var keys: JWKSet

  /// The audience that Entra demands.
  package static let exchange = "api://AzureADTokenExchange"

  package init(issuer: String, subject: String, audience: String = exchange, keys: JWKSet) {
    (self.issuer, self.subject, self.audience, self.keys) = (issuer, subject, audience, keys)
  }

  /// The subject of a blueprint's token for one of its agents.
  static func subject(of agent: String, of blueprint: String, in tenant: String) -> String {
    "/eid1/c/pub/t/\(tenant)/a/\(blueprint)/\(agent)"
  }
}

/// A certificate that proves an application by the assertions that its key signs (RFC 7523).
struct RegisteredCertificate: Sendable {
  private let thumbprints: [JWTAlgorithm: (name: String, value: String)]
  private let key: RSAPublicKey

  /// The certificate of an RSA key.
  init(_ pair: CertificateAndKey) throws(CryptoError) {
    key = try RSAKey(pem: pair.key.span).publicKey
    do throws(SigningCertificateError) {
      let certificate = try SigningCertificate(pem: pair.certificate, key: pair.key, passphrase: nil)
      thumbprints = [
        .rs256: ("x5t", Base64URL.encode(certificate.sha1)), .ps256: ("x5t#S256", Base64URL.encode(certificate.sha256)),
      ]
    } catch {
      throw .certificate(reason: "\(error)")
    }
  }

  /// The verdict on an assertion, whose header must name the certificate as its algorithm demands.
  func verdict(_ assertion: SignedJWT, _ algorithm: JWTAlgorithm) -> SignatureVerdict {
    // msal pads a thumbprint.
    guard let (name, value) = thumbprints[algorithm],
      assertion.members(0)[name]?.text?.prefix(while: { $0 != "=" }) == value[...]
    else { return .unknownKey }
    return assertion.isSigned(algorithm) { () throws(CryptoError) in key } ? .valid : .invalid
  }
}

extension SignedJWT {
  /// All members of the header (part 0) or of the claims (part 1).
  func members(_ part: Int) -> [String: JSONValue] {
    let text = String(decoding: signingInput.split(separator: UInt8(ascii: "."))[part], as: UTF8.self)
    do throws(Base64URLError) {
      return JSONValue(json: try Base64URL.decode(text))?.members ?? [:]
    } catch {
      return [:]
    }
  }

  fileprivate func isSigned(_ algorithm: JWTAlgorithm, by key: () throws(CryptoError) -> RSAPublicKey) -> Bool {
    do throws(CryptoError) {
      return try key().verifies(signature.span, of: signingInput.span, algorithm == .ps256 ? .ps256 : .rs256)
    } catch {
      return false
    }
  }
}

extension JWKSet {
  /// The verdict on an RSA signature by one of these keys.
  func verdict(_ token: SignedJWT, _ algorithm: JWTAlgorithm) -> SignatureVerdict {
    let candidates = candidates(for: token.header)
    let isSigned = candidates.contains { key in
      token.isSigned(algorithm) { () throws(CryptoError) in
        try RSAPublicKey(modulus: key.modulus, exponent: key.exponent)
      }
    }
    return isSigned ? .valid : candidates.isEmpty ? .unknownKey : .invalid
  }
}
