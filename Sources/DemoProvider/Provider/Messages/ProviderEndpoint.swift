// Which path of the identity provider is which endpoint: Entra's v2.0 paths, with the tenant in front.

/// An endpoint and the tenant segment it was asked under.
enum ProviderEndpoint: Hashable {
  /// The page that lists users, applications and what can be tried.
  case root
  /// The OpenID Connect discovery document.
  case metadata(tenant: String)
  /// The public signing keys.
  case keys(tenant: String)
  /// The authorization endpoint: where a sign-in begins.
  case authorize(tenant: String)
  /// Where the pages of a sign-in post their forms.
  case interaction(tenant: String)
  /// The token endpoint.
  case token(tenant: String)
  /// The device authorization endpoint.
  case deviceAuthorization(tenant: String)
  /// The end of the browser's sessions.
  case logout(tenant: String)
  /// Where people type a device's code.
  case device
  /// The provider's behaviour and memory, for demonstrations and tests.
  case testing(TestingTask)

  /// The endpoint behind a path, or nil.
  init?(path: String) {
    if path == "/" {
      self = .root
      return
    }
    let segments = path.split(separator: "/", omittingEmptySubsequences: false).dropFirst().map(String.init)
    guard let tenant = segments.first, !tenant.isEmpty else { return nil }
    switch segments.dropFirst() {
    case ["v2.0", ".well-known", "openid-configuration"]: self = .metadata(tenant: tenant)
    case ["discovery", "v2.0", "keys"]: self = .keys(tenant: tenant)
    case ["oauth2", "v2.0", "authorize"]: self = .authorize(tenant: tenant)
    case ["oauth2", "v2.0", "interaction"]: self = .interaction(tenant: tenant)
    case ["oauth2", "v2.0", "token"]: self = .token(tenant: tenant)
    case ["oauth2", "v2.0", "devicecode"]: self = .deviceAuthorization(tenant: tenant)
    case ["oauth2", "v2.0", "logout"]: self = .logout(tenant: tenant)
    case [] where tenant == "device": self = .device
    case let rest where tenant == "testing" && rest.count == 1:
      guard let task = rest.first.flatMap(TestingTask.init) else { return nil }
      self = .testing(task)
    default: return nil
    }
  }

  /// The path of the endpoint.
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

  /// What it is called where requests are counted.
  var name: String {
    switch self {
    case .root: "root"
    case .metadata: "discovery"
    case .keys: "jwks"
    case .authorize: "authorize"
    case .interaction: "interaction"
    case .token: "token"
    case .deviceAuthorization: "devicecode"
    case .logout: "logout"
    case .device: "device"
    case .testing: "testing"
    }
  }

  /// Whether people look at its answers, so that they are pages.
  var isForPeople: Bool {
    switch self {
    case .root, .authorize, .interaction, .logout, .device: true
    case .metadata, .keys, .token, .deviceAuthorization, .testing: false
    }
  }
}

/// What the testing endpoint does.
enum TestingTask: String, CaseIterable {
  /// Tells how often each endpoint was asked.
  case requests
  /// Replaces the provider's behaviour.
  case behaviour
  /// Ends everything of a person that is not an access token already out.
  case revoke
  /// From now on the access tokens already out about a person or an application count no more at APIs that evaluate
  /// them continuously. Refresh tokens stay good.
  case criticalEvent = "critical-event"
  /// Forgets what a person consented to.
  case withdraw
}

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
