// Owns unpredictable bytes: states, nonces, verifiers, identifiers of requests.

internal import COpenSSL

/// Bytes of OpenSSL's seeded generator, fit for secrets.
public enum RandomBytes {
  /// `count` fresh bytes.
  public static func make(_ count: Int) throws(CryptoError) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: max(count, 0))
    guard RAND_bytes_ex(nil, &bytes, bytes.count, 0) == 1 else {
      ERR_clear_error()
      throw .noRandomness
    }
    return bytes
  }
}
