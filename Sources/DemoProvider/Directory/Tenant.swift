// A tenant of the sample directory: its people, its applications, and the APIs they may call.

internal import Bytes
internal import Platform
package import Tokens

struct Tenant: Sendable {
  /// A GUID: `tid`, and the path of its issuer.
  var identifier: String
  /// The name on pages and in error messages.
  var displayName: String
  /// Verified domains, which a request's path may have in place of the GUID.
  var domains: [String]
  var applications: [RegisteredApplication]
  /// APIs that tokens can be for.
  var apis: [RegisteredAPI]
  /// People at home here.
  var users: [RegisteredUser]
  /// People from elsewhere: their `oid` here by their `oid` at home.
  var guests: [String: String] = [:]

  /// The application with this client identifier, in any letter case.
  func application(_ clientIdentifier: String) -> RegisteredApplication? {
    applications.first { $0.clientIdentifier == clientIdentifier.lowercased() }
  }

  /// The API of an identifier URI, with or without a slash at the end, or of a client identifier.
  func api(_ resource: String) -> RegisteredAPI? {
    let name = resource.hasSuffix("/") ? String(resource.dropLast()) : resource
    return apis.first { $0.identifierURI == name || $0.clientIdentifier == name.lowercased() }
  }
}

/// A user at home in one tenant.
struct RegisteredUser: Sendable {
  /// `oid` in the home tenant: a GUID in lower case.
  var object: String
  /// `preferred_username`, which is typed to sign in.
  var userName: String
  var displayName: String
  /// Nil for the account of an agent: it has no sign-in.
  var password: Secret?
  /// The `client_id` of the agent identity with this account.
  var agent: String?
}

struct RegisteredApplication: Sendable {
  /// `client_id`, a GUID in lower case.
  var clientIdentifier: String
  /// `oid`: the service principal's object in the tenant.
  var object: String
  /// The name in logs and on the consent page.
  var displayName: String
  /// Secrets that prove it; several while one is being replaced.
  var secrets: [Secret] = []
  /// Certificates that prove it in place of a secret.
  var certificates: [RegisteredCertificate] = []
  /// Issuers whose tokens prove it in place of a secret.
  var federatedCredentials: [FederatedCredential] = []
  /// App roles granted by an administrator, per API's client identifier.
  var grantedRoles: [String: [String]] = [:]
  /// Scopes that an administrator has consented to for everyone, per API's client identifier.
  var delegatedScopes: [String: [String]] = [:]
  /// `http://localhost` and `http://127.0.0.1` allow every port.
  var redirectURIs: [String] = []
  /// True for a machine's identity: only the machine's service hands out its tokens.
  var isMachine = false
  /// The `client_id` of the blueprint whose tokens prove this agent identity.
  var blueprint: String?

  /// True if it cannot keep a secret: it proves nothing, and must use PKCE.
  var isPublic: Bool { secrets.isEmpty && certificates.isEmpty && federatedCredentials.isEmpty && !isMachine }
}

/// Another issuer's tokens that prove an application.
package struct FederatedCredential: Sendable {
  package var issuer: String
  /// The one subject, such as `system:serviceaccount:orders:legacy-app`.
  package var subject: String
  /// The audience that its tokens must have.
  package var audience: String
  /// The issuer's public keys. A provider on the network would fetch them.
  package var keys: JWKSet

  /// The audience that Entra demands.
  package static let exchange = "api://AzureADTokenExchange"

  package init(issuer: String, subject: String, audience: String = exchange, keys: JWKSet) {
    (self.issuer, self.subject, self.audience, self.keys) = (issuer, subject, audience, keys)
  }

  /// The subject of a blueprint's token for one of its agents.
  static func subject(of agent: String, of blueprint: String, in tenant: String) -> String {
    "/eid1/c/pub/t/\(tenant)/a/\(blueprint)/\(agent)"
  }

  /// True if an assertion is one of these tokens, and valid now.
  func accepts(_ assertion: SignedJWT, now: UnixTime) throws(JWTRefusal) -> Bool {
    let rule = JWTValidation(issuer: issuer, audiences: [audience], leeway: 0)
    let claims = try rule.accept(assertion, now: now) { token, _ in keys.verdict(token) }
    return claims.subject == subject
  }
}

extension JWKSet {
  /// The verdict on an RSA signature by one of these keys.
  func verdict(_ token: SignedJWT, _ algorithm: RSASignatureAlgorithm = .rs256) -> SignatureVerdict {
    let candidates = candidates(for: token.header)
    let isSigned = candidates.contains { key in
      do throws(CryptoError) {
        return try RSAPublicKey(modulus: key.modulus, exponent: key.exponent)
          .verifies(token.signature.span, of: token.signingInput.span, algorithm)
      } catch {
        return false
      }
    }
    return isSigned ? .valid : candidates.isEmpty ? .unknownKey : .invalid
  }
}

/// An API that tokens can be for.
struct RegisteredAPI: Sendable {
  /// A permission that a user can give to an application.
  struct Scope: Sendable, Hashable {
    /// The word in `scp`, such as `Orders.Read`.
    var name: String
    /// The explanation on the consent page.
    var description: String

    init(_ name: String, _ description: String) {
      (self.name, self.description) = (name, description)
    }
  }

  /// The API's own client identifier, a GUID: the audience of its tokens.
  var clientIdentifier: String
  /// The beginning of its scopes, such as `api://orders`, without a slash at the end.
  var identifierURI: String
  /// The name on the consent page.
  var displayName: String
  /// The scopes that users can consent to.
  var scopes: [Scope]

  /// The scope of this name, in any letter case.
  func scope(_ name: String) -> Scope? { scopes.first { $0.name.lowercased() == name.lowercased() } }
}
