package import Bytes
internal import FoundationEssentials
internal import HTTP

/// The signature algorithm of a client assertion (RFC 7518 §3.1).
package enum ClientAssertionAlgorithm: String, Sendable, Hashable, CaseIterable {
  /// RSASSA-PSS with SHA-256. Entra expects it together with `x5t#S256`.
  case ps256 = "PS256"
  /// RSASSA-PKCS1-v1_5 with SHA-256. AD FS expects it together with `x5t`.
  case rs256 = "RS256"
  /// ECDSA over P-256 with SHA-256.
  case es256 = "ES256"
  /// ECDSA over P-384 with SHA-384.
  case es384 = "ES384"
  /// ECDSA over P-521 with SHA-512.
  case es512 = "ES512"
}

package enum ClientAssertionAudience: String, Sendable, Hashable, CaseIterable {
  /// The token endpoint (OpenID Connect Core 1.0 §9): Entra's choice.
  case tokenEndpoint = "token_endpoint"
  /// The issuer (FAPI 2.0): an assertion for it is useless at another provider's endpoint.
  case issuer
}

/// The form of an application's assertions.
package struct ClientAssertionForm: Sendable, Hashable {
  package var algorithm: ClientAssertionAlgorithm
  /// The key's name at the provider (`kid`); nil: the certificate's thumbprint.
  package var keyID: String?
  /// True if the certificates are in the header (`x5c`): Entra's subject name and issuer registration.
  package var sendsChain: Bool
  package var audience: ClientAssertionAudience
  package var claims: AssertionClaims

  package init(
    _ algorithm: ClientAssertionAlgorithm, keyID: String? = nil, sendsChain: Bool = false,
    audience: ClientAssertionAudience = .tokenEndpoint, claims: AssertionClaims = .none
  ) {
    self.algorithm = algorithm
    self.keyID = keyID
    self.sendsChain = sendsChain
    self.audience = audience
    self.claims = claims
  }
}

package struct CertificateNames: Sendable, Hashable {
  package var sha1: [UInt8]
  package var sha256: [UInt8]
  /// DER, the key's own first.
  package var chain: [[UInt8]]

  package init(sha1: [UInt8], sha256: [UInt8], chain: [[UInt8]]) {
    self.sha1 = sha1
    self.sha256 = sha256
    self.chain = chain
  }
}

/// A JWT that proves an application (RFC 7523 §2.2, OpenID Connect Core 1.0 §9), before it is signed.
package struct ClientAssertion: Sendable {
  package let header: JSONValue
  package let claims: JSONValue

  /// Seconds that it is valid: Entra recommends five to ten minutes.
  static let lifetime: Int64 = 600

  /// An assertion for one request.
  /// - Parameter id: never used before (`jti`): providers accept each once.
  package init(
    _ form: ClientAssertionForm, of certificate: CertificateNames, clientID: String, to metadata: ProviderMetadata,
    now: UnixTime, id: String
  ) {
    var header: [String: JSONValue] = ["alg": .string(form.algorithm.rawValue), "typ": .string("JWT")]
    // A thumbprint belongs to an algorithm: Entra refuses every other pair.
    switch (form.keyID, form.algorithm) {
    case (let name?, _): header["kid"] = .string(name)
    case (nil, .rs256): header["x5t"] = .string(Base64URL.encode(certificate.sha1))
    case (nil, .ps256), (nil, .es256), (nil, .es384), (nil, .es512):
      header["x5t#S256"] = .string(Base64URL.encode(certificate.sha256))
    }
    if form.sendsChain { header["x5c"] = .array(certificate.chain.map { .string(Data($0).base64EncodedString()) }) }
    self.header = .object(header)
    let audience =
      switch form.audience {
      case .tokenEndpoint: metadata.tokenEndpoint.description
      case .issuer: metadata.issuer
      }
    let own: [String: JSONValue] = [
      "aud": .string(audience), "iss": .string(clientID), "sub": .string(clientID), "jti": .string(id),
      "nbf": .integer(now.seconds), "iat": .integer(now.seconds), "exp": .integer(now.seconds + Self.lifetime),
    ]
    claims = .object(form.claims.all.mapValues(JSONValue.string).merging(own) { $1 })
  }

  package var signingInput: [UInt8] { SignedJWT.signingInput(header, claims) }
}

extension Authority {
  /// The algorithm that a provider of this kind expects of a key that supports these; nil if it supports none.
  package func assertionAlgorithm(among possible: [ClientAssertionAlgorithm]) -> ClientAssertionAlgorithm? {
    let order: [ClientAssertionAlgorithm] =
      isOfEntra ? [.ps256, .rs256, .es256, .es384, .es512] : [.rs256, .es256, .es384, .es512, .ps256]
    return order.first { possible.contains($0) }
  }
}
