// An application's certificates with their private key: PEM files or a PKCS #12 archive (PFX). TLS loads its own pairs.

internal import COpenSSL

/// A fault of a certificate or its key.
public enum SigningCertificateError: Error, Sendable, Hashable {
  /// No certificate was found.
  case noCertificate(reason: String)
  /// No private key was found.
  case noKey(reason: String)
  /// The key or archive is encrypted, and no passphrase was given.
  case passphraseMissing
  /// The passphrase opens neither key nor archive.
  case wrongPassphrase
  /// The key or archive is encrypted with an algorithm of OpenSSL's legacy provider, such as RC2-40.
  case legacyCipher
  /// The bytes are no archive.
  case noArchive(reason: String)
  /// No certificate matches the key.
  case mismatch
  /// A key that makes no signature that providers accept: neither RSA of at least 2048 bits, nor one of
  /// `EllipticCurve`; or RSASSA-PSS with parameters that RFC 7518 §3.5 does not have.
  case unusableKey(CryptoError)
}

/// A signature algorithm and its parameters (RFC 7518 §3.1).
package enum SignatureScheme: Sendable, Hashable {
  case rsa(RSASignatureAlgorithm)
  /// ECDSA over a curve, with the digest that belongs to it.
  case ecdsa(EllipticCurve)
}

/// The curves of RFC 7518 §3.4.
package enum EllipticCurve: String, Sendable, Hashable, CaseIterable {
  // OpenSSL's names.
  case p256 = "prime256v1"
  case p384 = "secp384r1"
  case p521 = "secp521r1"

  /// Bytes of each of a signature's two numbers.
  package var numberSize: Int {
    switch self {
    case .p256: 32
    case .p384: 48
    case .p521: 66
    }
  }

  fileprivate var digest: OpaquePointer? {
    switch self {
    case .p256: EVP_sha256()
    case .p384: EVP_sha384()
    case .p521: EVP_sha512()
    }
  }
}

