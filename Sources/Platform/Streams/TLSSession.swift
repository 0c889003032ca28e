internal import COpenSSL
internal import Glibc

/// A session ticket: a later connection to the same peer skips most of the handshake.
/// `@unchecked Sendable`: OpenSSL counts references to an `SSL_SESSION` atomically, and we never change one.
public final class TLSResumption: @unchecked Sendable {
  fileprivate let handle: OpaquePointer

  fileprivate init(_ handle: OpaquePointer) {
    self.handle = handle
  }

  deinit {
    SSL_SESSION_free(handle)
  }
}

/// The protocols that a client offers (ALPN, RFC 7301).
package enum OfferedProtocols: Sendable {
  case http11
  case http2
  /// HTTP/2 and HTTP/1.1, in this order.
  case both

  /// The wire form: a length and the name, for each.
  var bytes: [UInt8] {
    let (http11, http2) = ([8] + Array("http/1.1".utf8), [2] + Array("h2".utf8))
    return switch self {
    case .http11: http11
    case .http2: http2
    case .both: http2 + http11
    }
  }
}

/// A TLS connection; each operation is tried without blocking.
/// `@unchecked Sendable`: confined to its channel's loop.
public final class TLSSession: @unchecked Sendable {
  private let handle: OpaquePointer
  let channel: Channel
  // For callers, until they have proved who they are.
  private var handshakeSizes: HandshakeSizes?
  private var isBroken = false
  // The bytes taken from the socket so far complete no record.
  private var needsMoreBytes = false
  /// The interest to watch for after `receive` or `handshake` would have blocked.
  private(set) var receiveInterest = Readiness.read
  /// The interest to watch for after `send` would have blocked.
  private(set) var sendInterest = Readiness.write

  init(
    _ context: TLSContext, channel: Channel, serverName: String?, resuming: TLSResumption?,
    offering offer: OfferedProtocols = .http11
  ) throws(TLSFailure) {
    self.channel = channel
    ERR_clear_error()
    guard let handle = SSL_new(context.handle) else { throw TLSFailure() }
    self.handle = handle
    handshakeSizes = context.role == .server ? HandshakeSizes() : nil
    guard let bio = TLSTransport.makeBIO(self) else { throw TLSFailure() }
    SSL_set_bio(handle, bio, bio)
    switch context.role {
    case .server:
      SSL_set_accept_state(handle)
    case .client:
      SSL_set_connect_state(handle)
      guard let serverName else { preconditionFailure("a client session names whom it expects") }
      guard Self.expect(serverName, handle) else { throw TLSFailure() }
      if let resuming { SSL_set_session(handle, resuming.handle) }
      // HTTP/1.1 alone is the context's.
      if offer != .http11 {
        let protocols = offer.bytes
        SSL_set_alpn_protos(handle, protocols, UInt32(protocols.count))
      }
    }
  }

  deinit {
    SSL_free(handle)
  }

  /// Demands that the peer's certificate is for `name`, a host name or an address literal (RFC 9110 §4.3.4), by its
  /// subject alternative names alone: a common name is no name of a host (RFC 9525 §6.1). OpenSSL compares addresses
  /// with nothing else anyway.
  private static func expect(_ name: String, _ handle: OpaquePointer) -> Bool {
    let parameters = SSL_get0_param(handle)
    if X509_VERIFY_PARAM_set1_ip_asc(parameters, name) == 1 { return true }
    ERR_clear_error()
    SSL_set_hostflags(handle, UInt32(X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS | X509_CHECK_FLAG_NEVER_CHECK_SUBJECT))
    return SSL_set1_host(handle, name) == 1 && copenssl_set_host_name(handle, name) == 1
  }

  /// True if bytes have been taken from the socket that `receive` may return. The beginning of an incomplete record
  /// does not count: a caller that continued because of it would loop for ever.
  var hasBufferedBytes: Bool { !needsMoreBytes && SSL_has_pending(handle) == 1 }

  /// True if anything has arrived from the peer.
  var hasReceived: Bool { BIO_number_read(SSL_get_rbio(handle)) > 0 }

  /// The session's ticket, if the peer gave one that may be used again.
  public var resumption: TLSResumption? {
    guard let session = SSL_get1_session(handle) else { return nil }
    let resumption = TLSResumption(session)
    return SSL_SESSION_is_resumable(session) == 1 ? resumption : nil
  }

  /// The names of the peer's verified certificate: its subject (RFC 2253), then its alternative names as `DNS:…`,
  /// `URI:…` and `email:…`. Empty if it showed none.
  public var peerNames: [String] {
    let text = writtenBytes { copenssl_write_peer_names(handle, $0) } ?? []
    return String(decoding: text, as: UTF8.self).split(separator: "\n").map(String.init)
  }

