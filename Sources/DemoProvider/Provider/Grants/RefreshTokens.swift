// Refresh tokens: families that begin with a sign-in and go on by rotation (RFC 6749 §6, RFC 9700 §4.14).

internal import Bytes
internal import Tokens

struct RefreshTokens {
  private struct Family {
    var authorization: Authorization
    /// The authorization code it began with.
    var origin: String?
    /// The newest token.
    var current: String
    var expiresAt: UnixTime
    var isRevoked = false
  }

  private var families: [Int: Family] = [:]
  private var familyOfToken: [String: Int] = [:]
  private var next = 0

  /// The first token of a new family.
  mutating func begin(
    _ authorization: Authorization, origin: String?, lifetime: Int64, now: UnixTime
  ) throws(ProviderError) -> String {
    let token = try OpaqueText.make()
    families[next] = Family(
      authorization: authorization, origin: origin, current: token, expiresAt: now + lifetime)
    familyOfToken[token] = next
    next += 1
    return token
  }

  /// The grant of a token. `refusesReuse` ends the family of one that has been replaced.
  mutating func authorization(
    _ token: String, client: String, refusesReuse: Bool, now: UnixTime
  ) throws(ProviderError) -> Authorization {
    guard let number = familyOfToken[token], let family = families[number], family.authorization.client == client else {
      throw .unknownGrant("refresh_token")
    }
    guard !family.isRevoked else { throw .sessionRevoked }
    if family.current != token, refusesReuse {
      families[number]?.isRevoked = true
      throw .refreshTokenReplaced
    }
    guard now < family.expiresAt else { throw .refreshTokenExpired }
    return family.authorization
  }

  /// The token that replaces one: a new one if they rotate, else itself. The family lives on from now.
  mutating func renew(_ token: String, rotates: Bool, lifetime: Int64, now: UnixTime) throws(ProviderError) -> String {
    guard let number = familyOfToken[token] else { throw .unknownGrant("refresh_token") }
    families[number]?.expiresAt = now + lifetime
    guard rotates else { return token }
    let replacement = try OpaqueText.make()
    families[number]?.current = replacement
    familyOfToken[replacement] = number
    return replacement
  }

  /// Ends a person's families.
  mutating func revoke(person: String) { revoke { $0.authorization.person == person } }

  /// Ends what began with an authorization code.
  mutating func revoke(origin: String) { revoke { $0.origin == origin } }

  private mutating func revoke(where isMeant: (Family) -> Bool) {
    for (number, family) in families where isMeant(family) { families[number]?.isRevoked = true }
  }
}
