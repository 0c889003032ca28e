// RSA keys and signatures: RFC 7515's own example, and both directions against the `openssl` command.

import Bytes
import Platform
import Testing

@Suite("RSA keys") struct RSAKeyTests {
  /// RFC 7515 appendix A.2: the JWS signing input, the key's numbers and the signature, all printed there.
  static let example = (
    input:
      "eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ",
    modulus: """
    ofgWCuLjybRlzo0tZWJjNiuSfb4p4fAkd_wWJcyQoTbji9k0l8W26mPddxHmfHQp-Vaw-4qPCJrcS2mJPMEzP1Pt0Bm4d4QlL-yRT-SFd2lZS-pCgNMs\
    D1W_YpRPEwOWvG6b32690r2jZ47soMZo9wGzjb_7OMg0LOL-bSf63kpaSHSXndS5z5rexMdbBYUsLA9e-KXBdQOS-UTo7WTBEMa2R2CapHg665xsmtdV\
    MTBQY4uDZlxvb3qCo5ZwKh9kG4LT6_I5IhlJH7aGhyxXFvUK-DWNmoudF8NAco9_h9iaGNj8q2ethFkMLs91kzk2PAcDTW9gb54h4FRWyuXpoQ
    """,
    signature: """
    cC4hiUPoj9Eetdgtv3hF80EGrhuB__dzERat0XF9g2VtQgr9PJbu3XOiZj5RZmh7AAuHIm4Bh-0Qc_lF5YKt_O8W2Fp5jujGbds9uJdbF9CUAr7t1dnZ\
    cAcQjbKBYNX4BAynRFdiuB--f_nZLgrnbyTyWzO75vRK5h6xBArLIARNPvkSjtQBMHlb1L07Qe7K0GarZRmB_eSN9383LcOLn6_dO--xi12jzDwusC-e\
    OkHWEsqtFZESc6BfI7noOPqvhJ1phCnvWh6IeYI2w9QOYEUipUTI8np6LbgGY9Fs98rqVt5AXLIhWkWywlVmtVrBp0igcN_IoypGlUPQGe77Rw
    """
  )

  /// One key for the tests that do not care which.
  static let key = Result { try RSAKey.generate() }

  @Test func `the example of RFC 7515 verifies, and no changed copy of it`() throws {
    let key = try RSAPublicKey(modulus: Base64URL.decode(Self.example.modulus), exponent: [1, 0, 1])
    let message = Array(Self.example.input.utf8)
    let signature = try Base64URL.decode(Self.example.signature)
    #expect(try key.verifies(signature, message, .rs256))
    #expect(try !key.verifies(signature, message, .ps256))
    for index in stride(from: 0, to: signature.count, by: 17) {
      var changed = signature
      changed[index] ^= 1
      #expect(try !key.verifies(changed, message, .rs256))
    }
    #expect(try !key.verifies(signature, Array("other".utf8), .rs256))
    #expect(try !key.verifies([], message, .rs256))
    #expect(try !key.verifies(signature + [0], message, .rs256))
  }

  @Test(arguments: RSASignatureAlgorithm.allCases)
  func `a key's numbers verify its signatures, and no other key's numbers do`(algorithm: RSASignatureAlgorithm) throws {
    let key = try Self.key.get()
    let message = Array("header.claims".utf8)
    let signature = try key.signature(of: message, algorithm)
    let numbers = try RSAPublicKey(modulus: [0] + key.publicKey.modulus, exponent: key.publicKey.exponent)
    #expect(signature.count == 256)
    #expect(try numbers.verifies(signature, message, algorithm))
    #expect(try !RSAKey.generate().publicKey.verifies(signature, message, algorithm))
  }

