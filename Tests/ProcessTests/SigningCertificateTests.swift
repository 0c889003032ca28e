// Certificates with keys as operators have them: PEM and PKCS #12, encrypted and not, right and wrong. What is signed
// is verified by the `openssl` command.

import FoundationEssentials
import TestSupport
import Testing

@testable import Platform

@Suite("Certificates that sign") struct SigningCertificateTests {
  private static let folder = testsDirectory + "/Fixtures/certificates/"
  static let passphrase = Array("orders-passphrase".utf8)

  private static func file(_ name: String) throws -> [UInt8] {
    try Array(Data(contentsOf: URL(filePath: folder + name)))
  }

  private static func hex(_ bytes: [UInt8]) -> String {
    bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
  }

  /// A certificate's file, its key's, a passphrase; what the key signs with, the certificates, the digest.
  struct Pair: Sendable {
    let certificate: String
    var key: String?
    var passphrase: [UInt8]?
    let schemes: [SignatureScheme]
    let count: Int
    let sha256: String

    func load() throws -> SigningCertificate {
      let certificate = try SigningCertificateTests.file(self.certificate)
      guard let key else { return try SigningCertificate(archive: certificate, passphrase: passphrase) }
      return try SigningCertificate(
        pem: certificate, key: SigningCertificateTests.file(key), passphrase: passphrase)
    }
  }

  static let ec = "a0600364e4aa9b35ba7981806727be4ed3ad06cbdc2e3c743d416c327633d935"
  static let rsa = "98c1967011afe69928ff2a278ce0ed45096695e5041667e597230335f8d4cc4a"
  static let rsaSchemes: [SignatureScheme] = [.rsa(.ps256), .rsa(.rs256)]

  static let pairs = [
    Pair(certificate: "ec.pem", key: "ec.key", schemes: [.ecdsa(.p256)], count: 1, sha256: ec),
    // A passphrase that is not needed changes nothing.
    Pair(certificate: "ec.pem", key: "ec.key", passphrase: [1], schemes: [.ecdsa(.p256)], count: 1, sha256: ec),
    Pair(
      certificate: "ec.pem", key: "ec-encrypted.key", passphrase: passphrase, schemes: [.ecdsa(.p256)], count: 1,
      sha256: ec),
    Pair(certificate: "rsa.pem", key: "rsa.key", schemes: rsaSchemes, count: 2, sha256: rsa),
    Pair(certificate: "ec.pfx", passphrase: passphrase, schemes: [.ecdsa(.p256)], count: 1, sha256: ec),
    Pair(certificate: "ec-no-passphrase.pfx", schemes: [.ecdsa(.p256)], count: 1, sha256: ec),
    Pair(certificate: "ec-no-passphrase.pfx", passphrase: [], schemes: [.ecdsa(.p256)], count: 1, sha256: ec),
    Pair(certificate: "rsa.pfx", passphrase: passphrase, schemes: rsaSchemes, count: 2, sha256: rsa),
    Pair(
      certificate: "p384.pem", key: "p384.key", schemes: [.ecdsa(.p384)], count: 1,
      sha256: "6670a2470fe93529cff7c132eaa7b86787f673d540f0b2d779d905c7be86cffc"),
    Pair(
      certificate: "p521.pem", key: "p521.key", schemes: [.ecdsa(.p521)], count: 1,
      sha256: "6a357e5dcbddb63c202e7d318bd7e3d4c6bfd0b669d2863b4f318ea7f21d32d8"),
  ]

  @Test(arguments: pairs)
  func `a certificate is loaded with its chain, its digests and what its key can do`(pair: Pair) throws {
    let certificate = try pair.load()
    #expect(certificate.schemes == pair.schemes)
    #expect(certificate.chain.count == pair.count)
    #expect(Self.hex(certificate.sha256) == pair.sha256)
    #expect(try SHA256.digest(of: certificate.chain[0]) == certificate.sha256)
    #expect(certificate.notBefore < certificate.notAfter && certificate.notAfter > 4_900_000_000)
  }

  @Test func `the thumbprint is what openssl prints`() throws {
    let certificate = try Self.pairs[0].load()
    #expect(Self.hex(certificate.sha1) == "59f5ba386d5382f92796853d40d7f4a18d443df9")
  }

  @Test func `of several certificates the key's own comes first`() throws {
    let blocks = String(decoding: try Self.file("rsa.pem"), as: UTF8.self).split(separator: "-----BEGIN ")
    let turned = Array(blocks.reversed().map { "-----BEGIN " + $0 }.joined().utf8)
    let certificate = try SigningCertificate(pem: turned, key: Self.file("rsa.key"), passphrase: nil)
    #expect(Self.hex(certificate.sha256) == Self.rsa)
    #expect(certificate.chain.count == 2)
    #expect(try certificate == Self.pairs[3].load())
    // Certificate and key in one file.
    let whole = turned + (try Self.file("rsa.key"))
    #expect(try SigningCertificate(pem: whole, key: whole, passphrase: nil) == certificate)
  }

