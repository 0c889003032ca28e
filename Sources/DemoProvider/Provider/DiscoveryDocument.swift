// Owns the OpenID Connect discovery document of a tenant. It names what this provider does, and nothing it does not.

/// What `/.well-known/openid-configuration` answers (OpenID Connect Discovery 1.0 §3).
struct DiscoveryDocument: Codable, Hashable {
  var issuer: String
  var authorization_endpoint: String
  var token_endpoint: String
  var device_authorization_endpoint: String
  var end_session_endpoint: String
  var jwks_uri: String
  var response_types_supported = ["code"]
  var response_modes_supported = ["query", "form_post"]
  var code_challenge_methods_supported = ["S256"]
  var grant_types_supported = [
    "authorization_code", "refresh_token", "client_credentials", "urn:ietf:params:oauth:grant-type:device_code",
  ]
  var token_endpoint_auth_methods_supported = ["client_secret_post", "client_secret_basic", "none"]
  var scopes_supported = ["openid", "profile", "email", "offline_access"]
  var prompt_values_supported = ["none", "login", "consent", "select_account"]
  var id_token_signing_alg_values_supported = ["RS256"]
  var subject_types_supported = ["pairwise"]

  /// The document under a tenant segment at `origin`, such as `https://localhost:8443`. `tenant` is nil where the
  /// tenant is known only once a person has signed in; the issuer then has Entra's place-holder.
  init(origin: String, segment: String, tenant: Tenant?) {
    let name = tenant?.identifier ?? segment
    issuer = Self.issuer(origin: origin, tenant: tenant?.identifier ?? "{tenantid}")
    authorization_endpoint = origin + ProviderEndpoint.authorize(tenant: name).path
    token_endpoint = origin + ProviderEndpoint.token(tenant: name).path
    device_authorization_endpoint = origin + ProviderEndpoint.deviceAuthorization(tenant: name).path
    end_session_endpoint = origin + ProviderEndpoint.logout(tenant: name).path
    jwks_uri = origin + ProviderEndpoint.keys(tenant: name).path
  }

  /// The `iss` of a tenant's tokens.
  static func issuer(origin: String, tenant: String) -> String { "\(origin)/\(tenant)/v2.0" }
}
