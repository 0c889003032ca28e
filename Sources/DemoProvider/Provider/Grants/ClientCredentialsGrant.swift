// The rule of the client credentials grant: who gets a token for itself, for which API, with which roles.

internal import Bytes
internal import Tokens

/// Tokens for an application itself.
enum ClientCredentialsGrant {
  /// The claims of such a token. Issuer, times and identifier are added by the one who issues it.
  static func claims(
    for request: TokenEndpointRequest, in tenant: Tenant, at origin: String, now: UnixTime
  ) throws(ProviderError) -> JWTClaims {
    guard let scopes = request.scopes else { throw .missingParameter("scope") }
    guard let application = tenant.application(request.client.clientIdentifier) else {
      throw .unknownApplication(request.client.clientIdentifier, tenant: tenant.displayName)
    }
    guard request.client.secret != nil || request.client.assertion != nil else { throw .noCredential }
    try request.client.prove(application, at: origin, now: now)
    if let claims = try exchangeClaims(for: request, of: application, in: tenant) { return claims }
    return claims(of: application, at: try api(named: scopes, in: tenant), in: tenant)
  }

  /// The claims of an application's token at an API.
  static func claims(of application: RegisteredApplication, at api: RegisteredAPI, in tenant: Tenant) -> JWTClaims {
    var claims = JWTClaims()
    claims.subject = application.object
    claims.object = application.object
    claims.audiences = [api.clientIdentifier]
    claims.tenant = tenant.identifier
    claims.application = application.clientIdentifier
    claims.roles = application.grantedRoles[api.clientIdentifier] ?? []
    claims.identityType = "app"
    return claims
  }

  /// The claims of a blueprint's token that proves its agent, or of the agent's own that represents it in the
  /// exchange for its user; nil if another token is requested.
  private static func exchangeClaims(
    for request: TokenEndpointRequest, of application: RegisteredApplication, in tenant: Tenant
  ) throws(ProviderError) -> JWTClaims? {
    guard request.scopes == ["\(FederatedCredential.exchange)/.default"] else {
      if request.agent != nil { throw .unsupportedParameter("fmi_path") }
      return nil
    }
    var claims = JWTClaims()
    claims.audiences = [FederatedCredential.exchange]
    claims.tenant = tenant.identifier
    claims.application = application.clientIdentifier
    claims.identityType = "app"
    if let name = request.agent {
      guard let agent = tenant.application(name), agent.blueprint == application.clientIdentifier else {
        throw .unknownApplication(name, tenant: tenant.displayName)
      }
      claims.subject = FederatedCredential.subject(of: name, of: application.clientIdentifier, in: tenant.identifier)
      return claims
    }
    guard application.blueprint != nil else { return nil }
    claims.subject = application.object
    return claims
  }

  /// One scope, `<resource>/.default`, of an API that the tenant knows.
  private static func api(named scopes: [String], in tenant: Tenant) throws(ProviderError) -> RegisteredAPI {
    guard let scope = scopes.first, scopes.count == 1 else {
      throw .invalidScope(scopes.joined(separator: " "))
    }
    guard scope.hasSuffix("/.default") else { throw .scopeNotDefault(scope) }
    let resource = String(scope.dropLast("/.default".count))
    guard let api = tenant.api(resource) else { throw .unknownResource(resource, tenant: tenant.displayName) }
    return api
  }
}
