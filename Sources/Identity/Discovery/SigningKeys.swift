internal import Bytes
internal import HTTPClient
internal import Platform
internal import Tokens

/// A provider's keys (`jwks_uri`), fetched for one sign-in, so that a new key is never unknown.
struct SigningKeys {
  private let set: JWKSet
  private let authority: Authority
  /// The issuer in the authority's metadata.
  private let issuer: String

  /// Fetches an application's provider's keys.
  static func fetch(
    _ application: Application, _ metadata: ProviderMetadata, now: UnixTime
  ) async throws(AcquisitionError) -> SigningKeys {
    guard let url = metadata.keysURL else { throw AcquisitionError(.document(.missing(member: "jwks_uri"))) }
    let response = try await AcquisitionError.reaching(FetchRequest(.get, url), by: application.fetch)
    guard response.status == 200 else {
      throw AcquisitionError(.metadata(status: response.status), retryAfter: response.answer.pause(now: now))
    }
    guard let set = JWKSet(json: response.body) else { throw AcquisitionError(.document(.notJSON)) }
    return SigningKeys(set: set, authority: application.authority, issuer: metadata.issuer)
  }

  /// True if one of the keys made a token's signature. A malformed key or one that is too small verifies nothing.
  func verdict(_ token: SignedJWT, _ algorithm: JWTAlgorithm) -> SignatureVerdict {
    let candidates = set.candidates(for: token.header)
    if candidates.isEmpty { return .unknownKey }
    for key in candidates where authority.isKey(key, for: token, named: issuer) {
      do throws(CryptoError) {
        let key = try RSAPublicKey(modulus: key.modulus, exponent: key.exponent)
        let scheme: RSASignatureAlgorithm = algorithm == .ps256 ? .ps256 : .rs256
        if try key.verifies(token.signature.span, of: token.signingInput.span, scheme) { return .valid }
      } catch {
        continue
      }
    }
    return .invalid
  }
}