/// A certificate, the chain to its root, and its private key.
/// Equal values sign the same.
package struct SigningCertificate: Sendable {
  /// DER, the key's own certificate first, the others in the order in which they were given.
  package let chain: [[UInt8]]
  /// SHA-1 of the first certificate's DER, 20 bytes: its thumbprint.
  package let sha1: [UInt8]
  /// SHA-256 of the same, 32 bytes.
  package let sha256: [UInt8]
  /// The first second of validity, since 1970.
  package let notBefore: Int64
  /// The last second of validity.
  package let notAfter: Int64
  /// The schemes that its key supports, the preferred one first; at least one.
  package let schemes: [SignatureScheme]
  private let key: KeyHandle

  /// Reads certificates and key as PEM, which may be one text. A passphrase that is not needed is ignored.
  package init(
    pem certificates: [UInt8], key: [UInt8], passphrase: [UInt8]?
  ) throws(SigningCertificateError) {
    var secret = KeyHandle.Passphrase(passphrase)
    guard let pointer = KeyHandle.read(key.span, &secret) else {
      let errors = takeOpenSSLErrors()
      if !secret.wasNeeded { throw .noKey(reason: errors.reason) }
      if passphrase == nil { throw .passphraseMissing }
      throw errors.codes.contains { copenssl_is_unsupported($0) == 1 } ? .legacyCipher : .wrongPassphrase
    }
    let handle = KeyHandle(owning: pointer)
    let certificates = try Self.certificates(pem: certificates.span)
    defer { for certificate in certificates { X509_free(certificate) } }
    try self.init(certificates, handle)
  }

  /// Reads a PKCS #12 archive (RFC 7292). Without a passphrase, the archive must have none or an empty one, as Azure
  /// Key Vault makes them.
  package init(archive: [UInt8], passphrase: [UInt8]?) throws(SigningCertificateError) {
    ERR_clear_error()
    let parsed = archive.span.withUnsafeBufferPointer { bytes -> OpaquePointer? in
      var start = bytes.baseAddress
      return d2i_PKCS12(nil, &start, bytes.count)
    }
    guard let parsed else { throw .noArchive(reason: takeOpenSSLErrors().reason) }
    defer { PKCS12_free(parsed) }
    var key: OpaquePointer?
    var certificates = [OpaquePointer?](repeating: nil, count: Self.chainLimit)
    let text = passphrase.map { ($0 + [0]).map { CChar(bitPattern: $0) } }
    let count = copenssl_parse_archive(parsed, text, &key, &certificates, Int32(Self.chainLimit))
    defer { for certificate in certificates { X509_free(certificate) } }
    guard count >= 0 else {
      let errors = takeOpenSSLErrors()
      if errors.codes.contains(where: { copenssl_is_wrong_passphrase($0) == 1 }) {
        throw passphrase == nil ? .passphraseMissing : .wrongPassphrase
      }
      throw errors.codes.contains { copenssl_is_unsupported($0) == 1 }
        ? .legacyCipher : .noArchive(reason: errors.reason)
    }
    guard let key else { throw .noKey(reason: "the archive has none") }
    let handle = KeyHandle(owning: key)
    let held = certificates.compactMap(\.self)
    guard !held.isEmpty else { throw .noCertificate(reason: "the archive has none") }
    try self.init(held, handle)
  }

  private init(_ certificates: [OpaquePointer], _ key: KeyHandle) throws(SigningCertificateError) {
    guard let own = certificates.first(where: { X509_check_private_key($0, key.pointer) == 1 }) else {
      ERR_clear_error()
      throw .mismatch
    }
    ERR_clear_error()
    self.key = key
    schemes = try Self.schemes(of: key)
    chain = ([own] + certificates.filter { $0 != own }).compactMap { certificate in
      writtenBytes { i2d_X509_bio($0, certificate) }
    }
    sha1 = Self.digest(of: own, EVP_sha1(), count: 20)
    sha256 = Self.digest(of: own, EVP_sha256(), count: 32)
    notBefore = copenssl_seconds(X509_get0_notBefore(own))
    notAfter = copenssl_seconds(X509_get0_notAfter(own))
    guard chain.count == certificates.count, notAfter != 0 else {
      throw .noCertificate(reason: takeOpenSSLErrors().reason)
    }
  }

  /// A signature as JOSE writes it: RSA's bytes, or the two numbers of ECDSA (RFC 7518 §3.4).
  package func signature(of message: [UInt8], _ scheme: SignatureScheme) throws(CryptoError) -> [UInt8] {
    try Self.signature(of: message, scheme, key)
  }

  /// Makes connections of a TLS context show these certificates and prove the key; false, with OpenSSL's reasons in its
  /// queue, if that fails.
  func isUsed(by context: OpaquePointer) -> Bool {
    ERR_clear_error()
    for (index, der) in chain.enumerated() {
      let certificate = der.span.withUnsafeBufferPointer { bytes -> OpaquePointer? in
        var start = bytes.baseAddress
        return d2i_X509(nil, &start, bytes.count)
      }
      guard let certificate else { return false }
      defer { X509_free(certificate) }
      let isAdded =
        index == 0
        ? SSL_CTX_use_certificate(context, certificate) == 1 : copenssl_add_chain_certificate(context, certificate) == 1
      guard isAdded else { return false }
    }
    return SSL_CTX_use_PrivateKey(context, key.pointer) == 1
  }

  /// Maximum number of certificates read from one file.
  private static let chainLimit = 16

  private static func certificates(pem: Span<UInt8>) throws(SigningCertificateError) -> [OpaquePointer] {
    let certificates = readCertificates(pem, limit: chainLimit)
    let reason = takeOpenSSLErrors().reason
    guard !certificates.isEmpty else { throw .noCertificate(reason: reason) }
    return certificates
  }

  /// Tries which schemes a key supports: parameters of an RSASSA-PSS key may forbid all of them.
  private static func schemes(of key: KeyHandle) throws(SigningCertificateError) -> [SignatureScheme] {
    let candidates: [SignatureScheme]
    if EVP_PKEY_is_a(key.pointer, "RSA") == 1 || EVP_PKEY_is_a(key.pointer, "RSA-PSS") == 1 {
      let bits = Int(EVP_PKEY_get_bits(key.pointer))
      guard bits >= 2048 else { throw .unusableKey(.keyTooSmall(bits: bits)) }
      candidates = EVP_PKEY_is_a(key.pointer, "RSA") == 1 ? [.rsa(.ps256), .rsa(.rs256)] : [.rsa(.ps256)]
    } else if let curve = curve(of: key) {
      candidates = [.ecdsa(curve)]
    } else {
      throw .unusableKey(.wrongKeyKind)
    }
    do throws(CryptoError) {
      for scheme in candidates { _ = try signature(of: [0], scheme, key) }
    } catch {
      throw .unusableKey(error)
    }
    return candidates
  }

  private static func curve(of key: KeyHandle) -> EllipticCurve? {
    var name = [CChar](repeating: 0, count: 32)
    var count = 0
    guard EVP_PKEY_is_a(key.pointer, "EC") == 1, EVP_PKEY_get_group_name(key.pointer, &name, name.count, &count) == 1
    else { return nil }
    return EllipticCurve(rawValue: String(decoding: name.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self))
  }

  private static func signature(
    of message: [UInt8], _ scheme: SignatureScheme, _ key: KeyHandle
  ) throws(CryptoError) -> [UInt8] {
    switch scheme {
    case .rsa(let algorithm): return try key.signature(of: message.span) { algorithm.configure($0) }
    case .ecdsa(let curve):
      let signature = try key.signature(of: message.span, digest: curve.digest)
      return try numbers(of: signature, size: curve.numberSize)
    }
  }

  /// The two numbers of an ECDSA signature, which OpenSSL writes as DER.
  private static func numbers(of signature: [UInt8], size: Int) throws(CryptoError) -> [UInt8] {
    let parsed = signature.span.withUnsafeBufferPointer { bytes -> OpaquePointer? in
      var start = bytes.baseAddress
      return d2i_ECDSA_SIG(nil, &start, bytes.count)
    }
    guard let parsed else { throw .signing(reason: takeOpenSSLReason()) }
    defer { ECDSA_SIG_free(parsed) }
    var bytes = [UInt8](repeating: 0, count: 2 * size)
    let isWritten = bytes.withUnsafeMutableBufferPointer { bytes in
      BN_bn2binpad(ECDSA_SIG_get0_r(parsed), bytes.baseAddress, Int32(size)) == size
        && BN_bn2binpad(ECDSA_SIG_get0_s(parsed), bytes.baseAddress.map { $0 + size }, Int32(size)) == size
    }
    guard isWritten else { throw .signing(reason: takeOpenSSLReason()) }
    return bytes
  }

  fileprivate static func digest(of certificate: OpaquePointer, _ method: OpaquePointer?, count: Int) -> [UInt8] {
    var digest = [UInt8](repeating: 0, count: count)
    var length: UInt32 = 0
    X509_digest(certificate, method, &digest, &length)
    return digest
  }
}

