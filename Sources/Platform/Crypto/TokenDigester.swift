// SHA-256 of short texts without an allocation for each: an event loop digests callers' tokens.

package import Bytes
internal import COpenSSL

/// Makes SHA-256 digests in memory that it keeps. Confined to its owner.
package final class TokenDigester {
  private let output = UnsafeMutablePointer<UInt8>.allocate(capacity: Digest256.byteCount)

  package init() { output.initialize(repeating: 0, count: Digest256.byteCount) }

  deinit { output.deallocate() }

  package func digest(of bytes: Span<UInt8>) throws(CryptoError) -> Digest256 {
    let status = bytes.withUnsafeBufferPointer { copenssl_sha256($0.baseAddress, $0.count, output) }
    guard status == 1 else { throw .unavailable(reason: takeOpenSSLReason()) }
    return Digest256(Span(_unsafeElements: UnsafeBufferPointer(start: output, count: Digest256.byteCount)))
  }
}
