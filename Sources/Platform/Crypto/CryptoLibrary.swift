// Owns how long OpenSSL lives.

internal import COpenSSL

/// The library behind TLS, digests and signatures.
public enum CryptoLibrary {
  /// Keeps it usable until the process is gone. By itself it frees everything in `exit`, under the threads that still
  /// run then, and one of them crashes (`OPENSSL_INIT_NO_ATEXIT`). Call it first in `main`: later it has no effect.
  public static func outlastExit() {
    // Where that fails, the first use reports it.
    _ = OPENSSL_init_crypto(UInt64(OPENSSL_INIT_NO_ATEXIT), nil)
  }
}
