// The rules of tokens that are exchanged for others: the token that an application was called with (Entra's
// on-behalf-of, and RFC 8693 with the same meaning), and an agent's own token for its account (Entra's `user_fic`).

internal import Bytes
internal import Platform
internal import Tokens

extension IdentityProvider {
  /// The authorization of the person whose token `application` was called with, as far as the sign-in behind it goes.
  func authorization(
    forCallersToken text: String, of application: RegisteredApplication, in tenant: Tenant,
    countFrom: [String: UnixTime], now: UnixTime
  ) throws(ProviderError) -> Authorization {
    var audiences: Set = [application.clientIdentifier]
    if let api = tenant.api(application.clientIdentifier) { audiences.insert(api.identifierURI) }
    // People call a blueprint, and one of its agents asks for them.
    if let api = application.blueprint.flatMap(tenant.api) {
      audiences.formUnion([api.clientIdentifier, api.identifierURI])
    }
    let (token, claims) = try trusted(text, audiences, of: application, in: tenant, now: now)
    // An application's own token carries no person's authorization.
    guard claims.identityType != "app", let object = claims.object,
      let person = directory.person(known: object, in: tenant)
    else { throw .assertionUntrusted }
    if let since = countFrom[object], claims.notBefore.map({ $0 < since }) ?? true {
      throw .stepUpRequired(claims: #"{"access_token":{"nbf":{"essential":true,"value":"\#(since.seconds)"}}}"#)
    }
    return Authorization(
      person: person.user.object, tenant: tenant.identifier, client: application.clientIdentifier, scopes: [],
      authentication: Authentication(
        at: claims.authenticatedAt ?? now, isTwofold: AssuranceClaims(token).level == Authentication.twofold))
  }

  /// The authorization of an agent for its own account `user`: a user name or an object.
  func authorization(
    forAgentsToken text: String, of agent: RegisteredApplication, as user: String, in tenant: Tenant, now: UnixTime
  ) throws(ProviderError) -> Authorization {
    let claims: JWTClaims
    do throws(ProviderError) {
      (_, claims) = try trusted(text, [FederatedCredential.exchange], of: agent, in: tenant, now: now)
    } catch {
      throw .assertionUntrusted
    }
    let name = user.lowercased()
    guard agent.blueprint != nil, claims.subject == agent.object,
      let account = tenant.users.first(where: { $0.object == name || $0.userName.lowercased() == name }),
      account.agent == agent.clientIdentifier
    else { throw .assertionUntrusted }
    return Authorization(
      person: account.object, tenant: tenant.identifier, client: agent.clientIdentifier, scopes: [],
      authentication: Authentication(at: now))
  }

  /// A token that this provider issued for one of `audiences`.
  private func trusted(
    _ text: String, _ audiences: Set<String>, of application: RegisteredApplication, in tenant: Tenant, now: UnixTime
  ) throws(ProviderError) -> (SignedJWT, JWTClaims) {
    let rule = JWTValidation(issuer: issuer(tenant: tenant.identifier), audiences: audiences, leeway: 60)
    do throws(JWTRefusal) {
      let token = try SignedJWT(text)
      return (token, try rule.accept(token, now: now) { token, _ in signer.verdict(token) })
    } catch {
      switch error {
      case .expired: throw .callersTokenExpired
      case .audience: throw .callersTokenForAnother(application.clientIdentifier)
      default: throw .assertionUntrusted
      }
    }
  }
}

extension DemoDirectory {
  /// The person with this `oid` in a tenant.
  fileprivate func person(known object: String, in tenant: Tenant) -> Person? {
    let people = tenants.flatMap { home in home.users.map { Person(user: $0, home: home) } }
    return people.first { $0.object(in: tenant) == object }
  }
}
