// Owns authorization codes: issued once, redeemed once, by who asked for them (RFC 6749 §4.1.3).

internal import Bytes
internal import Tokens

/// The codes that are known.
struct AuthorizationCodes {
  private struct Code {
    var authorization: Authorization
    var redirectURI: String
    var challenge: String?
    var expiresAt: UnixTime
    var isRedeemed = false
  }

  /// Seconds in which a code must be redeemed.
  static let lifetime: Int64 = 300

  private var codes: [String: Code] = [:]

  /// A new code.
  mutating func issue(
    _ authorization: Authorization, for request: AuthorizationRequest, now: UnixTime
  ) throws(ProviderError) -> String {
    codes = codes.filter { now < $0.value.expiresAt }
    let name = try OpaqueText.make()
    codes[name] = Code(
      authorization: authorization, redirectURI: request.address.redirectURI, challenge: request.challenge,
      expiresAt: now + Self.lifetime)
    return name
  }

  /// What a code stands for. Throws `codeUsed` for one that was redeemed before: whatever came of it is to be revoked.
  mutating func redeem(
    _ name: String, redirectURI: String?, verifier: String?, client: String, segment: String, now: UnixTime
  ) throws(ProviderError) -> Authorization {
    guard let code = codes[name], code.authorization.client == client else { throw .unknownGrant("code") }
    guard !code.isRedeemed else { throw .codeUsed }
    // Whatever is wrong with the attempt, there is no second one.
    codes[name]?.isRedeemed = true
    guard now < code.expiresAt else { throw .codeExpired }
    guard redirectURI == code.redirectURI else { throw .redirectURIMismatch }
    guard try ProofKey.accepts(verifier: verifier, challenge: code.challenge) else { throw .proofKeyMismatch }
    guard DemoDirectory.isAnyTenant(segment) || segment == code.authorization.tenant else { throw .otherTenant }
    return code.authorization
  }

  /// Forgets a person's codes.
  mutating func revoke(person: String) {
    codes = codes.filter { $0.value.authorization.person != person }
  }
}
