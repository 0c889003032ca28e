@testable import Bytes
import Testing

@Suite struct ProtobufTests {
  private static func fields(_ bytes: [UInt8]) throws(ProtobufError) -> [ProtobufField] {
    var reader = ProtobufReader(bytes[...])
    var fields: [ProtobufField] = []
    while let field = try reader.next() { fields.append(field) }
    return fields
  }

  @Test(
    arguments: [
      ([], []), ([0x08, 0x96, 0x01], [ProtobufField(number: 1, value: .number(150))]),
      ([0x12, 0x02, 0x68, 0x69], [ProtobufField(number: 2, value: .bytes([0x68, 0x69]))]),
      ([0x12, 0x00], [ProtobufField(number: 2, value: .bytes([]))]),
      (
        [0x09, 1, 2, 3, 4, 5, 6, 7, 8, 0x15, 1, 2, 3, 4],
        [ProtobufField(number: 1, value: .fixed), ProtobufField(number: 2, value: .fixed)]
      ),
      ([0xF8, 0xFF, 0xFF, 0xFF, 0x0F, 0x01], [ProtobufField(number: 0x1FFF_FFFF, value: .number(1))]),
      // A number may be longer than it needs to be.
      ([0x88, 0x80, 0x00, 0x81, 0x00], [ProtobufField(number: 1, value: .number(1))]),
      (
        [0x08, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x01],
        [ProtobufField(number: 1, value: .number(.max))]
      ),
    ] as [([UInt8], [ProtobufField])])
  func `fields are read in their order`(bytes: [UInt8], expected: [ProtobufField]) throws {
    #expect(try Self.fields(bytes) == expected)
  }

  @Test(
    arguments: [
      ([0x08], .cut), ([0x80], .cut), ([0x12, 0x02, 0x68], .cut), ([0x09, 1, 2, 3], .cut), ([0x15, 1, 2, 3], .cut),
      ([0x12, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x01], .cut),
      ([0x12, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x7F], .cut), ([0x00, 0x00], .tag),
      ([0x0B, 0x0C], .tag), ([0x0C], .tag), ([0x0E], .tag), ([0x0F], .tag),
      ([0x80, 0x80, 0x80, 0x80, 0x10, 0x00], .tag),
      ([0x08, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x02], .number),
      ([0x08, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x00], .number),
    ] as [([UInt8], ProtobufError)])
  func `bytes that are no message are refused`(bytes: [UInt8], error: ProtobufError) {
    #expect(throws: error) { try Self.fields(bytes) }
  }

  @Test func `what is written is read again`() throws {
    var writer = ProtobufWriter()
    writer.number(1, 300)
    writer.number(2, 0)
    writer.bytes(3, [UInt8](repeating: 7, count: 200))
    writer.message(16) { $0.bytes(1, "ä".utf8) }
    let fields = try Self.fields(writer.bytes)
    #expect(fields.map(\.number) == [1, 3, 16])
    #expect(fields[0].value == .number(300))
    #expect(try fields[1].bytes().count == 200)
    #expect(try Self.fields(Array(fields[2].bytes()))[0].text() == "ä")
    #expect(throws: ProtobufError.type) { try fields[0].bytes() }
    #expect(throws: ProtobufError.text) { try ProtobufField(number: 1, value: .bytes([0xC0])).text() }
  }
}
