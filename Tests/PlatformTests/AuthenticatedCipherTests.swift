// XAES-256-GCM against the examples of its specification (c2sp.org/XAES-256-GCM).

import Bytes
import Platform
import Testing

@Suite("Authenticated encryption") struct AuthenticatedCipherTests {
  /// An example: the byte of which the key consists, the bound bytes, and the result.
  struct Example: Sendable {
    var key: UInt8
    var bound: String
    var sealed: String
  }

  static let examples = [
    // The first subkey's top bit is clear in one and set in the other.
    Example(key: 1, bound: "", sealed: "ce546ef63c9cc60765923609b33a9a1974e96e52daf2fcf7075e2271"),
    Example(key: 3, bound: "c2sp.org/XAES-256-GCM", sealed: "986ec1832593df5443a179437fd083bf3fdb41abd740a21f71eb769d"),
  ]

  let key = [UInt8](repeating: 3, count: AuthenticatedCipher.keyCount)
  let nonce = Array("ABCDEFGHIJKLMNOPQRSTUVWX".utf8)
  let bound = Array("c2sp.org/XAES-256-GCM".utf8)
  let text = Array("XAES-256-GCM".utf8)

  private static func bytes(_ text: String) -> [UInt8] {
    stride(from: 0, to: text.utf8.count, by: 2).compactMap { UInt8(text.dropFirst($0).prefix(2), radix: 16) }
  }

  @Test(arguments: examples) func `the published examples`(example: Example) throws {
    let key = [UInt8](repeating: example.key, count: AuthenticatedCipher.keyCount)
    let (bound, sealed) = (Array(example.bound.utf8), Self.bytes(example.sealed))
    #expect(try AuthenticatedCipher.seal(text, key: key.span, nonce: nonce, bound: bound) == sealed)
    #expect(try AuthenticatedCipher.open(sealed[...], key: key.span, nonce: nonce, bound: bound) == text)
  }

  @Test func `an empty text has a tag, too`() throws {
    let form = try AuthenticatedCipher.seal([], key: key.span, nonce: nonce, bound: bound)
    #expect(form.count == AuthenticatedCipher.tagCount)
    #expect(try AuthenticatedCipher.open(form[...], key: key.span, nonce: nonce, bound: bound) == [])
    #expect(try AuthenticatedCipher.open(form[...], key: key.span, nonce: nonce, bound: []) == nil)
  }

  @Test func `each changed byte, and each cut, is noticed`() throws {
    func open(_ sealed: [UInt8], key: [UInt8], nonce: [UInt8], bound: [UInt8]) throws -> [UInt8]? {
      try AuthenticatedCipher.open(sealed[...], key: key.span, nonce: nonce, bound: bound)
    }
    func flipped(_ bytes: [UInt8], _ index: Int) -> [UInt8] {
      var bytes = bytes
      bytes[index] ^= 1
      return bytes
    }
    let sealed = try AuthenticatedCipher.seal(text, key: key.span, nonce: nonce, bound: bound)
    for index in sealed.indices {
      #expect(try open(flipped(sealed, index), key: key, nonce: nonce, bound: bound) == nil)
      #expect(try open(Array(sealed[..<index]), key: key, nonce: nonce, bound: bound) == nil)
    }
    for index in key.indices { #expect(try open(sealed, key: flipped(key, index), nonce: nonce, bound: bound) == nil) }
    for index in nonce.indices {
      #expect(try open(sealed, key: key, nonce: flipped(nonce, index), bound: bound) == nil)
    }
    for index in bound.indices {
      #expect(try open(sealed, key: key, nonce: nonce, bound: flipped(bound, index)) == nil)
    }
  }
}
