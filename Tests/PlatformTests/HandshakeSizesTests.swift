import Testing

@testable import Platform

@Suite struct HandshakeSizesTests {
  private static func record(_ type: UInt8, _ content: [UInt8]) -> [UInt8] {
    [type, 3, 1, UInt8(content.count >> 8), UInt8(content.count & 0xFF)] + content
  }

  private static func message(_ type: UInt8, declares count: Int, has: Int? = nil) -> [UInt8] {
    [type, UInt8(count >> 16), UInt8(count >> 8 & 0xFF), UInt8(count & 0xFF)]
      + [UInt8](repeating: 0xFF, count: has ?? count)
  }

  private static let cases: [(name: String, bytes: [UInt8], isAllowed: Bool)] = [
    ("nothing", [], true),
    ("a hello", record(22, message(1, declares: 512)), true),
    ("two messages of one record", record(22, message(1, declares: 5) + message(16, declares: 7)), true),
    ("a large one behind it", record(22, message(1, declares: 5) + message(11, declares: 20_000, has: 9)), false),
    ("the largest that is allowed", record(22, message(1, declares: HandshakeSizes.limit, has: 100)), true),
    ("one byte more", record(22, message(1, declares: HandshakeSizes.limit + 1, has: 0)), false),
    ("as much as OpenSSL takes", record(22, message(1, declares: 131_000, has: 100)), false),
    ("a length in two records", record(22, [1, 2]) + record(22, [0, 0]), false),
    (
      "a message in two records",
      record(22, message(1, declares: 20, has: 10)) + record(22, [UInt8](repeating: 9, count: 10)), true
    ),
    (
      "a second hello, after a change of cipher",
      record(22, message(1, declares: 8)) + record(20, [1]) + record(22, message(1, declares: 70_000, has: 1)), false
    ),
    ("empty records", record(22, []) + record(22, []) + record(22, message(1, declares: 99_999, has: 0)), false),
    ("encrypted records", record(23, message(1, declares: 99_999, has: 0)), true),
    ("an alert", record(21, [2, 40]) + record(22, message(1, declares: 3)), true),
    ("plain HTTP", Array("GET / HTTP/1.1\r\n\r\n".utf8), true),
  ]

  @Test(arguments: cases, [1, 2, 3, 7, 100_000])
  func `a handshake message that declares too much is found, however it arrives`(
    _ row: (name: String, bytes: [UInt8], isAllowed: Bool), _ step: Int
  ) {
    var sizes = HandshakeSizes()
    var isAllowed = true
    for start in stride(from: 0, to: row.bytes.count, by: step) where isAllowed {
      isAllowed = row.bytes[start..<min(start + step, row.bytes.count)].withUnsafeBytes {
        sizes.allow($0, isTLS13: true)
      }
    }
    #expect(isAllowed == row.isAllowed, "\(row.name)")
  }

  @Test(arguments: [1, 2, 3, 7, 100_000])
  func `before TLS 1.3, what follows the change of cipher is encrypted`(step: Int) {
    var sizes = HandshakeSizes()
    let finished = Self.record(22, [UInt8](repeating: 0xFE, count: 40))
    let bytes = Self.record(22, Self.message(1, declares: 200)) + Self.record(20, [1]) + finished
    for start in stride(from: 0, to: bytes.count, by: step) {
      let part = bytes[start..<min(start + step, bytes.count)]
      #expect(part.withUnsafeBytes { sizes.allow($0, isTLS13: false) })
    }
  }
}
