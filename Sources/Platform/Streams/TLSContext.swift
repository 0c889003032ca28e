// The settings of TLS connections of one kind: trust, our certificate, protocol versions. TLSSession is one connection.

internal import COpenSSL
internal import Glibc

/// A TLS setting that cannot be used, with the path of the configuration.
public enum TLSConfigurationError: Error, Sendable, Hashable {
  /// The file with the certificate chain cannot be read or holds none.
  case certificate(path: String, TLSFailure)
  /// The file with the private key cannot be read or holds none.
  case key(path: String, TLSFailure)
  /// The private key does not belong to the certificate.
  case mismatch(certificatePath: String, keyPath: String)
  /// The file with trusted certificates cannot be read or holds none; no path: the system's.
  case trust(path: String?, TLSFailure)
  /// A file cannot be read, or is not a regular file.
  case unreadable(path: String, FileError)
  /// OpenSSL gave no context.
  case unavailable(TLSFailure)
}

/// A certificate chain and its key, as PEM files.
package struct TLSIdentity: Sendable, Hashable {
  /// The leaf first, then what leads to the root.
  package var certificatePath: String
  /// The leaf's private key, not encrypted.
  package var keyPath: String

  /// Names the two files.
  package init(certificatePath: String, keyPath: String) {
    self.certificatePath = certificatePath
    self.keyPath = keyPath
  }
}

/// The settings of many TLS connections. Verification of upstreams cannot be turned off.
///
/// `@unchecked Sendable`: OpenSSL counts references to an `SSL_CTX` atomically, and nothing changes it after `init`.
public final class TLSContext: @unchecked Sendable {
  enum Role {
    case client
    case server
  }

  let handle: OpaquePointer
  let role: Role
  /// The digest that the verification of a pinned certificate compares with.
  private var pin: UnsafeMutableRawPointer?

  private init(_ role: Role) throws(TLSConfigurationError) {
    self.role = role
    guard let handle = SSL_CTX_new(role == .client ? TLS_client_method() : TLS_server_method()) else {
      throw .unavailable(TLSFailure())
    }
    self.handle = handle
    _ = copenssl_set_min_version(handle, TLS1_2_VERSION)
    // Of TLS 1.2 only suites with forward secrecy and authenticated encryption (RFC 9325 §4.2); TLS 1.3 has no others.
    guard SSL_CTX_set_cipher_list(handle, "ECDHE+AESGCM:ECDHE+CHACHA20") == 1 else { throw .unavailable(TLSFailure()) }
    SSL_CTX_set_options(handle, SSL_OP_NO_COMPRESSION_ | SSL_OP_NO_RENEGOTIATION_)
    // Partial writes from a buffer that may have moved are ours to manage. Idle connections of callers, which may be
    // many, hold no record buffers; upstream connections, of which few are idle, hold theirs: returning and taking them
    // costs six allocations a request.
    let releases = role == .server ? SSL_MODE_RELEASE_BUFFERS : 0
    _ = copenssl_set_mode(handle, Int(releases | 0x1 | 0x2))
    _ = copenssl_set_read_ahead(handle)
  }

  deinit {
    SSL_CTX_free(handle)
    copenssl_free(pin)
  }

  /// The file with the certificates that the system trusts.
  package static var systemTrustPath: String {
    if let path = getenv("SSL_CERT_FILE") { return String(cString: path) }
    return X509_get_default_cert_file().map { String(cString: $0) } ?? ""
  }

  /// The upstream side: peers are verified against the system's trust store, or only against the certificates in
  /// `trustPath`; `identity` is shown if the peer asks for one.
  package static func client(
    trustPath: String? = nil, identity: TLSIdentity? = nil
  ) throws(TLSConfigurationError) -> TLSContext {
    try client(trust: trustPath.map { .file($0) } ?? .system) { context throws(TLSConfigurationError) in
      if let identity { try context.use(identity) }
    }
  }

  /// The same with a certificate and key that were loaded before.
  package static func client(
    trustPath: String?, showing certificate: SigningCertificate
  ) throws(TLSConfigurationError) -> TLSContext {
    try client(trust: trustPath.map { .file($0) } ?? .system) { context throws(TLSConfigurationError) in
      guard certificate.isUsed(by: context.handle) else { throw .unavailable(TLSFailure()) }
    }
  }

