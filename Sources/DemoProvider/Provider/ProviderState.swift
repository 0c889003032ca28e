// Everything the provider remembers between two requests. In memory only: a restart forgets it all.

internal import Bytes
internal import Platform
internal import Tokens

struct ProviderState {
  var browsers: [String: Browser] = [:]
  var interactions: [String: Interaction] = [:]
  var codes = AuthorizationCodes()
  var devices = DeviceAuthorizations()
  var refreshTokens = RefreshTokens()
  var consents = Consents()
  /// The time from which access tokens about an object (a person's or an application's `oid`) count, if it changed.
  var tokensCountFrom: [String: UnixTime] = [:]
  var behaviour = ProviderBehaviour()
  /// The number of requests to each endpoint.
  var requests: [String: Int] = [:]

  /// Ends everything of a person that is not an access token already out.
  mutating func revokeSessions(of person: String) {
    for name in browsers.keys { browsers[name]?.signedIn.removeAll { $0.person == person } }
    interactions = interactions.filter { $0.value.person != person }
    codes.revoke(person: person)
    refreshTokens.revoke(person: person)
  }

  /// Begins a sign-in; its name.
  mutating func begin(_ interaction: Interaction, now: UnixTime) throws(ProviderError) -> String {
    interactions = interactions.filter { now < $0.value.expiresAt }
    let busy = Set(interactions.values.map(\.browser) + [interaction.browser])
    browsers = browsers.filter { !$0.value.signedIn.isEmpty || busy.contains($0.key) }
    let name = try OpaqueText.make()
    interactions[name] = interaction
    return name
  }
}

/// Signs tokens with RS256.
struct TokenSigner: Sendable {
  let publicKey: JWK
  private let key: RSAKey

  init(key: RSAKey) throws(CryptoError) {
    self.key = key
    let numbers = key.publicKey
    // Named by its content, so that another key never has the same name.
    let identifier = try Base64URL.encode(SHA256.digest(of: numbers.modulus))
    publicKey = JWK(
      identifier: identifier, algorithm: .rs256, modulus: numbers.modulus, exponent: numbers.exponent)
  }

  /// True if this signed a token.
  func verdict(_ token: SignedJWT) -> SignatureVerdict {
    JWKSet(keys: [publicKey]).verdict(token)
  }

  func token(_ claims: some Encodable) throws(CryptoError) -> Secret {
    let header = JWTHeader(algorithm: .rs256, keyIdentifier: publicKey.identifier)
    let input = SignedJWT.signingInput(header, claims)
    return try SignedJWT.compact(signingInput: input, signature: key.signature(of: input.span, .rs256))
  }
}
