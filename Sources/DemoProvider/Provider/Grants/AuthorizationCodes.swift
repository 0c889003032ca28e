// Authorization codes: issued once, redeemed once, by the application that asked for them (RFC 6749 §4.1.3, RFC 7636).

internal import Bytes
internal import Platform
internal import Tokens

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

  /// The grant of a code. Throws `codeUsed` for one that was redeemed before: whatever came of it is to be revoked.
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

  mutating func revoke(person: String) {
    codes = codes.filter { $0.value.authorization.person != person }
  }
}

/// The proof that a code is redeemed by the application that requested it.
enum ProofKey {
  /// A verifier is 43 to 128 unreserved characters, and its digest the challenge. None is needed if there was no
  /// challenge, and none may come: otherwise dropping the challenge from a request would go unnoticed (RFC 9700
  /// §2.1.1).
  static func accepts(verifier: String?, challenge: String?) throws(ProviderError) -> Bool {
    guard let challenge, let verifier else { return challenge == nil && verifier == nil }
    guard (43...128).contains(verifier.utf8.count), verifier.utf8.allSatisfy(isUnreserved) else { return false }
    do throws(CryptoError) {
      return try Base64URL.encode(SHA256.digest(of: Array(verifier.utf8))) == challenge
    } catch {
      throw .signing(error)
    }
  }

  private static func isUnreserved(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
      UInt8(ascii: "~"):
      true
    default: false
    }
  }
}

/// A person's authorisation of an application.
struct Authorization: Hashable {
  /// The person's `oid` at home.
  var person: String
  /// The GUID of the tenant signed in to.
  var tenant: String
  /// The application's `client_id`.
  var client: String
  /// The words of `scope` that were asked for.
  var scopes: [String]
  /// For the ID token.
  var nonce: String?
  /// The methods of the person's proof.
  var authentication: Authentication
}
