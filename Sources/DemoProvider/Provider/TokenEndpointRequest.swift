// Owns a token request read from its form: which grant, by whom, for what.

/// A request to the token endpoint.
struct TokenEndpointRequest: Equatable {
  /// What entitles the application to a token.
  enum Grant: Equatable {
    /// Its own name and secret (RFC 6749 §4.4).
    case clientCredentials
  }

  var grant: Grant
  var client: ClientAuthentication
  /// The words of `scope`.
  var scopes: [String]

  init(body: [UInt8], authorization: String?) throws(ProviderError) {
    let form: FormFields
    do throws(FormError) {
      form = try FormFields(body)
    } catch {
      switch error {
      case .malformed: throw .malformedBody
      case .duplicate(let name): throw .duplicateParameter(name)
      }
    }
    switch form["grant_type"] {
    case nil: throw .missingParameter("grant_type")
    case "client_credentials": grant = .clientCredentials
    case .some(let other): throw .unsupportedGrant(other)
    }
    client = try ClientAuthentication(form: form, authorization: authorization)
    guard let scope = form["scope"] else { throw .missingParameter("scope") }
    scopes = scope.split(separator: " ").map(String.init)
  }
}
