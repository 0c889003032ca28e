internal import COpenSSL

/// A certificate's subject, digest and dates. Nothing is verified.
package struct CertificateFacts: Sendable, Hashable {
  /// The distinguished name in OpenSSL's one-line form, such as `/CN=proxy.example`.
  package let subject: String
  /// SHA-1 of the DER: its thumbprint, 20 bytes.
  package let sha1: [UInt8]
  /// The first second of validity, since 1970.
  package let notBefore: Int64
  /// The last second of validity.
  package let notAfter: Int64

  package init(subject: String, sha1: [UInt8], notBefore: Int64, notAfter: Int64) {
    (self.subject, self.sha1, self.notBefore, self.notAfter) = (subject, sha1, notBefore, notAfter)
  }

  /// The certificates of a PEM text, in its order; at most `limit`.
  package static func all(inPEM text: [UInt8], limit: Int) -> [CertificateFacts] {
    ERR_clear_error()
    defer { ERR_clear_error() }
    return text.span.withUnsafeBufferPointer { bytes in
      guard let input = BIO_new_mem_buf(bytes.baseAddress, Int32(clamping: bytes.count)) else { return [] }
      defer { BIO_free(input) }
      var found: [CertificateFacts] = []
      while found.count < limit, let next = PEM_read_bio_X509_AUX(input, nil, { _, _, _, _ in -1 }, nil) {
        defer { X509_free(next) }
        found.append(CertificateFacts(next))
      }
      return found
    }
  }

  private init(_ certificate: OpaquePointer) {
    var name = [CChar](repeating: 0, count: 256)
    X509_NAME_oneline(X509_get_subject_name(certificate), &name, Int32(name.count))
    subject = String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    var digest = [UInt8](repeating: 0, count: 20)
    X509_digest(certificate, EVP_sha1(), &digest, nil)
    sha1 = digest
    notBefore = copenssl_seconds(X509_get0_notBefore(certificate))
    notAfter = copenssl_seconds(X509_get0_notAfter(certificate))
  }
}
