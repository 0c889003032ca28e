import Bytes
import Testing

@testable import HTTP

@Suite struct ByteClassTests {
  private static func isAlphaNumeric(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
    default: false
    }
  }

  private static func isOne(_ byte: UInt8, of set: String) -> Bool { set.utf8.contains(byte) }

  @Test(arguments: 0...255)
  func `every entry is what the RFCs' grammars say`(value: Int) {
    let byte = UInt8(value)
    let unreserved = Self.isAlphaNumeric(byte) || Self.isOne(byte, of: "-._~")
    let hexadecimal = Self.isOne(byte, of: "0123456789abcdefABCDEF")
    let printable = byte > 0x20 && byte < 0x7F
    #expect(
      ByteClass.of(byte, ByteClass.token) == (Self.isAlphaNumeric(byte) || Self.isOne(byte, of: "!#$%&'*+-.^_`|~")))
    #expect(ByteClass.of(byte, ByteClass.target) == (printable && !Self.isOne(byte, of: "#")))
    #expect(ByteClass.of(byte, ByteClass.value) == (byte == 0x09 || byte >= 0x20 && byte != 0x7F))
    #expect(ByteClass.of(byte, ByteClass.hexadecimal) == hexadecimal)
    #expect(ByteClass.of(byte, ByteClass.name) == (unreserved || Self.isOne(byte, of: "!$&'()*+,;=")))
    #expect(ByteClass.of(byte, ByteClass.segment) == (printable && !Self.isOne(byte, of: "#%/\\?")))
    #expect(ByteClass.of(byte, ByteClass.unreserved) == unreserved)
    #expect(ByteClass.of(byte, ByteClass.whitespace) == (byte == 0x20 || byte == 0x09))
    #expect((ASCII.hexadecimalValue(byte) != nil) == hexadecimal)
    #expect(ASCII.lowered(byte) == (byte >= 0x41 && byte <= 0x5A ? byte + 0x20 : byte))
  }

  @Test func `hexadecimal digits have their values in either case`() {
    for (index, digit) in "0123456789abcdef".utf8.enumerated() {
      #expect(ASCII.hexadecimalValue(digit) == UInt8(index))
    }
    for (index, digit) in "ABCDEF".utf8.enumerated() {
      #expect(ASCII.hexadecimalValue(digit) == UInt8(index) + 10)
    }
  }
}
