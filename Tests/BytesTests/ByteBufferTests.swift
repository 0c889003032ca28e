import Bytes
import Testing

@Suite struct ByteBufferTests {
  @Test func `bytes leave in the order in which they came, also when the storage moves`() {
    var buffer = ByteBuffer(capacity: 8)
    var sent: [UInt8] = []
    var received: [UInt8] = []
    for round in 0..<200 {
      let piece = (0..<round % 13).map { UInt8(truncatingIfNeeded: round &* 7 &+ $0) }
      buffer.append(piece)
      sent += piece
      let taken = min(buffer.count, round % 11)
      for index in 0..<taken { received.append(buffer.bytes[index]) }
      buffer.consume(taken)
    }
    for index in 0..<buffer.count { received.append(buffer.bytes[index]) }
    #expect(received == sent)
  }

  @Test func `offsets count from the first unread byte through growth and compaction`() {
    var buffer = ByteBuffer(capacity: 4)
    buffer.append("abcd")
    buffer.consume(2)
    buffer.reserve(2)
    #expect(buffer.capacity == 4 && buffer.bytes[0] == 0x63, "moved, not grown")
    buffer.append("efghijkl")
    #expect(buffer.bytes[0] == 0x63 && buffer.bytes[9] == 0x6C && buffer.count == 10)
  }

  @Test func `the last write can be undone`() {
    var buffer = ByteBuffer(capacity: 4)
    buffer.append("abcdef")
    buffer.consume(1)
    buffer.truncate(to: 3)
    buffer.append("x")
    #expect(text(buffer) == "bcdx")
    buffer.truncate(to: 0)
    #expect(buffer.count == 0)
  }

  @Test(arguments: [0, 0x9, 0xA, 0x0123_4567_89AB_CDEF, 0xFEDC_BA98_7654_3210, .max] as [UInt64], 1...16)
  func `as many low hexadecimal digits are written as are asked for, and nothing behind them`(
    number: UInt64, digits: Int
  ) {
    var buffer = ByteBuffer(capacity: 2)
    buffer.append(ASCII.dash)
    buffer.append(hexadecimal: number, digits: digits)
    buffer.append(ASCII.colon, ASCII.dot)
    let all = String(repeating: "0", count: 16) + String(number, radix: 16)
    #expect(text(buffer) == "-\(all.suffix(digits)):.")
  }

  @Test(arguments: 0...40) func `a field line is written whole, however little room there was`(count: Int) {
    let value = (0..<count).map { UInt8(ascii: "a") + UInt8($0 % 26) }
    var buffer = ByteBuffer(capacity: 20)
    buffer.append("-")
    buffer.append(field: "Name", value.span)
    buffer.append(ASCII.dot)
    #expect(text(buffer) == "-Name: \(String(decoding: value, as: UTF8.self))\r\n.")
  }

  @Test func `a byte has two hexadecimal digits`() {
    #expect(ASCII.hexadecimalDigits(of: [0x00, 0x0F, 0xA5, 0xFF]) == Array("000fa5ff".utf8))
  }

  @Test func `numbers are written in decimal and hexadecimal`() {
    var buffer = ByteBuffer(capacity: 1)
    for number in [0, 9, 10, 255, 1_000_000, UInt64.max] {
      buffer.append(decimal: number)
      buffer.append(0x20)
      buffer.append(hexadecimal: number)
      buffer.append(0x20)
    }
    #expect(text(buffer) == "0 0 9 9 10 a 255 ff 1000000 f4240 18446744073709551615 ffffffffffffffff ")
  }

  @Test func `a reader writes at most what there is room for`() {
    var buffer = ByteBuffer(capacity: 16)
    let written = buffer.withWritableBytes { space in
      #expect(space.count == 16)
      return 0
    }
    #expect(written == 0 && buffer.isEmpty && buffer.writableCount == 16)
    #expect(buffer.withWritableBytes { _ in -1 } == -1 && buffer.isEmpty)
  }
}

private func text(_ buffer: borrowing ByteBuffer) -> String {
  buffer.withReadableBytes { String(decoding: $0, as: UTF8.self) }
}
