// Owns digests over bytes that arrive in pieces. `SHA256` and `SHA512` are the short forms for bytes already at hand.

internal import COpenSSL

/// Which digest.
public enum DigestAlgorithm: Sendable, Hashable, CaseIterable {
  /// SHA-256: 32 bytes (FIPS 180-4).
  case sha256
  /// SHA-512: 64 bytes (FIPS 180-4).
  case sha512

  /// Bytes in a digest.
  public var byteCount: Int { self == .sha256 ? 32 : 64 }

  var method: OpaquePointer? { self == .sha256 ? EVP_sha256() : EVP_sha512() }
}

/// A digest that is fed piece by piece, in memory of fixed size.
public struct RunningDigest: ~Copyable {
  private let context: OpaquePointer
  private let algorithm: DigestAlgorithm

  /// The digest of nothing yet. Throws `unavailable` where OpenSSL's configuration withholds the algorithm.
  public init(_ algorithm: DigestAlgorithm) throws(CryptoError) {
    guard let context = EVP_MD_CTX_new() else { throw .unavailable(reason: takeOpenSSLReason()) }
    guard EVP_DigestInit_ex2(context, algorithm.method, nil) == 1 else {
      EVP_MD_CTX_free(context)
      throw .unavailable(reason: takeOpenSSLReason())
    }
    self.context = context
    self.algorithm = algorithm
  }

  deinit {
    EVP_MD_CTX_free(context)
  }

  /// Adds the next bytes.
  public mutating func update(_ bytes: Span<UInt8>) throws(CryptoError) {
    let status = bytes.withUnsafeBufferPointer { EVP_DigestUpdate(context, $0.baseAddress, $0.count) }
    guard status == 1 else { throw .unavailable(reason: takeOpenSSLReason()) }
  }

  /// The digest of all bytes; the end of this value.
  public consuming func finish() throws(CryptoError) -> [UInt8] {
    var digest = [UInt8](repeating: 0, count: algorithm.byteCount)
    guard EVP_DigestFinal_ex(context, &digest, nil) == 1 else { throw .unavailable(reason: takeOpenSSLReason()) }
    return digest
  }
}
