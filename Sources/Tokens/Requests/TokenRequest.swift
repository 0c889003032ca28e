package import HTTP

/// A request to a token endpoint (RFC 6749 §3.2).
package struct TokenRequest: Sendable {
  package var application: ClientAuthentication
  package var grant: TokenGrant
  /// The requested scopes; an empty set leaves the choice to the provider.
  package var scopes: ScopeSet
  /// Claims and capabilities, merged.
  package var claims: Claims?
  package var parameters: TokenParameters
  /// The account that the grant is about; sent to Entra alone.
  package var routingHint: RoutingHint?
  /// The region whose endpoint serves the application itself.
  package var region: AzureRegion?

  package init(
    _ application: ClientAuthentication, grant: TokenGrant, scopes: ScopeSet, claims: Claims?,
    parameters: TokenParameters = .none
  ) {
    self.application = application
    self.grant = grant
    self.scopes = scopes
    self.claims = claims
    self.parameters = parameters
  }

  /// The content type of every token request.
  package static let contentType = "application/x-www-form-urlencoded"

  package var endpoint: HTTPURL {
    let url = application.url(of: .token) ?? application.metadata.tokenEndpoint
    guard let region, grant == .clientCredentials else { return url }
    return url.regional(region) ?? url
  }

  private var decorated: ScopeSet { scopes.decorated(application.metadata.offlineAccess) }

  /// The form. It holds the secret unless that is in `fields`, and the code or token of the grant.
  ///
  /// A person's scopes are decorated (`ScopeSet.decorated`) and `client_info` is requested, which names the account;
  /// every MSAL does so with every provider, and for a person whom another token names, too. Neither has a meaning for
  /// an application without a person. A device code was requested with its scopes, so scopes are named only if the
  /// token is to be for fewer. A refresh request names the scopes as given: `HeldRefreshToken.scopesToRequest` knows
  /// which reserved ones were granted.
  package var body: [UInt8] {
    var form = FormBody()
    form.append("grant_type", grant.type)
    application.begin(&form)
    switch grant {
    case .clientCredentials:
      if !scopes.isEmpty { form.append("scope", scopes.description) }
    case .authorizationCode(let code, let redirectURI, let verifier):
      form.append("code", code)
      form.append("redirect_uri", redirectURI)
      form.append("code_verifier", verifier)
      form.append("scope", decorated.description)
    case .deviceCode(let code):
      form.append("device_code", code)
      if !scopes.isEmpty { form.append("scope", decorated.description) }
    case .refreshToken(let token):
      form.append("refresh_token", token)
      if !scopes.isEmpty { form.append("scope", scopes.description) }
    case .jwtBearer(let assertion, let isOnBehalfOf):
      form.append("assertion", assertion)
      // No reserved scope: a refresh token would outlive the caller's own.
      if !scopes.isEmpty { form.append("scope", scopes.description) }
      if isOnBehalfOf { form.append("requested_token_use", "on_behalf_of") }
    case .tokenExchange(let subject, let terms, let actor):
      form.append("subject_token", subject)
      form.append("subject_token_type", terms.subjectType)
      if let type = terms.requestedType { form.append("requested_token_type", type) }
      if let actor, let type = terms.actor?.type {
        form.append("actor_token", actor)
        form.append("actor_token_type", type)
      }
      if !scopes.isEmpty { form.append("scope", scopes.description) }
    case .userFederation(let token, let user):
      form.append("user_federated_identity_credential", token)
      form.append(user.isGUID ? "user_id" : "username", user)
      // As for callers: a new token needs the blueprint's credential each time.
      if !scopes.isEmpty { form.append("scope", scopes.description) }
      form.append("requested_token_use", "on_behalf_of")
    }
    if grant.isForPerson { form.append("client_info", "1") }
    if let claims { form.append("claims", claims.text) }
    form.append(parameters)
    application.end(&form)
    return form.bytes
  }

  /// The request's fields beside `content-type`, names in lower case.
  package var fields: [(name: String, value: String)] {
    guard let routingHint, endpoint.takesRoutingHints else { return application.fields }
    return application.fields + [("x-anchormailbox", routingHint.text)]
  }
}
