// RSA keys: private ones from PEM, public ones from a JWK (n and e), and the check of a signature. The caller chooses
// key and algorithm before it believes any byte of the token.

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

/// The public half of an RSA key.
package struct RSAPublicKey: Sendable {
  /// The modulus n, big-endian, without leading zeros.
  package let modulus: [UInt8]
  /// The exponent e, big-endian, without leading zeros.
  package let exponent: [UInt8]
  private let handle: KeyHandle

  /// A key from the numbers of a JWK (RFC 7518 §6.3.1). At least 2048 bits; the exponent odd and above 1.
  package init(modulus: [UInt8], exponent: [UInt8]) throws(CryptoError) {
    let modulus = Array(modulus.drop { $0 == 0 })
    let exponent = Array(exponent.drop { $0 == 0 })
    let bits = modulus.count * 8 - (modulus.first?.leadingZeroBitCount ?? 0)
    guard bits >= 2048 else { throw .keyTooSmall(bits: bits) }
    guard bits <= 16_384, exponent.count <= 8, let last = exponent.last, last & 1 == 1, exponent != [1] else {
      throw .invalidPublicKey(reason: "modulus or exponent out of range")
    }
    self.modulus = modulus
    self.exponent = exponent
    self.handle = try Self.handle(modulus: modulus, exponent: exponent)
  }

  /// True if `signature` is this key's over `message`. A signature of the wrong shape is false.
  package func verifies(
    _ signature: Span<UInt8>, of message: Span<UInt8>, _ algorithm: RSASignatureAlgorithm
  ) throws(CryptoError) -> Bool {
    guard let context = EVP_MD_CTX_new() else { throw .unavailable(reason: takeOpenSSLReason()) }
    defer { EVP_MD_CTX_free(context) }
    var keyContext: OpaquePointer?
    guard EVP_DigestVerifyInit(context, &keyContext, EVP_sha256(), nil, handle.pointer) == 1,
      algorithm.configure(keyContext) == 1
    else { throw .unavailable(reason: takeOpenSSLReason()) }
    let verdict = signature.withUnsafeBufferPointer { signature in
      message.withUnsafeBufferPointer { message in
        EVP_DigestVerify(context, signature.baseAddress, signature.count, message.baseAddress, message.count)
      }
    }
    ERR_clear_error()
    return verdict == 1
  }

  private static func handle(modulus: [UInt8], exponent: [UInt8]) throws(CryptoError) -> KeyHandle {
    let n = BN_bin2bn(modulus, Int32(modulus.count), nil)
    let e = BN_bin2bn(exponent, Int32(exponent.count), nil)
    defer {
      BN_free(e)
      BN_free(n)
    }
    guard let n, let e, let parameters = copenssl_rsa_public_numbers(n, e) else {
      throw .unavailable(reason: takeOpenSSLReason())
    }
    defer { OSSL_PARAM_free(parameters) }
    guard let context = EVP_PKEY_CTX_new_from_name(nil, "RSA", nil) else {
      throw .unavailable(reason: takeOpenSSLReason())
    }
    defer { EVP_PKEY_CTX_free(context) }
    var key: OpaquePointer?
    guard EVP_PKEY_fromdata_init(context) == 1,
      EVP_PKEY_fromdata(context, &key, copenssl_public_key, parameters) == 1, let key
    else { throw .invalidPublicKey(reason: takeOpenSSLReason()) }
    return KeyHandle(owning: key)
  }
}

/// A JOSE signature over RSA (RFC 7518 §3.3 and §3.5).
package enum RSASignatureAlgorithm: Sendable, Hashable, CaseIterable {
  /// RSASSA-PKCS1-v1_5 with SHA-256.
  case rs256
  /// RSASSA-PSS with SHA-256, MGF1 with SHA-256, and a salt as long as the digest.
  case ps256

  /// Prepares a signing or verifying context; 1: success.
  func configure(_ context: OpaquePointer?) -> Int32 {
    switch self {
    case .rs256:
      return EVP_PKEY_CTX_set_rsa_padding(context, RSA_PKCS1_PADDING)
    case .ps256:
      guard EVP_PKEY_CTX_set_rsa_padding(context, RSA_PKCS1_PSS_PADDING) == 1,
        EVP_PKEY_CTX_set_rsa_mgf1_md(context, EVP_sha256()) == 1
      else { return 0 }
      return EVP_PKEY_CTX_set_rsa_pss_saltlen(context, RSA_PSS_SALTLEN_DIGEST)
    }
  }
}
