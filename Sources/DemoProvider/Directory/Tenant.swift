// What a tenant of the sample directory knows: its people, its applications, and the APIs they may call.

package import Bytes
internal import Platform
package import Tokens

/// A tenant, and everything registered in it.
package struct Tenant: Sendable {
  /// The tenant's GUID: `tid`, and the path of its issuer.
  package var identifier: String
  /// The name shown on pages and in error messages.
  package var displayName: String
  /// Verified domains, which stand for the GUID in a request's path.
  package var domains: [String]
  /// Applications that may ask for tokens.
  package var applications: [RegisteredApplication]
  /// APIs that tokens can be for.
  package var apis: [RegisteredAPI]
  /// People at home here.
  package var users: [RegisteredUser]
  /// People from elsewhere: their `oid` here by their `oid` at home.
  package var guests: [String: String]

  /// A tenant.
  package init(
    identifier: String, displayName: String, domains: [String], applications: [RegisteredApplication],
    apis: [RegisteredAPI], users: [RegisteredUser] = [], guests: [String: String] = [:]
  ) {
    self.identifier = identifier
    self.displayName = displayName
    self.domains = domains
    self.applications = applications
    self.apis = apis
    self.users = users
    self.guests = guests
  }

  /// The application with this client identifier, letter case aside.
  func application(_ clientIdentifier: String) -> RegisteredApplication? {
    applications.first { $0.clientIdentifier == clientIdentifier.lowercased() }
  }

  /// The API that `resource` means: its identifier URI, with or without a slash at the end, or its client identifier.
  func api(_ resource: String) -> RegisteredAPI? {
    let name = resource.hasSuffix("/") ? String(resource.dropLast()) : resource
    return apis.first { $0.identifierURI == name || $0.clientIdentifier == name.lowercased() }
  }
}

/// A user at home in one tenant.
package struct RegisteredUser: Sendable {
  /// `oid` in the home tenant: a GUID in lower case.
  package var object: String
  /// `preferred_username`: what is typed to sign in.
  package var userName: String
  package var displayName: String
  /// What proves it; nil for an agent's, to which nobody signs in.
  package var password: Secret?
  /// The `client_id` of the agent identity whose account it is.
  package var agent: String?

  package init(object: String, userName: String, displayName: String, password: Secret?, agent: String? = nil) {
    self.object = object
    self.userName = userName
    self.displayName = displayName
    self.password = password
    self.agent = agent
  }
}

/// An application.
package struct RegisteredApplication: Sendable {
  /// `client_id`, a GUID in lower case.
  package var clientIdentifier: String
  /// `oid`: the service principal's object in the tenant.
  package var object: String
  /// The name shown in logs and on the consent page.
  package var displayName: String
  /// Secrets that prove it, more than one while one is being replaced; a public application has none.
  package var secrets: [Secret]
  /// Certificates that prove it in the place of a secret.
  package var certificates: [RegisteredCertificate]
  /// Those whose tokens prove it in the place of a secret.
  package var federatedCredentials: [FederatedCredential]
  /// App roles granted with an administrator's consent, per API's client identifier.
  package var grantedRoles: [String: [String]]
  /// Scopes that an administrator has consented to for everyone, per API's client identifier.
  package var delegatedScopes: [String: [String]]
  /// Where sign-ins may return to. `http://localhost` and `http://127.0.0.1` stand for every port.
  package var redirectURIs: [String]

  /// An application.
  package init(
    clientIdentifier: String, object: String, displayName: String, secrets: [Secret] = [],
    certificates: [RegisteredCertificate] = [],
    federatedCredentials: [FederatedCredential] = [], grantedRoles: [String: [String]] = [:],
    delegatedScopes: [String: [String]] = [:], redirectURIs: [String] = []
  ) {
    self.clientIdentifier = clientIdentifier
    self.object = object
    self.displayName = displayName
    self.secrets = secrets
    self.certificates = certificates
    self.federatedCredentials = federatedCredentials
    self.grantedRoles = grantedRoles
    self.delegatedScopes = delegatedScopes
    self.redirectURIs = redirectURIs
  }

  /// Whether it cannot keep a secret: it proves nothing, and must use PKCE.
  var isPublic: Bool { secrets.isEmpty && certificates.isEmpty && federatedCredentials.isEmpty && !isMachine }
  /// Whether it is a machine's identity: only the machine's service hands out its tokens.
  package var isMachine = false
  /// The `client_id` of the blueprint whose agent identity it is: that one's tokens prove it.
  package var blueprint: String?
}

/// Another issuer's tokens that prove an application.
package struct FederatedCredential: Sendable {
  package var issuer: String
  /// The one subject, such as `system:serviceaccount:orders:legacy-app`.
  package var subject: String
  /// What the tokens must be meant for.
  package var audience: String
  /// The issuer's public keys. A provider on the network would fetch them.
  package var keys: JWKSet

  /// The audience that Entra wants.
  package static let exchange = "api://AzureADTokenExchange"

  /// The subject of a blueprint's token for one of its agents.
  static func subject(of agent: String, of blueprint: String, in tenant: String) -> String {
    "/eid1/c/pub/t/\(tenant)/a/\(blueprint)/\(agent)"
  }

  /// A credential.
  package init(issuer: String, subject: String, audience: String = exchange, keys: JWKSet) {
    self.issuer = issuer
    self.subject = subject
    self.audience = audience
    self.keys = keys
  }

  /// Whether an assertion is one of these tokens, and good at an instant.
  func accepts(_ assertion: SignedJWT, now: UnixTime) throws(JWTRefusal) -> Bool {
    let rule = JWTValidation(issuer: issuer, audiences: [audience], leeway: 0)
    let claims = try rule.accept(assertion, now: now) { token, _ in
      let isSigned = keys.candidates(for: token.header).contains { key in
        do throws(CryptoError) {
          return try RSAPublicKey(modulus: key.modulus, exponent: key.exponent)
            .verifies(token.signature.span, of: token.signingInput.span, .rs256)
        } catch {
          return false
        }
      }
      return isSigned ? .valid : .invalid
    }
    return claims.subject == subject
  }
}

/// An API that tokens can be for.
package struct RegisteredAPI: Sendable {
  /// A permission that a user can give to an application.
  package struct Scope: Sendable, Hashable {
    /// The word in `scp`, such as `Orders.Read`.
    package var name: String
    /// What the consent page says about it.
    package var description: String

    /// A scope.
    package init(_ name: String, _ description: String) {
      self.name = name
      self.description = description
    }
  }

  /// The API's own client identifier, a GUID: the audience of its tokens.
  package var clientIdentifier: String
  /// The name that scopes begin with, such as `api://orders`, without a slash at the end.
  package var identifierURI: String
  /// The name that the consent page shows.
  package var displayName: String
  /// The scopes that users can consent to.
  package var scopes: [Scope]

  /// An API.
  package init(clientIdentifier: String, identifierURI: String, displayName: String, scopes: [Scope]) {
    self.clientIdentifier = clientIdentifier
    self.identifierURI = identifierURI
    self.displayName = displayName
    self.scopes = scopes
  }

  /// The scope of this name, letter case aside.
  func scope(_ name: String) -> Scope? { scopes.first { $0.name.lowercased() == name.lowercased() } }
}
