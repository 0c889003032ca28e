// Owns the provider's one signing key: its public form and the tokens it signs.

internal import Bytes
internal import Platform
internal import Tokens

/// Signs tokens with RS256.
struct TokenSigner: Sendable {
  let publicKey: JWK
  private let key: RSAKey

  init(key: RSAKey) throws(CryptoError) {
    self.key = key
    let numbers = key.publicKey
    // Named by its content, so that another key never has the same name.
    let identifier = try Base64URL.encode(SHA256.digest(of: numbers.modulus))
    publicKey = JWK(
      identifier: identifier, algorithm: .rs256, modulus: numbers.modulus, exponent: numbers.exponent)
  }

  func token(_ claims: some Encodable) throws(CryptoError) -> Secret {
    let header = JWTHeader(algorithm: .rs256, keyIdentifier: publicKey.identifier)
    let input = SignedJWT.signingInput(header, claims)
    return try SignedJWT.compact(signingInput: input, signature: key.signature(of: input.span, .rs256))
  }
}
