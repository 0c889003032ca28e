// Owns the short forms for digests of bytes already at hand.

/// SHA-512 (FIPS 180-4).
public enum SHA512 {
  /// The 64-byte digest of `bytes`.
  public static func digest(of bytes: Span<UInt8>) throws(CryptoError) -> [UInt8] {
    var digest = try RunningDigest(.sha512)
    try digest.update(bytes)
    return try digest.finish()
  }

  /// The 64-byte digest of `bytes`.
  public static func digest(of bytes: [UInt8]) throws(CryptoError) -> [UInt8] {
    try digest(of: bytes.span)
  }
}