  /// The same, with peers verified only against the certificates in a PEM text.
  package static func client(trustText: String) throws(TLSConfigurationError) -> TLSContext {
    try client(trust: .text(trustText)) { _ throws(TLSConfigurationError) in }
  }

  /// The authorities that peers are verified against.
  private enum Trust {
    case system
    case file(String)
    case text(String)
  }

  private static func client(
    trust: Trust, identify: (TLSContext) throws(TLSConfigurationError) -> Void
  ) throws(TLSConfigurationError) -> TLSContext {
    let context = try TLSContext(.client)
    ERR_clear_error()
    switch trust {
    case .text(let pem): try context.trust(pem)
    case .file(let path):
      let file = try readable(path)
      guard file.withPath({ SSL_CTX_load_verify_file(context.handle, $0) }) == 1 else {
        throw .trust(path: path, TLSFailure())
      }
    case .system:
      try refuseTrustThatIsNoFile()
      guard SSL_CTX_set_default_verify_paths(context.handle) == 1 else { throw .trust(path: nil, TLSFailure()) }
    }
    SSL_CTX_set_verify(context.handle, SSL_VERIFY_PEER, nil)
    try identify(context)
    let protocols = OfferedProtocols.http11.bytes
    SSL_CTX_set_alpn_protos(context.handle, protocols, UInt32(protocols.count))
    return context
  }

  private func trust(_ pem: String) throws(TLSConfigurationError) {
    let certificates = readCertificates(Array(pem.utf8).span, limit: .max)
    defer { for certificate in certificates { X509_free(certificate) } }
    let trusted = certificates.prefix { X509_STORE_add_cert(SSL_CTX_get_cert_store(handle), $0) == 1 }
    guard !trusted.isEmpty else { throw .trust(path: nil, TLSFailure()) }
    ERR_clear_error()
  }

  /// The client side for a peer that is known by the SHA-1 of its certificate alone, such as Service Fabric's token
  /// service: no other certificate is accepted, and neither name nor issuer of this one is checked.
  /// - Parameter sha1: 20 bytes.
  package static func client(pinned sha1: [UInt8]) throws(TLSConfigurationError) -> TLSContext {
    let context = try TLSContext(.client)
    guard sha1.count == 20, let pin = copenssl_pin(context.handle, sha1) else { throw .unavailable(TLSFailure()) }
    context.pin = pin
    SSL_CTX_set_verify(context.handle, SSL_VERIFY_PEER, nil)
    return context
  }

  /// Opens a file for OpenSSL, which would wait for the writer of a pipe.
  private static func readable(_ path: String) throws(TLSConfigurationError) -> ReadableFile {
    do throws(FileError) {
      return try ReadableFile.opened(path, limit: fileLimit)
    } catch {
      throw .unreadable(path: path, error)
    }
  }

  /// The largest PEM file that is read, in bytes: the authorities of a whole system are a quarter of a MiB.
  private static let fileLimit = 4 << 20

  /// The environment may name a file of the system's authorities. If it does not exist, OpenSSL trusts its directory.
  private static func refuseTrustThatIsNoFile() throws(TLSConfigurationError) {
    let path = systemTrustPath
    do throws(FileError) {
      _ = try ReadableFile.opened(path, limit: .max)
    } catch .notRegular(let kind) where kind != .directory {
      throw .unreadable(path: path, .notRegular(kind))
    } catch {}
  }

  /// The listener side. `callerTrustPath`: authorities; callers must show a certificate of one of them. `offersHTTP2`:
  /// callers may choose it (ALPN).
  package static func server(
    _ identity: TLSIdentity, callerTrustPath: String? = nil, offersHTTP2: Bool = false
  ) throws(TLSConfigurationError) -> TLSContext {
    let context = try TLSContext(.server)
    try context.use(identity)
    if let callerTrustPath { try context.demandCertificates(trustPath: callerTrustPath) }
    SSL_CTX_set_alpn_select_cb(context.handle, offersHTTP2 ? selectHTTP2 : selectHTTP11, nil)
    return context
  }

