package import Bytes

/// A successful answer of a token endpoint (RFC 6749 §5.1).
package struct TokenReply: Sendable {
  /// The access token: visible ASCII, 1 byte to `limit`.
  package let accessToken: Secret
  /// Seconds of life from the answer's arrival, at least 1.
  package let expiresIn: Int64
  /// Seconds after which the provider wants it renewed; less than `expiresIn`.
  package var refreshIn: Int64?
  /// Seconds for which a provider that is down lets the token live on; at least `expiresIn` if it is present.
  package let extendedExpiresIn: Int64?
  /// The granted scopes, if the provider names them.
  package let scope: ScopeSet?
  /// `Bearer`, in the provider's spelling.
  package let tokenType: String
  /// A refresh token; a reply without one leaves the old one valid.
  package var refreshToken: Secret?
  /// An ID token, not yet verified.
  package let idToken: Secret?
  /// The owner of these tokens.
  package let identity: AccountIdentity
  /// The family of applications that share the refresh token (`foci`).
  package let familyID: String?

  /// Bytes of the longest access token accepted; no server accepts a longer field anyway.
  package static let limit = 64 * 1024

  /// Seconds of life of a token whose reply names none (msal-python's choice).
  package static let unstatedLifetime: Int64 = 600

  /// Reads an answer. An `error` member makes it an error whatever the status. Numbers may be strings. `expires_in`
  /// counts before `expires_on`.
  /// - Parameter sent: the secrets of the request. Members that repeat one count as absent.
  package init(
    _ answer: ProviderAnswer, sent: SentSecrets, expected: IssuedTokenKind = .bearer, now: UnixTime
  ) throws(TokenFailure) {
    let reply = try ReplyMembers(answer, sent: sent, now: now)
    guard let token = reply["access_token"]?.text, !token.isEmpty else { throw reply.failure(.noAccessToken) }
    guard expected.accepts(tokenType: reply["token_type"]?.text) else { throw reply.failure(.tokenType) }
    guard expected.accepts(issued: reply["issued_token_type"]?.text) else { throw reply.failure(.issuedTokenType) }
    let isCarriable = token.utf8.count <= Self.limit && token.utf8.allSatisfy { (0x21...0x7E).contains($0) }
    guard isCarriable else { throw reply.failure(.unusableToken) }
    let life =
      reply["expires_in"]?.seconds ?? reply["expires_on"]?.seconds.map { UnixTime($0) - now }
      ?? Self.unstatedLifetime
    guard life > 0 else { throw reply.failure(.lifetime) }
    accessToken = Secret(token)
    expiresIn = life
    refreshIn = reply["refresh_in"]?.seconds.flatMap { (1..<life).contains($0) ? $0 : nil }
    extendedExpiresIn = reply["ext_expires_in"]?.seconds
    scope = ScopeSet(named: reply["scope"]?.text)
    tokenType = reply["token_type"]?.text ?? "Bearer"
    refreshToken = Self.secret(reply["refresh_token"])
    idToken = Self.secret(reply["id_token"])
    identity = AccountIdentity(clientInfo: reply["client_info"]?.text, idToken: reply["id_token"]?.text)
    familyID = reply["foci"]?.text.flatMap { $0.isEmpty ? nil : $0 }
  }

  private static func secret(_ value: JSONValue?) -> Secret? {
    value?.text.flatMap { $0.isEmpty || $0.utf8.count > limit ? nil : Secret($0) }
  }

  /// The scopes under which a later request may find this token: those granted, unless the reply names none of the
  /// requested ones. (ADFS answers `openid` to every request; MSAL then never finds its own token again.)
  package func grantedScopes(requested: ScopeSet) -> ScopeSet {
    guard let scope else { return requested }
    let names = Set(scope.words.map { $0.lowercased() })
    let sharesOne = requested.words.contains { names.contains($0.lowercased()) }
    return requested.isEmpty || sharesOne ? scope : requested
  }
}
