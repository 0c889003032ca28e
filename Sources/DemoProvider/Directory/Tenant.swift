internal import Bytes
internal import HTTP

/// Every tenant, person, application and API that the identity provider knows. `sample` makes it.
package struct DemoDirectory: Sendable {
  var tenants: [Tenant]
  var people: [Person]
  var applications: [Application]
  var apis: [API]

  /// The tenant of a path's segment; nil if the segment leaves it to the person who signs in.
  func tenant(_ segment: String) throws(Refusal) -> Tenant? {
    let name = segment.lowercased()
    if ["common", "organizations"].contains(name) { return nil }
    guard let tenant = tenants.first(where: { [$0.identifier, $0.domain].contains(name) }) else {
      throw .request(90002, "Tenant '\(segment)' not found.")
    }
    return tenant
  }

  func person(userName: String) -> Person? {
    people.first { $0.userName == userName.lowercased() && $0.password != nil }
  }

  /// The application of a `client_id`, in any letter case.
  func application(_ client: String, in tenant: Tenant?) throws(Refusal) -> Application {
    let found = applications.first { $0.client == client.lowercased() }
    guard let found, tenant.map({ found.tenants.contains($0.identifier) }) ?? true else {
      throw .unknownApplication(client, tenant?.name ?? "organizations")
    }
    return found
  }

  /// The API of an identifier URI, with or without a slash at its end, or of a `client_id`.
  func api(_ resource: String) throws(Refusal) -> API {
    let name = resource.hasSuffix("/") ? String(resource.dropLast()) : resource
    guard let api = apis.first(where: { $0.uri == name || $0.client == name.lowercased() }) else {
      throw .request(
        500_011, "The resource principal named \(resource) was not found in the tenant.", error: "invalid_resource")
    }
    return api
  }
}

struct Tenant: Sendable, Hashable {
  /// A GUID: `tid`. A request's path has it, or the domain.
  let identifier, name, domain: String
}

struct Person: Sendable {
  /// `preferred_username`, in lower case, and `name`.
  let userName, name: String
  /// Nil for the account of an agent: it has no sign-in.
  var password: Secret? = Secret(DemoDirectory.Sample.password)
  var home: Tenant
  /// The `oid` in each tenant that knows the person: at home, and as a guest.
  var objects: [String: String]
  /// The `client_id` of the agent identity with this account.
  var agent: String?

  /// The `oid` at home.
  var object: String { objects[home.identifier] ?? "" }
}

struct Application: Sendable {
  /// `client_id`, a GUID in lower case; `oid` of its service principal; the name in logs and on the consent page.
  let client, object, name: String
  /// True if it cannot keep a secret: it proves nothing, and must use PKCE.
  var isPublic = false
  /// True for a machine's identity: only the machine's service hands out its tokens.
  var isMachine = false
  var secret: Secret?
  /// Issuers whose tokens prove it; one is the application itself if it has a certificate.
  var federated: [FederatedCredential] = []
  /// The `client_id` of the blueprint whose tokens prove this agent identity.
  var blueprint: String?
  /// App roles granted by an administrator, by the API's `client_id`.
  var roles: [String: [String]] = [:]
  /// Scopes that an administrator has consented to for everyone, by the API's `client_id`.
  var delegatedScopes: [String: [String]] = [:]
  var redirectURIs: [String] = []
  /// The tenants that know it.
  var tenants = [DemoDirectory.Sample.tenant]

  /// True if `uri` is registered. One on loopback permits every port (RFC 8252 §7.3; Entra does the same with and
  /// without TLS), and, without a path, the one with a slash.
  func allows(redirectURI uri: String) -> Bool {
    guard let asked = HTTPURL(ifValid: uri), asked.isLoopback else { return redirectURIs.contains(uri) }
    return redirectURIs.compactMap { HTTPURL(ifValid: $0) }.contains {
      $0.scheme == asked.scheme && $0.host == asked.host && $0.target == asked.target
    }
  }
}

/// An API that tokens can be for.
struct API: Sendable {
  /// A GUID, the audience of its tokens; the beginning of its scopes; the name on pages.
  let client, uri, name: String
  /// The scopes that people can consent to, each with its explanation on the consent page.
  var scopes: [(name: String, text: String)]

  /// OpenID Connect's words, which people consent to as to an API's scopes.
  static let openID = API(
    client: "openid", uri: "openid", name: "Your account",
    scopes: [
      ("openid", "Sign you in"), ("profile", "See your name and user name"), ("email", "See your e-mail address"),
      ("offline_access", "Keep the access you give while you are away"),
    ])
}
