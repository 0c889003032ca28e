internal import COpenSSL

/// An error of OpenSSL's, and its verdict if the peer's certificate was the reason.
public struct TLSFailure: Error, Sendable, Hashable, CustomStringConvertible {
  /// OpenSSL's packed error code; 0 if it left none.
  public var code: UInt
  /// The certificate verdict (`X509_V_…`); 0 if the certificate is not to blame.
  public var verdict: Int

  /// Takes the first error from this thread's queue and clears the rest.
  init(verdict: Int = 0) {
    code = ERR_get_error()
    self.verdict = verdict
    ERR_clear_error()
  }

  /// The causes that an operator can remove.
  public enum Cause: Sendable, Hashable {
    /// The certificate is past its end, or before its beginning.
    case expired, notYetValid
    /// The certificate is for another name.
    case wrongName
    /// The certificate's issuer is not trusted.
    case unknownAuthority
    /// The bytes that arrived are no TLS.
    case notTLS
    /// The peer wants a certificate, or another one.
    case clientCertificate
    /// No version or cipher suite in common.
    case nothingInCommon
    /// None of these.
    case other
  }

  /// The cause of this failure.
  public var cause: Cause {
    switch Int32(truncatingIfNeeded: verdict) {
    case X509_V_OK: break
    case X509_V_ERR_CERT_HAS_EXPIRED: return .expired
    case X509_V_ERR_CERT_NOT_YET_VALID: return .notYetValid
    case X509_V_ERR_HOSTNAME_MISMATCH, X509_V_ERR_IP_ADDRESS_MISMATCH: return .wrongName
    case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT, X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN,
      X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT, X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY,
      X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE, X509_V_ERR_CERT_UNTRUSTED:
      return .unknownAuthority
    default: return .other
    }
    switch Int32(truncatingIfNeeded: code & 0x7F_FFFF) {
    case SSL_R_WRONG_VERSION_NUMBER, SSL_R_HTTP_REQUEST, SSL_R_PACKET_LENGTH_TOO_LONG, SSL_R_RECORD_LENGTH_MISMATCH,
      SSL_R_BAD_RECORD_TYPE:
      return .notTLS
    case SSL_R_TLSV13_ALERT_CERTIFICATE_REQUIRED, SSL_R_SSLV3_ALERT_BAD_CERTIFICATE, SSL_R_TLSV1_ALERT_UNKNOWN_CA,
      SSL_R_SSLV3_ALERT_CERTIFICATE_UNKNOWN, SSL_R_SSLV3_ALERT_CERTIFICATE_EXPIRED:
      return .clientCertificate
    case SSL_R_TLSV1_ALERT_PROTOCOL_VERSION, SSL_R_UNSUPPORTED_PROTOCOL, SSL_R_SSLV3_ALERT_HANDSHAKE_FAILURE:
      return .nothingInCommon
    default: return .other
    }
  }

  /// True if the peer supports none of the protocols that were offered (ALPN).
  package var refusesProtocols: Bool {
    Int32(truncatingIfNeeded: code & 0x7F_FFFF) == SSL_R_TLSV1_ALERT_NO_APPLICATION_PROTOCOL
  }

  /// Such as `certificate verify failed: self-signed certificate`.
  public var description: String {
    let text = ERR_reason_error_string(code).map { String(cString: $0) } ?? "no reason given"
    guard verdict != 0 else { return text }
    return "\(text): \(String(cString: X509_verify_cert_error_string(verdict)))"
  }
}