  /// The openssl command's options for each scheme.
  static let verifications: [(Int, SignatureScheme, String)] = [
    (3, SignatureScheme.rsa(.rs256), ""),
    (3, .rsa(.ps256), "-sigopt rsa_padding_mode:pss -sigopt rsa_pss_saltlen:32"),
    (0, .ecdsa(.p256), ""), (8, .ecdsa(.p384), ""), (9, .ecdsa(.p521), ""),
  ]

  @Test(arguments: verifications)
  func `signatures verify with the openssl command`(pair: Int, scheme: SignatureScheme, options: String) throws {
    let certificate = try Self.pairs[pair].load()
    let message = Array("header.claims".utf8)
    var signature = try certificate.signature(of: message, scheme)
    var digest = "sha256"
    if case .ecdsa(let curve) = scheme {
      #expect(signature.count == 2 * curve.numberSize)
      signature = try Self.der(signature)
      digest =
        switch curve {
        case .p256: "sha256"
        case .p384: "sha384"
        case .p521: "sha512"
        }
    }
    let openssl = try OpenSSLCommand()
    try openssl.write(signature, to: "signature")
    try openssl.write(message, to: "message")
    try openssl.write(certificate.chain[0], to: "certificate")
    let key = try openssl.run("x509 -inform DER -in certificate -pubkey -noout -out public")
    #expect(key.status == 0, "\(key.output)")
    let verdict = try openssl.run("dgst -\(digest) \(options) -verify public -signature signature message")
    #expect(verdict.status == 0, "\(verdict.output)")
  }

  /// Two numbers of the same size as ASN.1.
  private static func der(_ numbers: [UInt8]) throws -> [UInt8] {
    let size = numbers.count / 2
    let parts = [numbers[..<size], numbers[size...]].flatMap { number -> [UInt8] in
      var bytes = Array(number.drop { $0 == 0 })
      if bytes.first.map({ $0 >= 0x80 }) ?? true { bytes.insert(0, at: 0) }
      return [2, UInt8(bytes.count)] + bytes
    }
    return [0x30] + (parts.count < 0x80 ? [] : [0x81]) + [UInt8(parts.count)] + parts
  }

  @Test(arguments: [(0, EllipticCurve.p256, 64), (8, .p384, 96), (9, .p521, 132)])
  func `an ECDSA signature always has the same size`(pair: Int, curve: EllipticCurve, size: Int) throws {
    let certificate = try Self.pairs[pair].load()
    for turn in 0..<300 { #expect(try certificate.signature(of: [UInt8(turn & 0xFF)], .ecdsa(curve)).count == size) }
  }

  static let mistakes: [(certificate: String, key: String?, passphrase: [UInt8]?, SigningCertificateError)] = [
    ("rsa.pem", "ec.key", nil, .mismatch),
    ("ec.pem", "ec-encrypted.key", nil, .passphraseMissing),
    ("ec.pem", "ec-encrypted.key", Array("another".utf8), .wrongPassphrase),
    ("ec.pem", "ec-encrypted.key", [UInt8](repeating: 65, count: 5000), .wrongPassphrase),
    ("ec.pem", "ec.pem", nil, .noKey(reason: "unsupported")),
    ("ec.key", "ec.key", nil, .noCertificate(reason: "no start line")),
    ("pss512.pem", "pss512.key", nil, .unusableKey(.signing(reason: "digest not allowed"))),
    ("k256.pem", "k256.key", nil, .unusableKey(.wrongKeyKind)),
    ("small.pem", "small.key", nil, .unusableKey(.keyTooSmall(bits: 1024))),
    ("ec.pfx", nil, nil, .passphraseMissing),
    ("ec.pfx", nil, Array("another".utf8), .wrongPassphrase),
    ("ec-rc2.pfx", nil, Array("orders-passphrase".utf8), .legacyCipher),
    ("ec.pem", nil, nil, .noArchive(reason: "nested asn1 error")),
  ]

  @Test(arguments: mistakes)
  func `mistakes are told apart`(
    certificate: String, key: String?, passphrase: [UInt8]?, expected: SigningCertificateError
  ) throws {
    let certificate = try Self.file(certificate)
    let key = try key.map { try Self.file($0) }
    #expect(throws: expected) {
      if let key {
        _ = try SigningCertificate(pem: certificate, key: key, passphrase: passphrase)
      } else {
        _ = try SigningCertificate(archive: certificate, passphrase: passphrase)
      }
    }
  }

  @Test func `cut and changed files are refused or load the same, and nothing crashes`() throws {
    for name in ["ec.pfx", "rsa.pem"] {
      let whole = try Self.file(name)
      for length in stride(from: 0, to: whole.count, by: 37) {
        var changed = whole
        changed[length] ^= 0x20
        for bytes in [Array(whole[..<length]), changed] {
          _ = try? SigningCertificate(archive: bytes, passphrase: Self.passphrase)
          _ = try? SigningCertificate(pem: bytes, key: Self.file("rsa.key"), passphrase: nil)
        }
      }
    }
  }
}
