// A certificate that an application is registered with, and the assertions that its key signs (RFC 7523): judged as
// Entra does.

internal import Bytes
internal import COpenSSL
internal import Platform
internal import Tokens

/// A certificate that proves an application.
package struct RegisteredCertificate: Sendable {
  private let sha1: String
  private let sha256: String
  private let key: RSAPublicKey

  /// The certificate of a PEM text, whose key is RSA; nil where there is none.
  package init?(pem: [UInt8]) {
    guard let text = BIO_new_mem_buf(pem, Int32(clamping: pem.count)) else { return nil }
    defer { BIO_free(text) }
    guard let certificate = PEM_read_bio_X509(text, nil, nil, nil) else { return nil }
    defer { X509_free(certificate) }
    guard let n = Self.number(OSSL_PKEY_PARAM_RSA_N, of: certificate),
      let e = Self.number(OSSL_PKEY_PARAM_RSA_E, of: certificate)
    else { return nil }
    do throws(CryptoError) {
      key = try RSAPublicKey(modulus: n, exponent: e)
    } catch {
      return nil
    }
    sha1 = Base64URL.encode(Self.digest(of: certificate, EVP_sha1(), count: 20))
    sha256 = Base64URL.encode(Self.digest(of: certificate, EVP_sha256(), count: 32))
  }

  private static func number(_ name: String, of certificate: OpaquePointer) -> [UInt8]? {
    var number: OpaquePointer?
    guard let key = X509_get0_pubkey(certificate), EVP_PKEY_get_bn_param(key, name, &number) == 1, let number else {
      return nil
    }
    defer { BN_free(number) }
    var bytes = [UInt8](repeating: 0, count: (Int(BN_num_bits(number)) + 7) / 8)
    BN_bn2bin(number, &bytes)
    return bytes
  }

  private static func digest(of certificate: OpaquePointer, _ method: OpaquePointer?, count: Int) -> [UInt8] {
    var digest = [UInt8](repeating: 0, count: count)
    var length: UInt32 = 0
    X509_digest(certificate, method, &digest, &length)
    return digest
  }

  /// Whether an assertion is this certificate's: PS256 names it by `x5t#S256`, RS256 by `x5t`.
  func signs(_ assertion: SignedJWT) -> Bool {
    let (name, thumbprint, algorithm): (String, String, RSASignatureAlgorithm) =
      switch JWTAlgorithm(rawValue: assertion.header.alg) {
      case .ps256: ("x5t#S256", sha256, .ps256)
      case .rs256: ("x5t", sha1, .rs256)
      case nil: ("", "", .rs256)
      }
    guard !name.isEmpty, Self.header(of: assertion)[name]?.text.map(Self.unpadded) == thumbprint else { return false }
    do throws(CryptoError) {
      return try key.verifies(assertion.signature.span, of: assertion.signingInput.span, algorithm)
    } catch {
      return false
    }
  }

  /// msal pads a thumbprint.
  private static func unpadded(_ text: String) -> String { String(text.prefix { $0 != "=" }) }

  private static func header(of assertion: SignedJWT) -> [String: JSONValue] {
    let text = String(decoding: assertion.signingInput.prefix { $0 != UInt8(ascii: ".") }, as: UTF8.self)
    do throws(Base64URLError) {
      return JSONValue(json: try Base64URL.decode(text))?.members ?? [:]
    } catch {
      return [:]
    }
  }
}
