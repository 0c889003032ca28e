// Owns which path of the identity provider is which endpoint: Entra's v2.0 paths, with the tenant in front.

/// An endpoint and the tenant segment it was asked under.
enum ProviderEndpoint: Hashable {
  /// The OpenID Connect discovery document.
  case metadata(tenant: String)
  /// The public signing keys.
  case keys(tenant: String)
  /// The token endpoint.
  case token(tenant: String)

  /// The endpoint behind a path, or nil.
  init?(path: String) {
    let segments = path.split(separator: "/", omittingEmptySubsequences: false).dropFirst().map(String.init)
    guard let tenant = segments.first, !tenant.isEmpty else { return nil }
    switch segments.dropFirst() {
    case ["v2.0", ".well-known", "openid-configuration"]: self = .metadata(tenant: tenant)
    case ["discovery", "v2.0", "keys"]: self = .keys(tenant: tenant)
    case ["oauth2", "v2.0", "token"]: self = .token(tenant: tenant)
    default: return nil
    }
  }

  /// The path of the endpoint.
  var path: String {
    switch self {
    case .metadata(let tenant): "/\(tenant)/v2.0/.well-known/openid-configuration"
    case .keys(let tenant): "/\(tenant)/discovery/v2.0/keys"
    case .token(let tenant): "/\(tenant)/oauth2/v2.0/token"
    }
  }

  /// The tenant segment.
  var tenant: String {
    switch self {
    case .metadata(let tenant), .keys(let tenant), .token(let tenant): tenant
    }
  }
}
