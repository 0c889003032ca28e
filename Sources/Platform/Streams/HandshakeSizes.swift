// Limits the handshake messages of a caller: OpenSSL allocates the length that a message declares, up to 130 KiB,
// before it has arrived.

/// Follows the records of a peer's handshake as they arrive, as long as they are not encrypted.
struct HandshakeSizes {
  /// Maximum bytes of a handshake message: OpenSSL's initial buffer. Clients send up to 2 KiB.
  static let limit = 16 * 1024 - 4

  private enum Place {
    /// In the five bytes before a record: so many have arrived.
    case recordHeader(Int)
    case handshake
    case other
    /// Encrypted, or no TLS: left to OpenSSL.
    case unknown
  }

  private var place = Place.recordHeader(0)
  private var recordType: UInt8 = 0
  private var recordLeft = 0
  /// Bytes of a message's header that have arrived, and the length that they declare.
  private var messageHeader = 0
  private var declared = 0
  private var messageLeft = 0

  private static let changeCipherSpec: UInt8 = 20
  private static let alert: UInt8 = 21
  private static let handshake: UInt8 = 22

  /// Reads the next bytes. False: a message declares more than the limit.
  /// - Parameter isTLS13: the peers have agreed on TLS 1.3. In earlier versions messages are encrypted after the change
  ///   of cipher; in this one that record means nothing, and another hello may follow it (RFC 8446 §D.4).
  mutating func allow(_ bytes: UnsafeRawBufferPointer, isTLS13: Bool) -> Bool {
    var index = 0
    while index < bytes.count {
      switch place {
      case .unknown: return true
      case .recordHeader(let count):
        let byte = bytes[index]
        index += 1
        // RFC 8446 §5.1: type, version (two bytes), length (two bytes).
        if count == 0 { recordType = byte }
        if count >= 3 { recordLeft = recordLeft << 8 | Int(byte) }
        if count < 4 { place = .recordHeader(count + 1) } else { beginRecord() }
      case .other:
        index += skip(bytes.count - index)
        if recordLeft == 0 {
          place = recordType == Self.changeCipherSpec && !isTLS13 ? .unknown : .recordHeader(0)
        }
      case .handshake:
        if messageLeft > 0 {
          let count = min(messageLeft, bytes.count - index, recordLeft)
          messageLeft -= count
          recordLeft -= count
          index += count
        } else {
          // RFC 8446 §4: type, length (three bytes).
          if messageHeader > 0 { declared = declared << 8 | Int(bytes[index]) }
          messageHeader += 1
          recordLeft -= 1
          index += 1
          if messageHeader == 4 {
            if declared > Self.limit { return false }
            (messageLeft, messageHeader, declared) = (declared, 0, 0)
          }
        }
        if recordLeft == 0 { place = .recordHeader(0) }
      }
    }
    return true
  }

  private mutating func beginRecord() {
    switch recordType {
    case Self.handshake: place = .handshake
    case Self.changeCipherSpec, Self.alert: place = .other
    default: place = .unknown
    }
    if case .unknown = place { return }
    if recordLeft == 0 { place = .recordHeader(0) }
  }

  private mutating func skip(_ available: Int) -> Int {
    let count = min(recordLeft, available)
    recordLeft -= count
    return count
  }
}
