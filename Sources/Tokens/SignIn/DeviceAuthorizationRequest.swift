// Owns what a request for a device code looks like on the wire. Sends nothing.

package import HTTP

/// A request to a device authorization endpoint (RFC 8628 §3.1).
package struct DeviceAuthorizationRequest: Sendable {
  /// Where it is posted to.
  package var endpoint: HTTPURL
  /// The application.
  package var clientID: String
  /// What is asked for, extra scopes included.
  package var scopes: ScopeSet
  /// Claims and capabilities, merged.
  package var claims: Claims?
  /// What the provider could repeat of it.
  package let sentSecrets: SentSecrets
  private let authentication: ClientAuthentication

  /// A request of these parts; nil where the provider knows no device codes.
  /// - Parameter placement: where the secret is written; nil is the provider's first.
  package init?(
    metadata: ProviderMetadata, placement: ClientSecretPlacement? = nil, clientID: String,
    credential: ClientCredential?, scopes: ScopeSet, claims: Claims?
  ) {
    guard let endpoint = metadata.deviceAuthorizationEndpoint else { return nil }
    self.endpoint = endpoint
    self.clientID = clientID
    self.scopes = scopes
    self.claims = claims
    sentSecrets = SentSecrets(credential.map { [$0.secret] } ?? [])
    authentication = ClientAuthentication(
      clientID: clientID, credential: credential, placement: placement ?? metadata.secretPlacements[0])
  }

  /// The form, its scopes decorated.
  package var body: [UInt8] {
    var form = FormBody()
    authentication.begin(&form)
    form.append("scope", scopes.decorated.description)
    if let claims { form.append("claims", claims.text) }
    authentication.end(&form)
    return form.bytes
  }

  /// The request's fields beside `content-type`, names in lower case.
  package var fields: [(name: String, value: String)] { authentication.fields }
}
