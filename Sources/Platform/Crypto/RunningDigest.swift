// Digests over bytes that arrive in pieces. `SHA256` and `SHA512` are the short forms for bytes in one piece.

internal import COpenSSL

package enum DigestAlgorithm: Sendable, Hashable, CaseIterable {
  /// SHA-256: 32 bytes (FIPS 180-4).
  case sha256
  /// SHA-512: 64 bytes (FIPS 180-4).
  case sha512

  /// Bytes in a digest.
  package var byteCount: Int { self == .sha256 ? 32 : 64 }

  var method: OpaquePointer? { self == .sha256 ? EVP_sha256() : EVP_sha512() }
}

/// A digest that is fed piece by piece, in memory of fixed size.
package struct RunningDigest: ~Copyable {
  private let context: OpaquePointer
  private let algorithm: DigestAlgorithm

  /// The digest of no bytes yet. Throws `unavailable` if OpenSSL's configuration withholds the algorithm.
  package init(_ algorithm: DigestAlgorithm) throws(CryptoError) {
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
  package mutating func update(_ bytes: Span<UInt8>) throws(CryptoError) {
    let status = bytes.withUnsafeBufferPointer { EVP_DigestUpdate(context, $0.baseAddress, $0.count) }
    guard status == 1 else { throw .unavailable(reason: takeOpenSSLReason()) }
  }

  /// The digest of all bytes. It ends this value.
  package consuming func finish() throws(CryptoError) -> [UInt8] {
    var digest = [UInt8](repeating: 0, count: algorithm.byteCount)
    guard EVP_DigestFinal_ex(context, &digest, nil) == 1 else { throw .unavailable(reason: takeOpenSSLReason()) }
    return digest
  }
}

/// SHA-256 (FIPS 180-4).
package enum SHA256 {
  /// The 32-byte digest of `bytes`.
  package static func digest(of bytes: Span<UInt8>) throws(CryptoError) -> [UInt8] {
    var digest = try RunningDigest(.sha256)
    try digest.update(bytes)
    return try digest.finish()
  }

  /// The 32-byte digest of `bytes`.
  package static func digest(of bytes: [UInt8]) throws(CryptoError) -> [UInt8] {
    try digest(of: bytes.span)
  }
}

/// SHA-512 (FIPS 180-4).
package enum SHA512 {
  /// The 64-byte digest of `bytes`.
  package static func digest(of bytes: Span<UInt8>) throws(CryptoError) -> [UInt8] {
    var digest = try RunningDigest(.sha512)
    try digest.update(bytes)
    return try digest.finish()
  }

  /// The 64-byte digest of `bytes`.
  package static func digest(of bytes: [UInt8]) throws(CryptoError) -> [UInt8] {
    try digest(of: bytes.span)
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
