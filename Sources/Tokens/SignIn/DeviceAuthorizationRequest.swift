// Owns what a request for a device code looks like on the wire. Sends nothing.

public import HTTP

/// A request to a device authorization endpoint (RFC 8628 §3.1).
public struct DeviceAuthorizationRequest: Sendable {
  /// Where it is posted to.
  public var endpoint: HTTPURL
  /// The application.
  public var clientID: String
  /// What is asked for, extra scopes included.
  public var scopes: ScopeSet
  /// Claims and capabilities, merged.
  public var claims: Claims?
  /// What the provider could repeat of it.
  public let sentSecrets: SentSecrets
  private let authentication: ClientAuthentication

  /// A request of these parts; nil where the provider knows no device codes.
  /// - Parameter placement: where the secret is written; nil is the provider's first.
  public init?(
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
  public var body: [UInt8] {
    var form = FormBody()
    authentication.begin(&form)
    form.append("scope", scopes.decorated.description)
    if let claims { form.append("claims", claims.text) }
    authentication.end(&form)
    return form.bytes
  }

  /// The request's fields beside `content-type`, names in lower case.
  public var fields: [(name: String, value: String)] { authentication.fields }
}
