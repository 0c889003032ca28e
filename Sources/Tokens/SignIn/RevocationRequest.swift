package import Bytes
package import HTTP

/// A request that ends a token at its provider (RFC 7009).
package struct RevocationRequest: Sendable {
  /// The kind of the token.
  package enum Hint: String, Sendable, Hashable {
    case refreshToken = "refresh_token"
    case accessToken = "access_token"
  }

  package let endpoint: HTTPURL
  package let sentSecrets: SentSecrets
  private let token: Secret
  private let hint: Hint
  private let authentication: ClientAuthentication

  /// A request of these parts; nil if the provider has no such endpoint.
  /// - Parameter showsCertificate: the application proves itself in the TLS handshake.
  package init?(
    _ token: Secret, _ hint: Hint, metadata: ProviderMetadata, placement: ClientSecretPlacement, clientID: String,
    credential: ClientCredential?, showsCertificate: Bool
  ) {
    guard let endpoint = metadata.url(of: .revocation, showingCertificate: showsCertificate) else { return nil }
    self.endpoint = endpoint
    self.token = token
    self.hint = hint
    sentSecrets = SentSecrets([token] + credential.secrets)
    authentication = ClientAuthentication(clientID: clientID, credential: credential, placement: placement)
  }

  package var body: [UInt8] {
    var form = FormBody()
    authentication.begin(&form)
    form.append("token", token)
    form.append("token_type_hint", hint.rawValue)
    authentication.end(&form)
    return form.bytes
  }

  /// The request's fields beside `content-type`, names in lower case.
  package var fields: [(name: String, value: String)] { authentication.fields }

  /// Judges an answer. The content has no meaning if the status is 200, which a provider also returns for an unknown
  /// token (RFC 7009 §2.2).
  package func check(
    status: Int, retryAfter: String?, body: [UInt8], contentType: String? = nil, now: UnixTime
  ) throws(TokenFailure) {
    if (200...299).contains(status) { return }
    _ = try ReplyMembers(
      status: status, retryAfter: retryAfter, body: body, contentType: contentType, sent: sentSecrets, now: now)
  }
}