  /// The SHA-256 of the peer's verified certificate (RFC 8705 §3.1); empty if it showed none.
  public var peerCertificateDigest: [UInt8] {
    var digest = [UInt8](repeating: 0, count: 32)
    return copenssl_write_peer_digest(handle, &digest) == 1 ? digest : []
  }

  /// The protocol, and the remaining validity of the peer's certificate: `TLSv1.3, certificate good for 20 days`.
  public var description: String {
    let version = SSL_get_version(handle).map { String(cString: $0) } ?? "TLS"
    var days: Int32 = 0
    guard copenssl_certificate_days(handle, &days) == 1 else { return version }
    return "\(version), certificate good for \(days) \(days == 1 ? "day" : "days")"
  }

  /// True if the peers have agreed on HTTP/2 (RFC 9113 §3.2).
  package var isHTTP2: Bool {
    var name: UnsafePointer<UInt8>?
    var count: UInt32 = 0
    SSL_get0_alpn_selected(handle, &name, &count)
    return UnsafeBufferPointer(start: name, count: Int(count)).elementsEqual("h2".utf8)
  }

  /// True if the handshake was an abbreviated one.
  public var isResumed: Bool { SSL_session_reused(handle) == 1 }

  /// Processes the bytes that have arrived; true if they hold no application data, no end and no beginning of either.
  func isQuiet() -> Bool {
    if SSL_get_shutdown(handle) != 0 { return false }
    if !channel.ready.contains(.read), SSL_has_pending(handle) == 0 { return true }
    var byte: UInt8 = 0
    ERR_clear_error()
    let result = SSL_peek(handle, &byte, 1)
    guard result <= 0, case .wouldBlock = failure(result, reading: true) else { return false }
    return SSL_has_pending(handle) == 0
  }

  func handshake() -> IOOutcome {
    ERR_clear_error()
    let result = SSL_do_handshake(handle)
    if result != 1 { return failure(result, reading: true) }
    handshakeSizes = nil
    receiveInterest = .read
    // Bytes that the peer sent right after its last handshake message may have arrived already.
    needsMoreBytes = false
    return .moved(1)
  }

  /// True if the bytes keep to the limit of handshake messages.
  func allows(_ bytes: UnsafeRawBufferPointer) -> Bool {
    handshakeSizes?.allow(bytes, isTLS13: SSL_version(handle) == TLS1_3_VERSION) ?? true
  }

  func receive(into buffer: UnsafeMutableRawBufferPointer) -> IOOutcome {
    if buffer.isEmpty { return .wouldBlock }
    // If the last attempt had to write first, only another attempt clears that.
    if receiveInterest == .read, !channel.ready.contains(.read), !hasBufferedBytes { return .wouldBlock }
    ERR_clear_error()
    let result = SSL_read(handle, buffer.baseAddress, Int32(clamping: buffer.count))
    if result > 0 {
      receiveInterest = .read
      needsMoreBytes = false
      return .moved(Int(result))
    }
    return failure(result, reading: true)
  }

  func send(_ bytes: UnsafeRawBufferPointer) -> IOOutcome {
    ERR_clear_error()
    let result = SSL_write(handle, bytes.baseAddress, Int32(clamping: bytes.count))
    if result > 0 {
      sendInterest = .write
      return .moved(Int(result))
    }
    return failure(result, reading: false)
  }

  /// Sends close_notify, if the socket takes it now.
  func closeNotify() {
    // After a fatal error the protocol allows nothing more (SSL_shutdown(3)).
    guard !isBroken, SSL_in_init(handle) == 0 else { return }
    ERR_clear_error()
    SSL_shutdown(handle)
    ERR_clear_error()
  }

  private func failure(_ result: Int32, reading: Bool) -> IOOutcome {
    switch SSL_get_error(handle, result) {
    case SSL_ERROR_WANT_READ:
      if reading {
        receiveInterest = .read
        needsMoreBytes = true
      } else {
        sendInterest = .read
      }
      return .wouldBlock
    case SSL_ERROR_WANT_WRITE:
      if reading { receiveInterest = .write } else { sendInterest = .write }
      return .wouldBlock
    case SSL_ERROR_ZERO_RETURN:
      return .endOfStream
    case SSL_ERROR_SYSCALL:
      isBroken = true
      let number = errno
      ERR_clear_error()
      return .failed(number == 0 ? .truncated : StreamError(errno: number, call: "recv"))
    default:
      isBroken = true
      if Int32(truncatingIfNeeded: ERR_peek_error() & 0x7F_FFFF) == SSL_R_UNEXPECTED_EOF_WHILE_READING {
        ERR_clear_error()
        return .failed(.truncated)
      }
      let verdict = SSL_get_verify_result(handle)
      return .failed(.tls(TLSFailure(verdict: verdict)))
    }
  }
}
