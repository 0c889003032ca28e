internal import Bytes
internal import HTTP

/// An application as it proves itself to a provider: its part of a request's form or fields (RFC 6749 §2.3.1).
package struct ClientAuthentication: Sendable {
  package let metadata: ProviderMetadata
  package let clientID: String
  /// Its proof; nil for a public application, and for one that shows a certificate in the TLS handshake.
  package var credential: ClientCredential?
  let placement: ClientSecretPlacement
  let showsCertificate: Bool

  /// - Parameter placement: the place of a secret; nil is the provider's first.
  package init(
    _ clientID: String, at metadata: ProviderMetadata, _ credential: ClientCredential?,
    placement: ClientSecretPlacement? = nil, showsCertificate: Bool = false
  ) {
    self.metadata = metadata
    self.clientID = clientID
    self.credential = credential
    self.placement = placement ?? metadata.secretPlacements[0]
    self.showsCertificate = showsCertificate
  }

  /// The address for its requests; nil if the provider has no such endpoint.
  func url(of endpoint: ProviderEndpoint) -> HTTPURL? {
    metadata.url(of: endpoint, showingCertificate: showsCertificate)
  }

  private var isInFields: Bool {
    if case .secret = credential { placement == .basic } else { false }
  }

  /// Writes its members at the beginning of the form.
  func begin(_ form: inout FormBody) {
    if !isInFields { form.append("client_id", clientID) }
  }

  /// Writes its members at the end.
  func end(_ form: inout FormBody) {
    switch credential {
    case .secret(let secret): if !isInFields { form.append("client_secret", secret) }
    case .assertion(let assertion, let type):
      form.append("client_assertion_type", type.parameter)
      form.append("client_assertion", assertion)
    case nil: break
    }
  }

  /// The request's fields beside `content-type`, names in lower case.
  var fields: [(name: String, value: String)] {
    var fields = [(name: "accept", value: "application/json")]
    if case .secret(let secret) = credential, placement == .basic {
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
    return "Basic " + Base64.encode(pair)
  }
}
