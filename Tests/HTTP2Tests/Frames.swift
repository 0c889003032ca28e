// Frames as a peer sends them, right and wrong, written by hand: header blocks without Huffman codes and without a
// table.

/// Writes frames.
enum Frame {
  static let preface = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)

  static func frame(_ type: UInt8, flags: UInt8 = 0, stream: UInt32 = 0, _ payload: [UInt8] = []) -> [UInt8] {
    let count = payload.count
    return [UInt8(truncatingIfNeeded: count >> 16), UInt8(truncatingIfNeeded: count >> 8), UInt8(count & 0xFF)]
      + [type, flags] + number(stream) + payload
  }

  static func number(_ value: UInt32) -> [UInt8] {
    [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value >> $0) }
  }

  static func data(_ stream: UInt32, _ text: [UInt8], ends: Bool = false) -> [UInt8] {
    frame(0, flags: ends ? 1 : 0, stream: stream, text)
  }

  static func headers(
    _ stream: UInt32, _ fields: [(String, String)], ends: Bool = true, complete: Bool = true
  ) -> [UInt8] {
    frame(1, flags: (ends ? 1 : 0) | (complete ? 4 : 0), stream: stream, block(fields))
  }

  static func request(
    _ stream: UInt32, method: String = "GET", _ more: [(String, String)] = [], ends: Bool = true,
    pseudo: [(String, String)] = []
  ) -> [UInt8] {
    headers(
      stream,
      [(":method", method), (":scheme", "http"), (":authority", "h"), (":path", "/\(stream)")] + pseudo + more,
      ends: ends)
  }

  static func reset(_ stream: UInt32, _ code: UInt32 = 8) -> [UInt8] { frame(3, stream: stream, number(code)) }
  static func goaway(_ last: UInt32, _ code: UInt32 = 0) -> [UInt8] { frame(7, number(last) + number(code)) }
  static let settings = frame(4)
  static let settingsAnswer = frame(4, flags: 1)
  static func setting(_ id: UInt16, _ value: UInt32) -> [UInt8] {
    frame(4, [UInt8(id >> 8), UInt8(id & 0xFF)] + number(value))
  }
  static let ping = frame(6, [1, 2, 3, 4, 5, 6, 7, 8])
  static func window(_ stream: UInt32, _ increment: UInt32) -> [UInt8] { frame(8, stream: stream, number(increment)) }
  static func priority(_ stream: UInt32) -> [UInt8] { frame(2, stream: stream, number(0) + [16]) }
  static func continuation(_ stream: UInt32, _ fields: [(String, String)], complete: Bool = false) -> [UInt8] {
    frame(9, flags: complete ? 4 : 0, stream: stream, block(fields))
  }

  /// A header block of literal fields.
  static func block(_ fields: [(String, String)], indexed: Bool = false) -> [UInt8] {
    fields.flatMap { [indexed ? 0x40 : 0] + string($0.0) + string($0.1) }
  }

  private static func string(_ text: String) -> [UInt8] {
    let bytes = text.unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) }
    if bytes.count < 127 { return [UInt8(bytes.count)] + bytes }
    var (length, rest) = ([UInt8(127)], bytes.count - 127)
    while rest >= 128 {
      length.append(UInt8(rest & 127) | 128)
      rest >>= 7
    }
    return length + [UInt8(rest)] + bytes
  }
}

/// The frames in what a session sends.
struct SentFrame: Equatable {
  var type: UInt8
  var flags: UInt8
  var stream: UInt32
  var payload: [UInt8]

  var code: UInt32 {
    let offset = type == 7 ? 4 : 0
    return payload.dropFirst(offset).prefix(4).reduce(0) { $0 << 8 | UInt32($1) }
  }

  static func all(_ bytes: [UInt8]) -> [SentFrame] {
    var (frames, rest) = ([SentFrame](), bytes[...])
    while rest.count >= 9 {
      let head = Array(rest.prefix(9))
      let count = Int(head[0]) << 16 | Int(head[1]) << 8 | Int(head[2])
      let stream = head[5...].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
      let payload = Array(rest.dropFirst(9).prefix(count))
      frames.append(SentFrame(type: head[3], flags: head[4], stream: stream, payload: payload))
      rest = rest.dropFirst(9 + count)
    }
    return frames
  }
}
