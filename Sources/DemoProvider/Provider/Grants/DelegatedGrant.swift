// The rule of delegated tokens: which scopes of which API an authorisation is worth, and what the tokens say.

internal import Bytes
internal import FoundationEssentials
internal import Platform
internal import Tokens

/// The result of a token request about a person.
struct DelegatedGrant {
  let person: Person
  /// The tenant that the tokens are of.
  let tenant: Tenant
  /// The API that the access token is for; nil: none was named, and the token is for the provider itself.
  let api: RegisteredAPI?
  /// The scopes granted: every one of the API's that the person consented to, not only those asked for, as Entra does.
  let names: [String]
  /// OpenID Connect's words among what was asked for.
  let openID: Set<String>
  /// The person's `oid` in the tenant.
  let object: String
  private let prefix: String
  private let authorization: Authorization

  /// Judges a request for `scopes`, or for those of the sign-in if there are none, at the tenant `segment`.
  init(
    _ authorization: Authorization, scopes: [String]?, segment: String, _ directory: DemoDirectory, _ consents: Consents
  ) throws(ProviderError) {
    let name = DemoDirectory.isAnyTenant(segment) ? authorization.tenant : segment
    guard let tenant = directory.tenant(name) else { throw .unknownTenant(segment) }
    guard let person = directory.person(object: authorization.person) else { throw .sessionRevoked }
    guard let object = person.object(in: tenant) else {
      throw .notInTenant(person.user.userName, tenant: tenant.displayName)
    }
    guard tenant.application(authorization.client) != nil else {
      throw .unknownApplication(authorization.client, tenant: tenant.displayName)
    }
    let asked = try RequestedScopes(scopes ?? authorization.scopes, in: tenant)
    // A sign-in may collect consent for several APIs; a token is for one.
    if scopes != nil, asked.resources.count > 1 { throw .severalResources((scopes ?? []).joined(separator: " ")) }
    let words = authorization.scopes.filter { RequestedScopes.openID.scope($0) != nil }
    openID = Set(asked.openID).union(words.map { $0.lowercased() })
    self.authorization = authorization
    self.person = person
    self.tenant = tenant
    self.object = object
    let resource = asked.resources.first
    let api = resource.flatMap { tenant.api($0.api) }
    self.api = api
    prefix = resource?.prefix ?? ""
    guard let api, let resource else {
      names = []
      return
    }
    let party = Consents.Party(
      person: authorization.person, client: authorization.client, tenant: tenant.identifier)
    let granted = tenant.application(authorization.client)?.delegatedScopes[api.clientIdentifier] ?? []
    let held = consents.names(api.clientIdentifier, party).union(granted)
    guard !held.isEmpty, resource.names.allSatisfy(held.contains) else {
      throw .consentRequired(authorization.client)
    }
    names = api.scopes.map(\.name).filter(held.contains)
  }

  /// `scope` of the reply: the API's under the name it was asked for.
  var scope: String {
    api == nil ? openID.sorted().joined(separator: " ") : names.map { "\(prefix)/\($0)" }.joined(separator: " ")
  }

  /// The access token's claims, but for issuer, times and identifier.
  func accessClaims(provider: String, capabilities: [String]) throws(CryptoError) -> PersonalClaims {
    var claims = try claims(audience: api?.clientIdentifier ?? provider)
    claims.application = authorization.client
    claims.scopes = api == nil ? openID.sorted() : names
    return PersonalClaims(
      claims: claims, preferred_username: person.user.userName, name: person.user.displayName,
      authentication: authorization.authentication, acrs: authorization.authentication.contexts, xms_cc: capabilities)
  }

  /// The ID token's claims, but for issuer, times and identifier.
  func identityClaims() throws(CryptoError) -> PersonalClaims {
    PersonalClaims(
      claims: try claims(audience: authorization.client), preferred_username: person.user.userName,
      name: person.user.displayName, nonce: authorization.nonce,
      email: openID.contains("email") ? person.user.userName : nil, authentication: authorization.authentication)
  }

  private func claims(audience: String) throws(CryptoError) -> JWTClaims {
    var claims = JWTClaims()
    claims.audiences = [audience]
    claims.tenant = tenant.identifier
    claims.object = object
    // Pairwise: two applications cannot tell by `sub` that they see the same person.
    claims.subject = try Base64URL.encode(SHA256.digest(of: Array("\(object) \(audience)".utf8)))
    return claims
  }

  /// `client_info`: the account in its home tenant, whichever tenant the tokens are of.
  var clientInfo: String {
    Base64URL.encode(Array("{\"uid\":\"\(person.user.object)\",\"utid\":\"\(person.home.identifier)\"}".utf8))
  }
}

/// The claims of an ID token, or of an access token that a person's consent entitles to.
struct PersonalClaims: Encodable {
  var claims: JWTClaims
  var preferred_username: String
  var name: String
  /// ID tokens only.
  var nonce: String?
  /// ID tokens only, if it was requested.
  var email: String?
  /// `auth_time`, `acr`, `amr`.
  var authentication: Authentication
  /// Authentication contexts. Access tokens only.
  var acrs: [String] = []
  /// The application's client capabilities. Access tokens only.
  var xms_cc: [String] = []

  private enum Name: String, CodingKey {
    case preferred_username, name, nonce, email, auth_time, acr, amr, acrs, xms_cc
  }

  func encode(to encoder: any Encoder) throws {
    try claims.encode(to: encoder)
    var members = encoder.container(keyedBy: Name.self)
    try members.encode(preferred_username, forKey: .preferred_username)
    try members.encode(name, forKey: .name)
    try members.encodeIfPresent(nonce, forKey: .nonce)
    try members.encodeIfPresent(email, forKey: .email)
    try members.encode(authentication.at.seconds, forKey: .auth_time)
    try members.encode(authentication.level, forKey: .acr)
    try members.encode(authentication.methods, forKey: .amr)
    if !acrs.isEmpty { try members.encode(acrs, forKey: .acrs) }
    if !xms_cc.isEmpty { try members.encode(xms_cc, forKey: .xms_cc) }
  }
}

/// The claims of a token that an application got for itself.
struct ApplicationClaims: Encodable {
  var claims: JWTClaims
  /// The application's client capabilities.
  var xms_cc: [String]

  private enum Name: String, CodingKey { case xms_cc }

  func encode(to encoder: any Encoder) throws {
    try claims.encode(to: encoder)
    var members = encoder.container(keyedBy: Name.self)
    if !xms_cc.isEmpty { try members.encode(xms_cc, forKey: .xms_cc) }
  }
}
