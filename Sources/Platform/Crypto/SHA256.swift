// Owns the short forms for digests of bytes already at hand.

/// SHA-256 (FIPS 180-4).
public enum SHA256 {
  /// The 32-byte digest of `bytes`.
  public static func digest(of bytes: Span<UInt8>) throws(CryptoError) -> [UInt8] {
    var digest = try RunningDigest(.sha256)
    try digest.update(bytes)
    return try digest.finish()
  }

  /// The 32-byte digest of `bytes`.
  public static func digest(of bytes: [UInt8]) throws(CryptoError) -> [UInt8] {
    try digest(of: bytes.span)
  }
}
