// SHA-256 of one short text after the other without memory for each: what an event loop takes of callers' tokens.

package import Bytes
internal import COpenSSL

/// Makes SHA-256 digests in memory that it keeps. Confined to its owner.
package final class TokenDigester {
  private let context: OpaquePointer
  private let algorithm: OpaquePointer
  private let output = UnsafeMutablePointer<UInt8>.allocate(capacity: Digest256.byteCount)

  /// Throws `unavailable` where OpenSSL's configuration withholds the algorithm.
  package init() throws(CryptoError) {
    // Fetched once: `EVP_sha256` is looked up again with each digest.
    guard let algorithm = EVP_MD_fetch(nil, "SHA256", nil) else { throw .unavailable(reason: takeOpenSSLReason()) }
    guard let context = EVP_MD_CTX_new() else {
      EVP_MD_free(algorithm)
      throw .unavailable(reason: takeOpenSSLReason())
    }
    self.algorithm = algorithm
    self.context = context
    output.initialize(repeating: 0, count: Digest256.byteCount)
  }

  deinit {
    EVP_MD_CTX_free(context)
    EVP_MD_free(algorithm)
    output.deallocate()
  }

  /// The digest of some bytes.
  package func digest(of bytes: Span<UInt8>) throws(CryptoError) -> Digest256 {
    guard EVP_DigestInit_ex2(context, algorithm, nil) == 1 else { throw .unavailable(reason: takeOpenSSLReason()) }
    let status = bytes.withUnsafeBufferPointer { EVP_DigestUpdate(context, $0.baseAddress, $0.count) }
    guard status == 1, EVP_DigestFinal_ex(context, output, nil) == 1 else {
      throw .unavailable(reason: takeOpenSSLReason())
    }
    return Digest256(Span(_unsafeElements: UnsafeBufferPointer(start: output, count: Digest256.byteCount)))
  }
}
