package import Bytes
package import HTTP

/// A request to an endpoint of a provider beside the token endpoint, in which the application proves itself.
package struct ProviderForm: Sendable {
  package let endpoint: HTTPURL
  package let body: [UInt8]
  /// The request's fields beside `content-type`, names in lower case.
  package let fields: [(name: String, value: String)]
  package let sentSecrets: SentSecrets

  /// - Parameter write: writes what is not the application's proof.
  private init?(
    _ application: ClientAuthentication, to endpoint: ProviderEndpoint, secrets: [Secret] = [],
    _ write: (inout FormBody) -> Void
  ) {
    guard let url = application.url(of: endpoint) else { return nil }
    self.endpoint = url
    var form = FormBody()
    application.begin(&form)
    write(&form)
    application.end(&form)
    body = form.bytes
    fields = application.fields
    sentSecrets = SentSecrets(secrets + application.credential.secrets)
  }

  /// A request for device codes (RFC 8628 §3.1); nil if the provider has none.
  /// - Parameter scopes: the requested scopes, extra scopes included.
  package init?(
    deviceCodesFor application: ClientAuthentication, scopes: ScopeSet, claims: Claims?,
    parameters: TokenParameters = .none
  ) {
    self.init(application, to: .deviceAuthorization) { form in
      form.append("scope", scopes.decorated(application.metadata.offlineAccess).description)
      if let claims { form.append("claims", claims.text) }
      form.append(parameters)
    }
  }

  /// The parameters of a sign-in, ahead of the browser (RFC 9126); nil without an endpoint for them.
  package init?(pushing authorization: AuthorizationRequest, of application: ClientAuthentication) {
    self.init(application, to: .pushedAuthorization) { authorization.appendParameters(to: &$0) }
  }

  /// A request that ends a token (RFC 7009); nil if the provider has no endpoint for it.
  package init?(revoking token: Secret, _ hint: TokenHint, of application: ClientAuthentication) {
    self.init(application, to: .revocation, secrets: [token]) { form in
      form.append("token", token)
      form.append("token_type_hint", hint.rawValue)
    }
  }
}

/// The kind of a token that is revoked.
package enum TokenHint: String, Sendable, Hashable {
  case refreshToken = "refresh_token"
  case accessToken = "access_token"
}

extension ProviderAnswer {
  /// The provider's name for pushed parameters, which goes with the browser in their place.
  package func requestURI(sent: SentSecrets, now: UnixTime) throws(TokenFailure) -> String {
    let reply = try ReplyMembers(self, sent: sent, now: now)
    guard let uri = reply["request_uri"]?.text,
      (1...2048).contains(uri.utf8.count), uri.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
    else { throw reply.failure(.unintelligible) }
    return uri
  }

  /// Judges the answer to a revocation: 200 also for an unknown token (RFC 7009 §2.2).
  package func checkRevocation(sent: SentSecrets, now: UnixTime) throws(TokenFailure) {
    if (200...299).contains(status) { return }
    _ = try ReplyMembers(self, sent: sent, now: now)
  }
}
