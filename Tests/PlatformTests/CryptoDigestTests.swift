// Against FIPS 180-4's own examples.

import Bytes
import Platform
import Testing

@Suite("Digests") struct CryptoDigestTests {
  struct Case: Sendable, CustomTestStringConvertible {
    var testDescription: String
    var input: String
    var sha256: String
  }

  static let cases: [Case] = [
    Case(
      testDescription: "nothing", input: "",
      sha256: "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
    Case(
      testDescription: "one block", input: "abc",
      sha256: "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
    Case(
      testDescription: "two blocks", input: "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
      sha256: "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"),
    Case(
      testDescription: "a million bytes", input: String(repeating: "a", count: 1_000_000),
      sha256: "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"),
  ]

  @Test(arguments: cases) func `whole input has the digest the standard prints`(row: Case) throws {
    #expect(try hexadecimal(SHA256.digest(of: Array(row.input.utf8))) == row.sha256)
    let digester = TokenDigester()
    for _ in 0..<3 { #expect(try hexadecimal(digester.digest(of: Array(row.input.utf8).span).bytes) == row.sha256) }
  }

  @Test(arguments: cases, [1, 7, 64, 4096]) func `pieces have the digest of the whole`(row: Case, size: Int) throws {
    var running = try RunningDigest()
    let bytes = Array(row.input.utf8)
    for start in stride(from: 0, to: bytes.count, by: size) {
      try running.update(bytes.span.extracting(start..<min(start + size, bytes.count)))
    }
    #expect(try hexadecimal(running.finish()) == row.sha256)
  }

  @Test func `random bytes are as many as asked for and never repeat`() throws {
    #expect(try RandomBytes.make(0).isEmpty)
    var seen: Set<[UInt8]> = []
    for _ in 0..<1000 { seen.insert(try RandomBytes.make(16)) }
    #expect(seen.count == 1000)
    #expect(seen.allSatisfy { $0.count == 16 })
  }

  @Test(arguments: [
    ("", "", true), ("a", "a", true), ("secret", "secret", true), ("secret", "secreT", false),
    ("secret", "Secret", false),
    ("secret", "secre", false), ("", "a", false), ("a\u{0}b", "a\u{0}c", false),
  ]) func `two secrets are equal when every byte is`(left: String, right: String, equal: Bool) {
    #expect(constantTimeEqual(Array(left.utf8).span, Array(right.utf8).span) == equal)
  }
}

func hexadecimal(_ bytes: [UInt8]) -> String {
  bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
}
