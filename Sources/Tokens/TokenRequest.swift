// Owns what a token request looks like on the wire. Sends nothing.

internal import FoundationEssentials
public import HTTP

/// A request to a token endpoint (RFC 6749 §3.2).
public struct TokenRequest: Sendable {
  /// Where it goes and where the secret stands.
  public var metadata: ProviderMetadata
  /// The application.
  public var clientID: String
  /// Its proof; a public application has none.
  public var credential: ClientCredential?
  /// What is offered.
  public var grant: TokenGrant
  /// What is asked for; nothing leaves the choice to the provider.
  public var scopes: ScopeSet
  /// Claims and capabilities, merged.
  public var claims: Claims?

  /// A request of these parts.
  public init(
    metadata: ProviderMetadata, clientID: String, credential: ClientCredential?, grant: TokenGrant, scopes: ScopeSet,
    claims: Claims?
  ) {
    self.metadata = metadata
    self.clientID = clientID
    self.credential = credential
    self.grant = grant
    self.scopes = scopes
    self.claims = claims
  }

  /// The content type of every token request.
  public static let contentType = "application/x-www-form-urlencoded"

  /// Where the request is posted to.
  public var endpoint: HTTPURL { metadata.tokenEndpoint }

  /// The form. It holds the secret unless that is in `fields`.
  ///
  /// Scopes of client credentials are sent as they are: the openid, profile and offline_access that sign-ins add mean
  /// nothing there. `client_info` is not asked for either; it describes an account and an application has none.
  public var body: [UInt8] {
    var form = FormBody()
    form.append("grant_type", grant.type)
    let isInFields = credential != nil && metadata.secretPlacement == .basic
    if !isInFields { form.append("client_id", clientID) }
    if !scopes.isEmpty { form.append("scope", scopes.description) }
    if let claims { form.append("claims", claims.text) }
    if case .secret(let secret) = credential, !isInFields { form.append("client_secret", secret) }
    return form.bytes
  }

  /// The request's fields beside `content-type`, names in lower case.
  public var fields: [(name: String, value: String)] {
    var fields = [(name: "accept", value: "application/json")]
    if case .secret(let secret) = credential, metadata.secretPlacement == .basic {
      fields.append((name: "authorization", value: basic(secret)))
    }
    return fields
  }

  // RFC 6749 §2.3.1: each half is form-encoded before the two are joined.
  private func basic(_ secret: Secret) -> String {
    var pair: [UInt8] = []
    for byte in clientID.utf8 { FormBody.encode(byte, into: &pair) }
    pair.append(UInt8(ascii: ":"))
    let span = secret.bytes
    for index in span.indices { FormBody.encode(span[index], into: &pair) }
    return "Basic " + Data(pair).base64EncodedString()
  }
}
