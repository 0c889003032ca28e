internal import Bytes
internal import COpenSSL
package import Platform

/// A certificate and its private key, as PEM.
package struct CertificateAndKey: Sendable {
  /// The certificate: public.
  package let certificate: [UInt8]
  /// The private key (PKCS #8, not encrypted): a secret.
  package let key: [UInt8]
}

/// A small certificate authority for demonstrations and tests. It keeps nothing on disk and revokes nothing.
package final class DemoCertificateAuthority {
  package enum Purpose {
    /// A TLS server reached under these names: DNS names, or IP addresses. Its key is on the curve P-256.
    case server(names: [String])
    /// A caller. Its key has 2048 bits of RSA.
    case client
  }

  private let key: KeyHandle
  private let root: OpaquePointer

  /// A fresh root called `name`, with a P-256 key, valid for `days` from now.
  package init(name: String, days: Int) throws(CryptoError) {
    key = try Self.ellipticKey()
    root = try Self.certificate(
      name: name, for: key, signedBy: key, issuer: nil, days: days,
      extensions: [
        (NID_basic_constraints, "critical,CA:TRUE,pathlen:0"), (NID_key_usage, "critical,keyCertSign,cRLSign"),
        (NID_subject_key_identifier, "hash"),
      ])
  }

  deinit { X509_free(root) }

  /// The root certificate as PEM.
  package func certificate() throws(CryptoError) -> [UInt8] { try Self.pem(of: root) }

  /// A certificate for a fresh key, valid for `days` from now.
  package func issue(name: String, _ purpose: Purpose, days: Int) throws(CryptoError) -> CertificateAndKey {
    let subjectKey: KeyHandle
    var extensions: [(Int32, String)] = [
      (NID_basic_constraints, "critical,CA:FALSE"), (NID_key_usage, "critical,digitalSignature"),
      (NID_subject_key_identifier, "hash"), (NID_authority_key_identifier, "keyid"),
    ]
    switch purpose {
    case .server(let names):
      subjectKey = try Self.ellipticKey()
      let alternatives = names.map { IPAddress($0) == nil ? "DNS:\($0)" : "IP:\($0)" }.joined(separator: ",")
      extensions += [(NID_ext_key_usage, "serverAuth"), (NID_subject_alt_name, alternatives)]
    case .client:
      subjectKey = try KeyHandle.generate("RSA") { EVP_PKEY_CTX_set_rsa_keygen_bits($0, 2048) }
      extensions.append((NID_ext_key_usage, "clientAuth"))
    }
    let certificate = try Self.certificate(
      name: name, for: subjectKey, signedBy: key, issuer: root, days: days, extensions: extensions)
    defer { X509_free(certificate) }
    return try CertificateAndKey(certificate: Self.pem(of: certificate), key: subjectKey.pem())
  }

  private static func ellipticKey() throws(CryptoError) -> KeyHandle {
    try KeyHandle.generate("EC") { EVP_PKEY_CTX_set_group_name($0, "P-256") }
  }

  private static func pem(of certificate: OpaquePointer) throws(CryptoError) -> [UInt8] {
    guard let text = writtenBytes({ PEM_write_bio_X509($0, certificate) }) else { throw failure }
    return text
  }

  private static var failure: CryptoError { .certificate(reason: takeOpenSSLReason()) }

  /// A signed certificate, which the caller frees. `issuer` nil: it signs itself.
  private static func certificate(
    name: String, for subject: KeyHandle, signedBy signer: KeyHandle, issuer: OpaquePointer?, days: Int,
    extensions: [(Int32, String)]
  ) throws(CryptoError) -> OpaquePointer {
    // Positive and at most 20 octets (RFC 5280 §4.1.2.2): 16 octets with the sign bit cleared.
    var serial = try RandomBytes.make(16)
    serial[0] = serial[0] & 0x3F | 0x40
    guard let certificate = X509_new(), let number = BN_bin2bn(serial, 16, nil) else { throw failure }
    defer { BN_free(number) }
    let issuer = issuer ?? certificate
    let written =
      X509_set_version(certificate, 2) == 1
      && BN_to_ASN1_INTEGER(number, X509_get_serialNumber(certificate)) != nil
      && X509_gmtime_adj(X509_getm_notBefore(certificate), -300) != nil
      && X509_time_adj_ex(X509_getm_notAfter(certificate), Int32(clamping: days), 0, nil) != nil
      && X509_NAME_add_entry_by_txt(X509_get_subject_name(certificate), "CN", copenssl_utf8, name, -1, -1, 0) == 1
      && X509_set_issuer_name(certificate, X509_get_subject_name(issuer)) == 1
      && X509_set_pubkey(certificate, subject.pointer) == 1
      && extensions.allSatisfy { add($0.0, $0.1, to: certificate, issuer: issuer) }
      && X509_sign(certificate, signer.pointer, EVP_sha256()) > 0
    guard written else {
      X509_free(certificate)
      throw failure
    }
    return certificate
  }

  private static func add(_ nid: Int32, _ value: String, to certificate: OpaquePointer, issuer: OpaquePointer) -> Bool {
    var context = X509V3_CTX()
    X509V3_set_ctx(&context, issuer, certificate, nil, nil, 0)
    guard let entry = X509V3_EXT_conf_nid(nil, &context, nid, value) else { return false }
    defer { X509_EXTENSION_free(entry) }
    return X509_add_ext(certificate, entry, -1) == 1
  }
}
