// OpenSSL's access to the socket: a BIO over a session's channel that knows the channel's latched readiness, so that a
// record boundary never costs a useless system call.

internal import COpenSSL
internal import CSystem
internal import Glibc

enum TLSTransport {
  /// The method table is made once and never freed; OpenSSL only reads it.
  private nonisolated(unsafe) static let method: OpaquePointer? = {
    let method = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "channel")
    BIO_meth_set_create(method, create)
    BIO_meth_set_read(method, read)
    BIO_meth_set_write(method, write)
    BIO_meth_set_ctrl(method, control)
    return method
  }()

  /// A BIO that reads and writes the channel of `session`, which must outlive it.
  static func makeBIO(_ session: TLSSession) -> OpaquePointer? {
    guard let bio = BIO_new(method) else { return nil }
    BIO_set_data(bio, Unmanaged.passUnretained(session).toOpaque())
    return bio
  }

  private static let endOfFileFlag: Int32 = 0x800

  private static func session(_ bio: OpaquePointer?) -> TLSSession? {
    BIO_get_data(bio).map { Unmanaged<TLSSession>.fromOpaque($0).takeUnretainedValue() }
  }

  private static let create: @convention(c) (OpaquePointer?) -> Int32 = { bio in
    BIO_set_init(bio, 1)
    return 1
  }

  private static let read: @convention(c) (OpaquePointer?, UnsafeMutablePointer<CChar>?, Int32) -> Int32 = {
    bio, buffer, count in
    copenssl_bio_clear_retry(bio)
    guard let session = session(bio) else { return -1 }
    let channel = session.channel
    while channel.ready.contains(.read) {
      let received = Int(csystem_receive(channel.descriptor, buffer, UInt64(count)))
      if received > 0 {
        if received < Int(count) { channel.nothingMoreToRead() }
        if !session.allows(UnsafeRawBufferPointer(start: buffer, count: received)) {
          errno = EMSGSIZE
          return -1
        }
        return Int32(received)
      }
      if received == 0 {
        BIO_set_flags(bio, endOfFileFlag)
        errno = 0
        return 0
      }
      if errno == EINTR { continue }
      if errno != EAGAIN { return -1 }
      channel.ready.remove(.read)
    }
    copenssl_bio_set_retry_read(bio)
    return -1
  }

  private static let write: @convention(c) (OpaquePointer?, UnsafePointer<CChar>?, Int32) -> Int32 = {
    bio, bytes, count in
    copenssl_bio_clear_retry(bio)
    guard let channel = session(bio)?.channel else { return -1 }
    while channel.ready.contains(.write) {
      let sent = Int(csystem_send(channel.descriptor, bytes, UInt64(count)))
      if sent >= 0 {
        if sent < Int(count) { channel.ready.remove(.write) }
        return Int32(sent)
      }
      if errno == EINTR { continue }
      if errno != EAGAIN { return -1 }
      channel.ready.remove(.write)
    }
    copenssl_bio_set_retry_write(bio)
    return -1
  }

  private static let control: @convention(c) (OpaquePointer?, Int32, Int, UnsafeMutableRawPointer?) -> Int = {
    bio, command, _, _ in
    switch command {
    case BIO_CTRL_FLUSH, BIO_CTRL_DUP: 1
    case BIO_CTRL_EOF: BIO_test_flags(bio, endOfFileFlag) != 0 ? 1 : 0
    default: 0
    }
  }
}
