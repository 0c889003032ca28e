// Finds the ends of a WebSocket's frames, so that another frame can follow.
//
//     frame = FIN RSV opcode, MASK length-7 [ length-16 / length-64 ] [ masking-key ] payload     (RFC 6455 §5.2)

public import Bytes

/// The position of one direction of a WebSocket within its frames.
public struct WebSocketFrames: Sendable {
  private enum Part: UInt8, Sendable { case opcode, length, rest, payload }

  private var part = Part.opcode
  /// Bytes of the longer length and the key that are still to come, and how many of them are the length's.
  private var missing: UInt8 = 0
  private var lengthBytes: UInt8 = 0
  private var payload: UInt64 = 0
  /// True if the sender has sent a close frame.
  public private(set) var hasClosed = false

  /// A direction in which nothing has been sent.
  public init() {}

  /// True if only whole frames were sent.
  public var isBetweenFrames: Bool { part == .opcode }

  /// Advances over bytes that follow those before.
  public mutating func advance(over bytes: Span<UInt8>) {
    var index = 0
    while index < bytes.count {
      switch part {
      case .opcode:
        if bytes[index] & 0x0F == 8 { hasClosed = true }
        part = .length
        index += 1
      case .length:
        readLength(bytes[index])
        index += 1
      case .rest:
        if lengthBytes > 0 {
          payload = payload << 8 | UInt64(bytes[index])
          lengthBytes -= 1
        }
        missing -= 1
        if missing == 0 { beginPayload() }
        index += 1
      case .payload:
        let count = min(payload, UInt64(bytes.count - index))
        payload -= count
        index += Int(count)
        if payload == 0 { part = .opcode }
      }
    }
  }

  private mutating func readLength(_ byte: UInt8) {
    let length = byte & 0x7F
    lengthBytes = length == 126 ? 2 : length == 127 ? 8 : 0
    payload = lengthBytes == 0 ? UInt64(length) : 0
    missing = lengthBytes + (byte & 0x80 == 0 ? 0 : 4)
    part = .rest
    if missing == 0 { beginPayload() }
  }

  private mutating func beginPayload() { part = payload == 0 ? .opcode : .payload }

  /// Appends a frame that closes because this side goes away (status 1001, RFC 6455 §7.4.1). Frames to a server are
  /// masked.
  public static func writeGoingAway(mask: UInt32?, into buffer: inout ByteBuffer) {
    let status: [UInt8] = [0x03, 0xE9]
    buffer.append(0x88)
    guard let mask else {
      buffer.append(0x02)
      buffer.append(status)
      return
    }
    buffer.append(0x82)
    let key = (0..<4).map { UInt8(truncatingIfNeeded: mask >> (8 * $0)) }
    buffer.append(key)
    buffer.append([status[0] ^ key[0], status[1] ^ key[1]])
  }
}
