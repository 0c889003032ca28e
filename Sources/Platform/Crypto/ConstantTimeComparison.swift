// Owns the comparison of secrets: its duration tells their length and nothing of their content.

internal import COpenSSL

/// Whether two byte strings are equal, in time that depends on their length alone.
///
/// Different lengths answer at once: hide a length by comparing digests.
public func constantTimeEqual(_ left: Span<UInt8>, _ right: Span<UInt8>) -> Bool {
  guard left.count == right.count else { return false }
  return left.withUnsafeBytes { left in
    right.withUnsafeBytes { right in
      guard let left = left.baseAddress, let start = right.baseAddress else { return true }
      return CRYPTO_memcmp(left, start, right.count) == 0
    }
  }
}
