// Failures of keys, digests and signatures, from OpenSSL's error queue. TLS has its own.

internal import COpenSSL

/// A failed operation on a key, a digest, a signature or a certificate.
public enum CryptoError: Error, Sendable, Hashable {
  /// OpenSSL refuses the algorithm, or has no memory for it.
  case unavailable(reason: String)
  /// The random generator is not seeded.
  case noRandomness
  /// The text has no readable PEM private key. Encrypted keys are among these.
  case unreadableKey(reason: String)
  /// The key is of another kind than the operation needs.
  case wrongKeyKind
  /// The RSA modulus is shorter than 2048 bits, which RFC 7518 §3.3 forbids.
  case keyTooSmall(bits: Int)
  /// The public numbers make no key.
  case invalidPublicKey(reason: String)
  /// The signature could not be made.
  case signing(reason: String)
  /// The certificate could not be made.
  case certificate(reason: String)
}

/// The newest reason in this thread's error queue, which is emptied. OpenSSL's reasons are fixed words and hold no
/// data.
package func takeOpenSSLReason() -> String {
  defer { ERR_clear_error() }
  let code = ERR_peek_last_error()
  guard code != 0 else { return "no reason given" }
  guard let reason = ERR_reason_error_string(code) else { return "error \(String(code, radix: 16))" }
  return String(cString: reason)
}

/// All codes in this thread's error queue, oldest first, and the newest one's reason. The queue is emptied.
func takeOpenSSLErrors() -> (codes: [UInt], reason: String) {
  var codes: [UInt] = []
  while case let code = ERR_get_error(), code != 0 { codes.append(code) }
  let reason = codes.last.flatMap { ERR_reason_error_string($0) }.map { String(cString: $0) }
  return (codes, reason ?? "no reason given")
}

/// The library behind TLS, digests and signatures.
package enum CryptoLibrary {
  /// Keeps the library usable until the process has ended. By itself it frees everything in `exit` while other threads
  /// still run, and one of them crashes (`OPENSSL_INIT_NO_ATEXIT`). Call it first in `main`: later it has no effect.
  package static func outlastExit() {
    // If that fails, the first use reports it.
    _ = OPENSSL_init_crypto(UInt64(OPENSSL_INIT_NO_ATEXIT), nil)
  }
}
