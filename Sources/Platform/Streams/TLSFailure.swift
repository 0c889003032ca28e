// Owns what went wrong inside TLS, in OpenSSL's words.

internal import COpenSSL

/// An error of OpenSSL's, and the verdict on the peer's certificate where that was the reason.
public struct TLSFailure: Error, Sendable, Hashable, CustomStringConvertible {
  /// OpenSSL's packed error code; 0 where it left none.
  public var code: UInt
  /// The certificate verdict (`X509_V_…`); 0 where the certificate is not to blame.
  public var verdict: Int

  /// Takes the first error off this thread's queue and clears the rest.
  init(verdict: Int = 0) {
    code = ERR_get_error()
    self.verdict = verdict
    ERR_clear_error()
  }

  /// Whether the peer's certificate did not verify.
  public var isCertificateRejected: Bool { verdict != 0 }

  /// Such as `certificate verify failed: self-signed certificate`.
  public var description: String {
    let text = ERR_reason_error_string(code).map { String(cString: $0) } ?? "no reason given"
    guard verdict != 0 else { return text }
    return "\(text): \(String(cString: X509_verify_cert_error_string(verdict)))"
  }
}
