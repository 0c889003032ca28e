// Owns which RSA signatures there are, and how OpenSSL is told.

internal import COpenSSL

/// A JOSE signature over RSA (RFC 7518 §3.3 and §3.5).
public enum RSASignatureAlgorithm: Sendable, Hashable, CaseIterable {
  /// RSASSA-PKCS1-v1_5 with SHA-256.
  case rs256
  /// RSASSA-PSS with SHA-256, MGF1 with SHA-256, and a salt as long as the digest.
  case ps256

  /// Sets a signing or verifying context up; 1 when done.
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
