// Owns the provider's one signing key: its public form and the tokens it signs.

internal import Bytes
internal import FoundationEssentials
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
    let input = Array("\(Self.encoded(header)).\(Self.encoded(claims))".utf8)
    return try SignedJWT.compact(signingInput: input, signature: key.signature(of: input.span, .rs256))
  }

  private static func encoded(_ value: some Encodable) -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    do {
      return try Base64URL.encode(Array(encoder.encode(value)))
    } catch {
      preconditionFailure("strings and whole numbers are always encodable")
    }
  }
}
