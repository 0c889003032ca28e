internal import COpenSSL

/// An RSA private key of at least 2048 bits.
package struct RSAKey: Sendable {
  /// The public half.
  package let publicKey: RSAPublicKey
  private let handle: KeyHandle

  /// Makes a key. `bits` below 2048 throws `keyTooSmall`. 2048 bits take about a tenth of a second.
  package static func generate(bits: Int = 2048) throws(CryptoError) -> RSAKey {
    guard bits >= 2048 else { throw .keyTooSmall(bits: bits) }
    return try RSAKey(
      handle: KeyHandle.generate("RSA") { EVP_PKEY_CTX_set_rsa_keygen_bits($0, Int32(clamping: bits)) })
  }

  /// The private key in a PEM text (PKCS #1 or PKCS #8, without a passphrase).
  package init(pem: Span<UInt8>) throws(CryptoError) {
    try self.init(handle: KeyHandle(pem: pem))
  }

  private init(handle: KeyHandle) throws(CryptoError) {
    guard EVP_PKEY_is_a(handle.pointer, "RSA") == 1 else { throw .wrongKeyKind }
    self.handle = handle
    self.publicKey = try RSAPublicKey(
      modulus: Self.number(OSSL_PKEY_PARAM_RSA_N, of: handle), exponent: Self.number(OSSL_PKEY_PARAM_RSA_E, of: handle))
  }

  /// The private key as PEM (PKCS #8, not encrypted): a secret.
  package func pem() throws(CryptoError) -> [UInt8] {
    try handle.pem()
  }

  /// A signature over `message`, as long as the modulus.
  package func signature(
    of message: Span<UInt8>, _ algorithm: RSASignatureAlgorithm
  ) throws(CryptoError) -> [UInt8] {
    try handle.signature(of: message) { algorithm.configure($0) }
  }

  private static func number(_ name: String, of handle: KeyHandle) throws(CryptoError) -> [UInt8] {
    var number: OpaquePointer?
    guard EVP_PKEY_get_bn_param(handle.pointer, name, &number) == 1, let number else {
      throw .unavailable(reason: takeOpenSSLReason())
    }
    defer { BN_clear_free(number) }
    var bytes = [UInt8](repeating: 0, count: (Int(BN_num_bits(number)) + 7) / 8)
    BN_bn2bin(number, &bytes)
    return bytes
  }
}
