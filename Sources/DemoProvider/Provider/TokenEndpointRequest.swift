// Owns a token request read from its form: which grant, by whom, for what.

/// A request to the token endpoint.
struct TokenEndpointRequest: Equatable {
  /// What entitles the application to a token.
  enum Grant: Equatable {
    /// Its own name and secret (RFC 6749 §4.4).
    case clientCredentials
    /// What a sign-in brought (RFC 6749 §4.1.3).
    case authorizationCode(String, redirectURI: String?, verifier: String?)
    /// What an earlier reply brought (RFC 6749 §6).
    case refreshToken(String)
    /// What the device was given (RFC 8628 §3.4).
    case deviceCode(String)
  }

  var grant: Grant
  var client: ClientAuthentication
  /// The words of `scope`; nil: those of the sign-in.
  var scopes: [String]?
  /// Whether the application wants to know the account by `client_info`.
  var wantsClientInfo: Bool
  /// What the token is to say.
  var claims: ClaimsAsked

  /// Whether no person was at hand.
  var isRefresh: Bool { if case .refreshToken = grant { true } else { false } }

  init(body: [UInt8], authorization: String?) throws(ProviderError) {
    let form = try FormFields(request: body)
    grant = try Self.grant(form)
    client = try ClientAuthentication(form: form, authorization: authorization)
    scopes = form["scope"]?.split(separator: " ").map(String.init)
    wantsClientInfo = form["client_info"] == "1"
    claims = try ClaimsAsked(form["claims"])
  }

  private static func grant(_ form: FormFields) throws(ProviderError) -> Grant {
    guard let type = form["grant_type"] else { throw .missingParameter("grant_type") }
    func required(_ name: String) throws(ProviderError) -> String {
      guard let value = form[name] else { throw .missingParameter(name) }
      return value
    }
    switch type {
    case "client_credentials":
      return .clientCredentials
    case "authorization_code":
      return .authorizationCode(
        try required("code"), redirectURI: form["redirect_uri"], verifier: form["code_verifier"])
    case "refresh_token":
      return .refreshToken(try required("refresh_token"))
    // The second name is older than RFC 8628; MSAL.NET sends it.
    case "urn:ietf:params:oauth:grant-type:device_code", "device_code":
      return .deviceCode(try required("device_code"))
    default:
      throw .unsupportedGrant(type)
    }
  }
}

extension FormFields {
  /// The form of a request's body or query, with the provider's errors.
  init(request bytes: [UInt8]) throws(ProviderError) {
    do throws(FormError) {
      try self.init(bytes)
    } catch {
      switch error {
      case .malformed: throw .malformedBody
      case .duplicate(let name): throw .duplicateParameter(name)
      }
    }
  }
}
