// Owns the OpenID Connect discovery document of a tenant. It names what this provider does, and nothing it does not.

/// What `/.well-known/openid-configuration` answers (OpenID Connect Discovery 1.0 §3).
struct DiscoveryDocument: Codable, Hashable {
  var issuer: String
  var token_endpoint: String
  var jwks_uri: String
  var token_endpoint_auth_methods_supported = ["client_secret_post", "client_secret_basic"]
  var grant_types_supported = ["client_credentials"]
  var id_token_signing_alg_values_supported = ["RS256"]
  var subject_types_supported = ["pairwise"]

  /// The document of a tenant at `origin`, such as `https://localhost:8443`.
  init(origin: String, tenant: String) {
    issuer = Self.issuer(origin: origin, tenant: tenant)
    token_endpoint = origin + ProviderEndpoint.token(tenant: tenant).path
    jwks_uri = origin + ProviderEndpoint.keys(tenant: tenant).path
  }

  /// The `iss` of a tenant's tokens.
  static func issuer(origin: String, tenant: String) -> String { "\(origin)/\(tenant)/v2.0" }
}