  @Test(arguments: [
    (RSASignatureAlgorithm.rs256, "-sigopt rsa_padding_mode:pkcs1"),
    (.ps256, "-sigopt rsa_padding_mode:pss -sigopt rsa_pss_saltlen:digest -sigopt rsa_mgf1_md:sha256"),
  ]) func `the openssl command verifies our signatures and we verify its`(
    algorithm: RSASignatureAlgorithm, options: String
  ) throws {
    let openssl = try OpenSSLCommand()
    let key = try Self.key.get()
    let message = Array("eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJhbGljZSJ9".utf8)
    try openssl.write(key.pem(), to: "key.pem")
    try openssl.write(message, to: "message")
    try openssl.write(key.signature(of: message, algorithm), to: "ours")
    let verified = try openssl.run("dgst -sha256 \(options) -prverify key.pem -signature ours message")
    #expect(verified.output.contains("Verified OK"))
    try #require(openssl.run("dgst -sha256 \(options) -sign key.pem -out theirs message").status == 0)
    #expect(try key.publicKey.verifies(openssl.read("theirs"), message, algorithm))
  }

  @Test(arguments: ["genrsa -traditional -out key.pem 2048", "genrsa -out key.pem 3072"])
  func `keys that the openssl command wrote are read with their numbers`(command: String) throws {
    let openssl = try OpenSSLCommand()
    try #require(openssl.run(command).status == 0)
    let key = try readKey(openssl.read("key.pem"))
    let printed = try openssl.run("rsa -in key.pem -noout -modulus").output
    let digits = key.publicKey.modulus.flatMap {
      [ASCII.upperHexadecimalDigit($0 >> 4), ASCII.upperHexadecimalDigit($0 & 0x0F)]
    }
    #expect(printed.contains("Modulus=\(String(decoding: digits, as: UTF8.self))\n"))
    #expect(key.publicKey.exponent == [1, 0, 1])
  }

  @Test func `a key written and read again is the same key`() throws {
    let key = try Self.key.get()
    #expect(try readKey(key.pem()).publicKey.modulus == key.publicKey.modulus)
  }

  @Test(arguments: [
    ("ecparam -name prime256v1 -genkey -noout -out key.pem", CryptoError.wrongKeyKind),
    ("genrsa -out key.pem 1024", .keyTooSmall(bits: 1024)),
  ]) func `keys that cannot sign are refused with the reason`(command: String, expected: CryptoError) throws {
    let openssl = try OpenSSLCommand()
    try #require(openssl.run(command).status == 0)
    let pem = try openssl.read("key.pem")
    #expect(throws: expected) { try readKey(pem) }
  }

  @Test func `an encrypted key is unreadable, and no prompt asks for its passphrase`() throws {
    let openssl = try OpenSSLCommand()
    try #require(openssl.run("genrsa -aes256 -passout pass:1234 -out key.pem 2048").status == 0)
    let pem = try openssl.read("key.pem")
    #expect(throws: CryptoError.self) { try readKey(pem) }
  }

  @Test(arguments: ["", "-----BEGIN PRIVATE KEY-----\n", "no key at all"])
  func `text without a key is unreadable`(text: String) {
    #expect(throws: CryptoError.self) { try readKey(Array(text.utf8)) }
  }

  @Test(
    arguments: [
      (255, [1, 0, 1]), (0, [1, 0, 1]), (4096, [1, 0, 1]), (256, []), (256, [1]), (256, [1, 0, 0]),
      (256, [3, 3, 3, 3, 3, 3, 3, 3, 3]),
    ] as [(Int, [UInt8])])
  func `public numbers out of range make no key`(modulusBytes: Int, exponent: [UInt8]) {
    #expect(throws: CryptoError.self) {
      try RSAPublicKey(modulus: [UInt8](repeating: 0xFF, count: modulusBytes), exponent: exponent)
    }
  }
}

private func readKey(_ pem: [UInt8]) throws -> RSAKey {
  try RSAKey(pem: pem.span)
}

extension RSAKey {
  fileprivate func signature(of message: [UInt8], _ algorithm: RSASignatureAlgorithm) throws -> [UInt8] {
    try signature(of: message.span, algorithm)
  }
}

extension RSAPublicKey {
  fileprivate func verifies(
    _ signature: [UInt8], _ message: [UInt8], _ algorithm: RSASignatureAlgorithm
  ) throws -> Bool {
    try verifies(signature.span, of: message.span, algorithm)
  }
}
