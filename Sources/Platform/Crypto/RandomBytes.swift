internal import COpenSSL

/// Bytes of OpenSSL's seeded generator, fit for secrets.
package enum RandomBytes {
  /// `count` random bytes.
  package static func make(_ count: Int) throws(CryptoError) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: max(count, 0))
    guard RAND_bytes_ex(nil, &bytes, bytes.count, 0) == 1 else {
      ERR_clear_error()
      throw .noRandomness
    }
    return bytes
  }
}

/// Compares two byte strings in time that depends on their length alone.
/// Different lengths return false at once: to hide a length, compare digests.
package func constantTimeEqual(_ left: Span<UInt8>, _ right: Span<UInt8>) -> Bool {
  guard left.count == right.count else { return false }
  return left.withUnsafeBytes { left in
    right.withUnsafeBytes { right in
      guard let left = left.baseAddress, let start = right.baseAddress else { return true }
      return CRYPTO_memcmp(left, start, right.count) == 0
    }
  }
}
