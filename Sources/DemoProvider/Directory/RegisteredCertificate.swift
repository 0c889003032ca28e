// A certificate of an application, and the assertions that its key signs (RFC 7523), judged as Entra does.

internal import Bytes
internal import COpenSSL
internal import Platform
internal import Tokens

struct RegisteredCertificate: Sendable {
  private let sha1: String
  private let sha256: String
  private let key: RSAPublicKey

  /// The certificate of a PEM text, with an RSA key; nil if there is none.
  init?(pem: [UInt8]) {
    guard let text = BIO_new_mem_buf(pem, Int32(clamping: pem.count)) else { return nil }
    defer { BIO_free(text) }
    guard let certificate = PEM_read_bio_X509(text, nil, nil, nil) else { return nil }
    defer { X509_free(certificate) }
    func number(_ name: String) -> [UInt8] {
      var number: OpaquePointer?
      guard let key = X509_get0_pubkey(certificate), EVP_PKEY_get_bn_param(key, name, &number) == 1, let number else {
        return []
      }
      defer { BN_free(number) }
      var bytes = [UInt8](repeating: 0, count: (Int(BN_num_bits(number)) + 7) / 8)
      BN_bn2bin(number, &bytes)
      return bytes
    }
    func digest(_ method: OpaquePointer?, count: Int) -> String {
      var digest = [UInt8](repeating: 0, count: count)
      X509_digest(certificate, method, &digest, nil)
      return Base64URL.encode(digest)
    }
    do throws(CryptoError) {
      key = try RSAPublicKey(modulus: number(OSSL_PKEY_PARAM_RSA_N), exponent: number(OSSL_PKEY_PARAM_RSA_E))
    } catch {
      return nil
    }
    sha1 = digest(EVP_sha1(), count: 20)
    sha256 = digest(EVP_sha256(), count: 32)
  }

  /// True if the certificate signed an assertion: PS256 names it by `x5t#S256`, RS256 by `x5t`.
  func signs(_ assertion: SignedJWT) -> Bool {
    guard let algorithm = JWTAlgorithm(rawValue: assertion.header.alg) else { return false }
    let (name, thumbprint) = algorithm == .ps256 ? ("x5t#S256", sha256) : ("x5t", sha1)
    // msal pads a thumbprint.
    guard Self.header(of: assertion)[name]?.text.map({ $0.prefix { $0 != "=" } }) == thumbprint[...] else {
      return false
    }
    do throws(CryptoError) {
      return try key.verifies(
        assertion.signature.span, of: assertion.signingInput.span, algorithm == .ps256 ? .ps256 : .rs256)
    } catch {
      return false
    }
  }

  private static func header(of assertion: SignedJWT) -> [String: JSONValue] {
    let text = String(decoding: assertion.signingInput.prefix { $0 != UInt8(ascii: ".") }, as: UTF8.self)
    do throws(Base64URLError) {
      return JSONValue(json: try Base64URL.decode(text))?.members ?? [:]
    } catch {
      return [:]
    }
  }
}
