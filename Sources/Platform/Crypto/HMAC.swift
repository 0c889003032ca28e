internal import COpenSSL

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
