// base64url: one text for given bytes, and no other text for anything.

import Bytes
import Testing

@Suite("base64url") struct Base64URLTests {
  // RFC 4648 §10 without its padding, and the two characters that differ from base64.
  @Test(
    arguments: [
      ("", []), ("Zg", Array("f".utf8)), ("Zm8", Array("fo".utf8)), ("Zm9v", Array("foo".utf8)),
      ("Zm9vYg", Array("foob".utf8)), ("Zm9vYmE", Array("fooba".utf8)), ("Zm9vYmFy", Array("foobar".utf8)),
      ("-_8", [0xFB, 0xFF]), ("AA", [0]), ("_____w", [0xFF, 0xFF, 0xFF, 0xFF]),
    ] as [(String, [UInt8])]) func `text and bytes convert into each other`(text: String, bytes: [UInt8]) throws
  {
    #expect(Base64URL.encode(bytes) == text)
    #expect(try Base64URL.decode(text) == bytes)
  }

  @Test(arguments: [
    ("Zg==", Base64URLError.character(at: 2)), ("+/8", .character(at: 0)), ("Zm 9v", .character(at: 2)),
    ("Zm9v\n", .character(at: 4)), ("Zmé", .character(at: 2)), ("Z", .length), ("Zm9vY", .length),
    ("Zh", .trailingBits),
    ("Zm9", .trailingBits),
  ]) func `any other text is refused`(text: String, expected: Base64URLError) {
    #expect(throws: expected) { try Base64URL.decode(text) }
  }

  @Test func `every length survives the round trip`() throws {
    var bytes: [UInt8] = []
    for value in 0..<300 {
      #expect(try Base64URL.decode(Base64URL.encode(bytes)) == bytes)
      bytes.append(UInt8(truncatingIfNeeded: value &* 151 &+ 7))
    }
  }
}
