// The paths of the identity provider: Entra's v2.0 paths, with the tenant in front.

/// An endpoint and the tenant segment of its path.
enum ProviderEndpoint: Hashable {
  /// The page that lists users, applications and tasks.
  case root
  /// The OpenID Connect discovery document.
  case metadata(tenant: String)
  /// The public signing keys.
  case keys(tenant: String)
  case authorize(tenant: String)
  /// The forms of a sign-in's pages.
  case interaction(tenant: String)
  case token(tenant: String)
  case deviceAuthorization(tenant: String)
  /// The end of the browser's sessions.
  case logout(tenant: String)
  /// The page for a device's code.
  case device
  /// The provider's behaviour and memory, for demonstrations and tests.
  case testing(TestingTask)

  /// The endpoint at a path; nil: none.
  init?(path: String) {
    let name = path.dropFirst().prefix { $0 != "/" }
    let tenant = String(name)
    let endpoints: [ProviderEndpoint] =
      [
        .root, .device, .metadata(tenant: tenant), .keys(tenant: tenant), .authorize(tenant: tenant),
        .interaction(tenant: tenant), .token(tenant: tenant), .deviceAuthorization(tenant: tenant),
        .logout(tenant: tenant),
      ] + TestingTask.allCases.map(ProviderEndpoint.testing)
    guard !name.isEmpty || path == "/", let found = endpoints.first(where: { $0.path == path }) else { return nil }
    self = found
  }

  var path: String {
    switch self {
    case .root: "/"
    case .metadata(let tenant): "/\(tenant)/v2.0/.well-known/openid-configuration"
    case .keys(let tenant): "/\(tenant)/discovery/v2.0/keys"
    case .authorize(let tenant): "/\(tenant)/oauth2/v2.0/authorize"
    case .interaction(let tenant): "/\(tenant)/oauth2/v2.0/interaction"
    case .token(let tenant): "/\(tenant)/oauth2/v2.0/token"
    case .deviceAuthorization(let tenant): "/\(tenant)/oauth2/v2.0/devicecode"
    case .logout(let tenant): "/\(tenant)/oauth2/v2.0/logout"
    case .device: "/device"
    case .testing(let task): "/testing/\(task.rawValue)"
    }
  }

  /// The name under which requests are counted.
  var name: String {
    switch self {
    case .root: "root"
    case .metadata: "discovery"
    case .keys: "jwks"
    case .testing: "testing"
    default: String(path.split(separator: "/").last ?? "")
    }
  }

  /// True if its answers are pages.
  var isForPeople: Bool {
    switch self {
    case .root, .authorize, .interaction, .logout, .device: true
    case .metadata, .keys, .token, .deviceAuthorization, .testing: false
    }
  }
}

enum TestingTask: String, CaseIterable {
  /// Counts requests per endpoint.
  case requests
  /// Replaces the provider's behaviour.
  case behaviour
  /// Ends a person's sessions, codes and refresh tokens.
  case revoke
  /// Makes APIs reject the access tokens that a person or an application has. Refresh tokens stay valid.
  case criticalEvent = "critical-event"
  /// Forgets a person's consents.
  case withdraw
}

/// The discovery document (OpenID Connect Discovery 1.0 §3).
struct DiscoveryDocument: Encodable {
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

  /// The document of a tenant segment at `origin`, such as `https://localhost:8443`. `tenant` is nil if only the
  /// sign-in decides it; the issuer then has Entra's placeholder.
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
