// The parameters of a sign-in, sent to the provider ahead of the browser (RFC 9126): the request and the answer.

package import Bytes
package import HTTP

/// A request to a pushed authorization request endpoint.
package struct PushedAuthorizationRequest: Sendable {
  package let endpoint: HTTPURL
  package let sentSecrets: SentSecrets
  private let authorization: AuthorizationRequest
  private let authentication: ClientAuthentication

  /// A request with the parameters that the browser would otherwise bring; nil if the provider has no such endpoint.
  /// - Parameter showsCertificate: the application proves itself in the TLS handshake.
  package init?(
    _ authorization: AuthorizationRequest, metadata: ProviderMetadata, placement: ClientSecretPlacement,
    credential: ClientCredential?, showsCertificate: Bool
  ) {
    guard let endpoint = metadata.url(of: .pushedAuthorization, showingCertificate: showsCertificate) else {
      return nil
    }
    self.endpoint = endpoint
    self.authorization = authorization
    sentSecrets = SentSecrets(credential.secrets)
    authentication = ClientAuthentication(
      clientID: authorization.clientID, credential: credential, placement: placement)
  }

  package var body: [UInt8] {
    var form = FormBody()
    authentication.begin(&form)
    authorization.appendParameters(to: &form)
    authentication.end(&form)
    return form.bytes
  }

  /// The request's fields beside `content-type`, names in lower case.
  package var fields: [(name: String, value: String)] { authentication.fields }
}

/// The answer: the provider's name for the request.
package struct PushedAuthorizationReply: Sendable {
  /// Goes with the browser in place of all other parameters.
  package let requestURI: String

  /// Reads an answer.
  /// - Parameter sent: the secrets of the request.
  package init(
    status: Int, retryAfter: String?, body: [UInt8], contentType: String? = nil, sent: SentSecrets, now: UnixTime
  ) throws(TokenFailure) {
    let reply = try ReplyMembers(
      status: status, retryAfter: retryAfter, body: body, contentType: contentType, sent: sent, now: now)
    guard let uri = reply["request_uri"]?.text,
      (1...2048).contains(uri.utf8.count), uri.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
    else { throw reply.failure(.unintelligible) }
    requestURI = uri
  }
}