extension SigningCertificate: Equatable {
  /// Compares certificates; equal certificates have equal keys.
  package static func == (left: SigningCertificate, right: SigningCertificate) -> Bool { left.chain == right.chain }
}

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
    let certificates = readCertificates(text.span, limit: limit, andTrusted: true)
    defer {
      for certificate in certificates { X509_free(certificate) }
      ERR_clear_error()
    }
    return certificates.map { CertificateFacts($0) }
  }

  private init(_ certificate: OpaquePointer) {
    var name = [CChar](repeating: 0, count: 256)
    X509_NAME_oneline(X509_get_subject_name(certificate), &name, Int32(name.count))
    subject = String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    sha1 = SigningCertificate.digest(of: certificate, EVP_sha1(), count: 20)
    notBefore = copenssl_seconds(X509_get0_notBefore(certificate))
    notAfter = copenssl_seconds(X509_get0_notAfter(certificate))
  }
}

/// The certificates of a PEM text, in its order; at most `limit`. The caller frees them, and OpenSSL's queue has the
/// reason why there are no more.
/// - Parameter andTrusted: those that OpenSSL's tools have marked with a use, too.
func readCertificates(_ text: Span<UInt8>, limit: Int, andTrusted: Bool = false) -> [OpaquePointer] {
  ERR_clear_error()
  return text.withUnsafeBufferPointer { bytes in
    guard let input = BIO_new_mem_buf(bytes.baseAddress, Int32(clamping: bytes.count)) else { return [] }
    defer { BIO_free(input) }
    let read = andTrusted ? PEM_read_bio_X509_AUX : PEM_read_bio_X509
    var certificates: [OpaquePointer] = []
    // Nothing here is encrypted, and no passphrase is asked for.
    while certificates.count < limit, let next = read(input, nil, { _, _, _, _ in -1 }, nil) {
      certificates.append(next)
    }
    return certificates
  }
}