  /// Maximum bytes of a caller's certificate chain.
  private static let certificateLimit = 32 * 1024

  private func demandCertificates(trustPath: String) throws(TLSConfigurationError) {
    ERR_clear_error()
    let file = try Self.readable(trustPath)
    guard file.withPath({ SSL_CTX_load_verify_file(handle, $0) }) == 1,
      let names = file.withPath({ SSL_load_client_CA_file($0) })
    else {
      throw .trust(path: trustPath, TLSFailure())
    }
    SSL_CTX_set_client_CA_list(handle, names)
    // In place of 100 KiB, which a caller would only have to declare.
    _ = copenssl_set_max_certificates(handle, Self.certificateLimit)
    SSL_CTX_set_verify(handle, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nil)
    // Sessions are resumed only if they were made for this purpose (SSL_CTX_set_session_id_context(3)); none are.
    _ = copenssl_set_session_cache_mode(handle, Int(SSL_SESS_CACHE_OFF))
    SSL_CTX_set_options(handle, SSL_OP_NO_TICKET_)
  }

  private func use(_ identity: TLSIdentity) throws(TLSConfigurationError) {
    ERR_clear_error()
    let certificate = try Self.readable(identity.certificatePath)
    let key = try Self.readable(identity.keyPath)
    guard certificate.withPath({ SSL_CTX_use_certificate_chain_file(handle, $0) }) == 1 else {
      throw .certificate(path: identity.certificatePath, TLSFailure())
    }
    if key.withPath({ SSL_CTX_use_PrivateKey_file(handle, $0, SSL_FILETYPE_PEM) }) != 1 {
      let failure = TLSFailure()
      // OpenSSL compares while loading: a readable key of another certificate fails here.
      if failure.isKeyMismatch {
        throw .mismatch(certificatePath: identity.certificatePath, keyPath: identity.keyPath)
      }
      throw .key(path: identity.keyPath, failure)
    }
    guard SSL_CTX_check_private_key(handle) == 1 else {
      ERR_clear_error()
      throw .mismatch(certificatePath: identity.certificatePath, keyPath: identity.keyPath)
    }
  }
}

extension TLSFailure {
  fileprivate var isKeyMismatch: Bool {
    let reason = Int32(truncatingIfNeeded: code & 0x7F_FFFF)
    return reason == X509_R_KEY_VALUES_MISMATCH || reason == X509_R_KEY_TYPE_MISMATCH
  }
}

// Macros of shapes that Swift does not import.
private let SSL_OP_NO_COMPRESSION_: UInt64 = 1 << 17
private let SSL_OP_NO_TICKET_: UInt64 = 1 << 14
private let SSL_OP_NO_RENEGOTIATION_: UInt64 = 1 << 30

/// Chooses HTTP/1.1 if the peer offers it; otherwise continues without ALPN (RFC 7301 §3.2 allows that).
private let selectHTTP11: SSL_CTX_alpn_select_cb_func = { _, chosen, count, offered, offeredCount, _ in
  select("\u{8}http/1.1", chosen, count, offered, offeredCount)
}

/// The same, with HTTP/2 first.
private let selectHTTP2: SSL_CTX_alpn_select_cb_func = { _, chosen, count, offered, offeredCount, _ in
  select("\u{2}h2\u{8}http/1.1", chosen, count, offered, offeredCount)
}

/// Chooses the first of the protocols, in the wire form of RFC 7301, that the peer offers.
private func select(
  _ protocols: StaticString, _ chosen: UnsafeMutablePointer<UnsafePointer<UInt8>?>?,
  _ count: UnsafeMutablePointer<UInt8>?, _ offered: UnsafePointer<UInt8>?, _ offeredCount: UInt32
) -> Int32 {
  var found: UnsafeMutablePointer<UInt8>?
  let result = SSL_select_next_proto(
    &found, count, protocols.utf8Start, UInt32(protocols.utf8CodeUnitCount), offered, offeredCount)
  guard result == OPENSSL_NPN_NEGOTIATED, let found else { return SSL_TLSEXT_ERR_NOACK }
  chosen?.pointee = UnsafePointer(found)
  return SSL_TLSEXT_ERR_OK
}
