// Authenticated encryption for texts that are kept elsewhere: without the key they cannot be read, and no change to
// them goes unnoticed.

internal import Bytes
internal import COpenSSL

/// XAES-256-GCM (https://c2sp.org/XAES-256-GCM): AES-256-GCM (NIST SP 800-38D) under a key of its own for each text,
/// which CMAC derives from the key and the first half of the nonce (NIST SP 800-108r1).
///
/// A nonce has 192 bits. With AES-256-GCM alone, it has 96, and a key is spent after 2³² random ones: proxies that
/// renew tokens for a million people get there within a year.
package enum AuthenticatedCipher {
  package static let keyCount = 32
  package static let nonceCount = 24
  package static let tagCount = 16

  /// The encrypted text, then its tag.
  /// - Parameters:
  ///   - nonce: random bytes, for this text alone.
  ///   - bound: bytes that are not encrypted, and without which the text cannot be read.
  package static func seal(
    _ text: [UInt8], key: Span<UInt8>, nonce: [UInt8], bound: [UInt8]
  ) throws(CryptoError) -> [UInt8] {
    let derived = try derivedKey(key, nonce)
    var output = [UInt8](repeating: 0, count: text.count + tagCount)
    var count: Int32 = 0
    let isSealed = try withContext { context in
      derived.bytes.withUnsafeBufferPointer { key in
        output.withUnsafeMutableBufferPointer { output in
          let end = output.baseAddress.map { $0 + text.count }
          return EVP_EncryptInit_ex2(context, EVP_aes_256_gcm(), key.baseAddress, Array(nonce.suffix(12)), nil) == 1
            && EVP_EncryptUpdate(context, nil, &count, bound, Int32(bound.count)) == 1
            && EVP_EncryptUpdate(context, output.baseAddress, &count, text, Int32(text.count)) == 1
            && EVP_EncryptFinal_ex(context, end, &count) == 1
            && EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, Int32(tagCount), end) == 1
        }
      }
    }
    guard isSealed else { throw .unavailable(reason: takeOpenSSLReason()) }
    return output
  }

  /// The text; nil if it was encrypted with another key or nonce, was bound to other bytes, or has changed since.
  package static func open(
    _ sealed: ArraySlice<UInt8>, key: Span<UInt8>, nonce: [UInt8], bound: [UInt8]
  ) throws(CryptoError) -> [UInt8]? {
    guard sealed.count >= tagCount else { return nil }
    let derived = try derivedKey(key, nonce)
    let text = Array(sealed.dropLast(tagCount))
    var tag = Array(sealed.suffix(tagCount))
    // One byte more: an array without bytes has no address.
    var output = [UInt8](repeating: 0, count: text.count + 1)
    var count: Int32 = 0
    let (isRead, isGenuine) = try withContext { context in
      derived.bytes.withUnsafeBufferPointer { key in
        output.withUnsafeMutableBufferPointer { output in
          let isRead =
            EVP_DecryptInit_ex2(context, EVP_aes_256_gcm(), key.baseAddress, Array(nonce.suffix(12)), nil) == 1
            && EVP_DecryptUpdate(context, nil, &count, bound, Int32(bound.count)) == 1
            && EVP_DecryptUpdate(context, output.baseAddress, &count, text, Int32(text.count)) == 1
            && EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, Int32(tagCount), &tag) == 1
          let end = output.baseAddress.map { $0 + text.count }
          return (isRead, isRead && EVP_DecryptFinal_ex(context, end, &count) == 1)
        }
      }
    }
    guard isRead else { throw .unavailable(reason: takeOpenSSLReason()) }
    ERR_clear_error()
    output.removeLast()
    return isGenuine ? output : nil
  }

  /// The key of one text: two blocks of CMAC in counter mode with the label "X" and the nonce's first half. Each is one
  /// block, so that CMAC is an exclusive-or with its first subkey and one encryption.
  private static func derivedKey(_ key: Span<UInt8>, _ nonce: [UInt8]) throws(CryptoError) -> Secret {
    precondition(key.count == keyCount && nonce.count == nonceCount)
    var subkey = [UInt8](repeating: 0, count: 16)
    try encryptBlocks(&subkey, key)
    let carry = subkey[0] >> 7
    for index in subkey.indices { subkey[index] = subkey[index] << 1 | (index < 15 ? subkey[index + 1] >> 7 : 0) }
    subkey[15] ^= carry * 0x87
    var blocks: [UInt8] = []
    for counter in UInt8(1)...2 {
      let block = [0, counter, UInt8(ascii: "X"), 0] + nonce.prefix(12)
      blocks += zip(block, subkey).map { $0 ^ $1 }
    }
    try encryptBlocks(&blocks, key)
    defer {
      OPENSSL_cleanse(&subkey, subkey.count)
      OPENSSL_cleanse(&blocks, blocks.count)
    }
    return Secret(blocks)
  }

  /// Encrypts each block of 16 bytes by itself.
  private static func encryptBlocks(_ blocks: inout [UInt8], _ key: Span<UInt8>) throws(CryptoError) {
    var count: Int32 = 0
    let isDone = try withContext { context in
      key.withUnsafeBufferPointer { key in
        blocks.withUnsafeMutableBufferPointer { blocks in
          EVP_EncryptInit_ex2(context, EVP_aes_256_ecb(), key.baseAddress, nil, nil) == 1
            && EVP_CIPHER_CTX_set_padding(context, 0) == 1
            && EVP_EncryptUpdate(context, blocks.baseAddress, &count, blocks.baseAddress, Int32(blocks.count)) == 1
        }
      }
    }
    guard isDone else { throw .unavailable(reason: takeOpenSSLReason()) }
  }

  private static func withContext<Result>(_ body: (OpaquePointer) -> Result) throws(CryptoError) -> Result {
    guard let context = EVP_CIPHER_CTX_new() else { throw .unavailable(reason: takeOpenSSLReason()) }
    defer { EVP_CIPHER_CTX_free(context) }
    return body(context)
  }
}
