// The request that ends a token at its provider, and when that has succeeded (RFC 7009).

package import Bytes
package import HTTP

/// A request to a revocation endpoint.
package struct RevocationRequest: Sendable {
  /// Which kind of token it is about.
  package enum Hint: String, Sendable, Hashable {
    case refreshToken = "refresh_token"
    case accessToken = "access_token"
  }

  /// Where it is posted to.
  package let endpoint: HTTPURL
  /// What the provider could repeat of it.
  package let sentSecrets: SentSecrets
  private let token: Secret
  private let hint: Hint
  private let authentication: ClientAuthentication

  /// A request of these parts; nil where the provider has no such endpoint.
  /// - Parameter showsCertificate: whether the application proves itself in the TLS handshake.
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

  /// The form.
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

  /// Judges an answer. Its content says nothing where the status is 200, which a provider also answers for a token that
  /// it does not know (RFC 7009 §2.2).
  package func check(
    status: Int, retryAfter: String?, body: [UInt8], contentType: String? = nil, now: UnixTime
  ) throws(TokenFailure) {
    if (200...299).contains(status) { return }
    _ = try ReplyMembers(
      status: status, retryAfter: retryAfter, body: body, contentType: contentType, sent: sentSecrets, now: now)
  }
}
