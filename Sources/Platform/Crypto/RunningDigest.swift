// SHA-256 (FIPS 180-4) of bytes that arrive in pieces, of bytes in one piece, and of short texts without an allocation
// for each: an event loop digests callers' tokens.

package import Bytes
internal import COpenSSL

/// A digest that is fed piece by piece, in memory of fixed size.
package struct RunningDigest: ~Copyable {
  private let context: OpaquePointer

  /// The digest of no bytes yet. Throws `unavailable` if OpenSSL's configuration withholds the algorithm.
  package init() throws(CryptoError) {
    guard let context = EVP_MD_CTX_new() else { throw .unavailable(reason: takeOpenSSLReason()) }
    guard EVP_DigestInit_ex2(context, EVP_sha256(), nil) == 1 else {
      EVP_MD_CTX_free(context)
      throw .unavailable(reason: takeOpenSSLReason())
    }
    self.context = context
  }

  deinit {
    EVP_MD_CTX_free(context)
  }

  /// Adds the next bytes.
  package mutating func update(_ bytes: Span<UInt8>) throws(CryptoError) {
    let status = bytes.withUnsafeBufferPointer { EVP_DigestUpdate(context, $0.baseAddress, $0.count) }
    guard status == 1 else { throw .unavailable(reason: takeOpenSSLReason()) }
  }

  /// The digest of all bytes. It ends this value.
  package consuming func finish() throws(CryptoError) -> [UInt8] {
    var digest = [UInt8](repeating: 0, count: Digest256.byteCount)
    guard EVP_DigestFinal_ex(context, &digest, nil) == 1 else { throw .unavailable(reason: takeOpenSSLReason()) }
    return digest
  }
}

package enum SHA256 {
  package static func digest(of bytes: Span<UInt8>) throws(CryptoError) -> [UInt8] {
    var digest = try RunningDigest()
    try digest.update(bytes)
    return try digest.finish()
  }

  package static func digest(of bytes: [UInt8]) throws(CryptoError) -> [UInt8] {
    try digest(of: bytes.span)
  }
}

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

/// Message authentication codes (RFC 2104).
package enum HMAC {
  /// The 32-byte HMAC-SHA-256 of `message`. Compare it with `constantTimeEqual`.
  package static func sha256(of message: Span<UInt8>, key: Span<UInt8>) throws(CryptoError) -> [UInt8] {
    var code = [UInt8](repeating: 0, count: 32)
    var count: UInt32 = 0
    let isDone = message.withUnsafeBufferPointer { message in
      key.withUnsafeBufferPointer { key in
        COpenSSL.HMAC(
          EVP_sha256(), key.baseAddress, Int32(key.count), message.baseAddress, message.count, &code, &count) != nil
      }
    }
    guard isDone, count == 32 else { throw .unavailable(reason: takeOpenSSLReason()) }
    return code
  }
}
