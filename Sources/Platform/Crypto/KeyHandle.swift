internal import COpenSSL

/// A counted reference to an `EVP_PKEY`.
///
/// `@unchecked Sendable`: nothing changes the key after `init`; OpenSSL counts its references atomically and allows
/// concurrent use as long as each operation has a context of its own, which every operation here creates.
package final class KeyHandle: @unchecked Sendable {
  package let pointer: OpaquePointer

  /// Takes over a reference.
  init(owning pointer: OpaquePointer) {
    self.pointer = pointer
  }

  deinit {
    EVP_PKEY_free(pointer)
  }

  /// Makes a new key of `kind`, after `configure` has prepared the context (1: success).
  package static func generate(
    _ kind: String, configure: (OpaquePointer) -> Int32
  ) throws(CryptoError) -> KeyHandle {
    guard let context = EVP_PKEY_CTX_new_from_name(nil, kind, nil) else {
      throw .unavailable(reason: takeOpenSSLReason())
    }
    defer { EVP_PKEY_CTX_free(context) }
    var key: OpaquePointer?
    guard EVP_PKEY_keygen_init(context) == 1, configure(context) == 1, EVP_PKEY_generate(context, &key) == 1, let key
    else { throw .unavailable(reason: takeOpenSSLReason()) }
    return KeyHandle(owning: key)
  }

  /// Reads a PEM private key. A passphrase is never asked for: an encrypted key is unreadable.
  convenience init(pem: Span<UInt8>) throws(CryptoError) {
    var passphrase = Passphrase(nil)
    guard let key = Self.read(pem, &passphrase) else { throw .unreadableKey(reason: takeOpenSSLReason()) }
    self.init(owning: key)
  }

  /// The passphrase of an encrypted key, and a flag: OpenSSL asked for it.
  struct Passphrase {
    let bytes: [UInt8]?
    private(set) var wasNeeded = false

    init(_ bytes: [UInt8]?) {
      self.bytes = bytes
    }

    /// OpenSSL's `pem_password_cb`: writes the passphrase to `buffer` and returns its length; below 0: no passphrase.
    fileprivate mutating func write(to buffer: UnsafeMutablePointer<CChar>?, limit: Int32) -> Int32 {
      wasNeeded = true
      guard let bytes, let buffer, bytes.count <= Int(limit) else { return -1 }
      for (index, byte) in bytes.enumerated() { buffer[index] = CChar(bitPattern: byte) }
      return Int32(bytes.count)
    }
  }

  /// Reads the first private key of a PEM text; nil, with OpenSSL's reasons in its queue, if there is none.
  static func read(_ pem: Span<UInt8>, _ passphrase: inout Passphrase) -> OpaquePointer? {
    ERR_clear_error()
    return pem.withUnsafeBufferPointer { bytes -> OpaquePointer? in
      guard let input = BIO_new_mem_buf(bytes.baseAddress, Int32(clamping: bytes.count)) else { return nil }
      defer { BIO_free(input) }
      return withUnsafeMutablePointer(to: &passphrase) { passphrase in
        PEM_read_bio_PrivateKey(
          input, nil,
          { buffer, size, _, context in
            context?.assumingMemoryBound(to: Passphrase.self).pointee.write(to: buffer, limit: size) ?? -1
          }, passphrase)
      }
    }
  }

  /// A signature over the digest of `message`, in OpenSSL's form. `configure` prepares the context (1: success).
  func signature(
    of message: Span<UInt8>, digest: OpaquePointer? = EVP_sha256(), configure: (OpaquePointer?) -> Int32 = { _ in 1 }
  ) throws(CryptoError) -> [UInt8] {
    guard let context = EVP_MD_CTX_new() else { throw .unavailable(reason: takeOpenSSLReason()) }
    defer { EVP_MD_CTX_free(context) }
    var keyContext: OpaquePointer?
    guard EVP_DigestSignInit(context, &keyContext, digest, nil, pointer) == 1, configure(keyContext) == 1
    else { throw .signing(reason: takeOpenSSLReason()) }
    var count = Int(EVP_PKEY_get_size(pointer))
    var signature = [UInt8](repeating: 0, count: count)
    let status = message.withUnsafeBufferPointer { message in
      EVP_DigestSign(context, &signature, &count, message.baseAddress, message.count)
    }
    guard status == 1 else { throw .signing(reason: takeOpenSSLReason()) }
    signature.removeLast(signature.count - count)
    return signature
  }

  /// The private key as PEM (PKCS #8, not encrypted).
  package func pem() throws(CryptoError) -> [UInt8] {
    guard let text = writtenBytes({ PEM_write_bio_PKCS8PrivateKey($0, pointer, nil, nil, 0, nil, nil) }) else {
      throw .unavailable(reason: takeOpenSSLReason())
    }
    return text
  }
}

/// The bytes that `write` puts into a memory BIO; nil if it does not return 1.
package func writtenBytes(_ write: (OpaquePointer) -> Int32) -> [UInt8]? {
  guard let output = BIO_new(BIO_s_mem()) else { return nil }
  defer { BIO_free(output) }
  guard write(output) == 1 else { return nil }
  var bytes = [UInt8](repeating: 0, count: BIO_ctrl_pending(output))
  var count = 0
  guard BIO_read_ex(output, &bytes, bytes.count, &count) == 1, count == bytes.count else { return nil }
  return bytes
}
