internal import Bytes
internal import HTTPServer
internal import Platform
internal import Tokens

extension IdentityProvider {
  /// Answers a token request.
  func token(
    _ request: DemoRequest, segment: String, _ state: inout ProviderState, now: UnixTime
  ) throws(ProviderError) -> DemoAnswer {
    guard request.method == "POST" else { throw .postOnly(received: request.method) }
    if let failure = state.behaviour.takeFailure() { throw .ordered(failure) }
    var asked = try TokenEndpointRequest(body: request.body.bytes, authorization: request["authorization"])
    if case .clientCredentials = asked.grant {
      guard let tenant = directory.tenant(segment) else { throw .tenantNotSpecific }
      return try issue(
        ClientCredentialsGrant.claims(for: asked, in: tenant, at: origin, now: now), asked.claims, in: tenant,
        state.behaviour,
        now: now)
    }
    let (application, tenant) = try directory.application(asked.client.clientIdentifier, segment: segment)
    try asked.client.prove(application, at: origin, now: now)
    let authorization = try authorization(asked, application, tenant, segment: segment, &state, now: now)
    let grant = try DelegatedGrant(
      authorization, scopes: asked.scopes, segment: segment, directory, state.consents)
    try SecondFactorRule(state.behaviour).check(grant.person, authorization.authentication, asked.claims)
    let refreshToken = try refreshToken(asked.grant, authorization, grant, &state, now: now)
    // A sign-in is newer than any event before it, be it of the same second.
    if !asked.isSilent, let since = state.tokensCountFrom[grant.object] {
      asked.claims.notBefore = max(asked.claims.notBefore ?? since, since)
    }
    var document = try document(grant, asked.claims, state.behaviour, now: now)
    document.refresh_token = refreshToken
    if case .tokenExchange = asked.grant {
      document.issued_token_type = "urn:ietf:params:oauth:token-type:access_token"
    }
    if asked.wantsClientInfo { document.client_info = grant.clientInfo }
    return DemoAnswer(status: 200, json: document)
      .noted("token for \(grant.person.user.userName) by \(application.displayName): \(grant.scope)")
  }

  /// The grant of the request's code or refresh token.
  private func authorization(
    _ asked: TokenEndpointRequest, _ application: RegisteredApplication, _ tenant: Tenant, segment: String,
    _ state: inout ProviderState, now: UnixTime
  ) throws(ProviderError) -> Authorization {
    let client = application.clientIdentifier
    switch asked.grant {
    case .onBehalfOf(let text), .tokenExchange(let text):
      // A public application cannot prove that it is the one that was called.
      if application.isPublic { throw .noCredential }
      return try self.authorization(
        forCallersToken: text, of: application, in: tenant, countFrom: state.tokensCountFrom, now: now)
    case .userFederation(let text, let user):
      return try self.authorization(forAgentsToken: text, of: application, as: user, in: tenant, now: now)
    case .clientCredentials:
      preconditionFailure("an application's own token needs nobody's authorisation")
    case .authorizationCode(let code, let redirectURI, let verifier):
      do throws(ProviderError) {
        return try state.codes.redeem(
          code, redirectURI: redirectURI, verifier: verifier, client: client, segment: segment, now: now)
      } catch {
        // The code was stolen: the tokens that came of it are revoked (RFC 6749 §4.1.2).
        if error == .codeUsed { state.refreshTokens.revoke(origin: code) }
        throw error
      }
    case .deviceCode(let code):
      return try state.devices.poll(code, client: client, interval: state.behaviour.deviceInterval, now: now)
    case .refreshToken(let token):
      return try state.refreshTokens.authorization(
        token, client: client, refusesReuse: state.behaviour.refusesReplacedTokens, now: now)
    }
  }

  private func refreshToken(
    _ kind: TokenEndpointRequest.Grant, _ authorization: Authorization, _ grant: DelegatedGrant,
    _ state: inout ProviderState, now: UnixTime
  ) throws(ProviderError) -> String? {
    let behaviour = state.behaviour
    if case .refreshToken(let token) = kind {
      return try state.refreshTokens.renew(
        token, rotates: behaviour.rotatesRefreshTokens, lifetime: behaviour.refreshTokenLifetime, now: now)
    }
    guard grant.openID.contains("offline_access") else { return nil }
    var origin: String?
    if case .authorizationCode(let code, _, _) = kind { origin = code }
    return try state.refreshTokens.begin(
      authorization, origin: origin, lifetime: behaviour.refreshTokenLifetime, now: now)
  }

  private func document(
    _ grant: DelegatedGrant, _ asked: ClaimsAsked, _ behaviour: ProviderBehaviour, now: UnixTime
  ) throws(ProviderError) -> TokenDocument {
    let lifetime = behaviour.accessTokenLifetime
    do throws(CryptoError) {
      var access = try grant.accessClaims(provider: origin, capabilities: asked.capabilities)
      try stamp(&access.claims, in: grant.tenant, lifetime: lifetime, now: now)
      access.claims.notBefore = asked.start(now: now)
      var document = try TokenDocument(signer.token(access), lifetime: lifetime, refreshIn: behaviour.refreshIn)
      document.scope = grant.scope
      guard grant.openID.contains("openid") else { return document }
      var identity = try grant.identityClaims()
      try stamp(&identity.claims, in: grant.tenant, lifetime: 3600, now: now)
      document.id_token = try signer.token(identity).revealed()
      return document
    } catch {
      throw .signing(error)
    }
  }

  private func issue(
    _ granted: JWTClaims, _ asked: ClaimsAsked, in tenant: Tenant, _ behaviour: ProviderBehaviour, now: UnixTime
  ) throws(ProviderError) -> DemoAnswer {
    var claims = granted
    let lifetime = behaviour.accessTokenLifetime
    let document: TokenDocument
    do throws(CryptoError) {
      try stamp(&claims, in: tenant, lifetime: lifetime, now: now)
      claims.notBefore = asked.start(now: now)
      let application = ApplicationClaims(claims: claims, xms_cc: asked.capabilities)
      document = try TokenDocument(signer.token(application), lifetime: lifetime, refreshIn: behaviour.refreshIn)
    } catch {
      throw .signing(error)
    }
    let name = claims.application.flatMap(tenant.application)?.displayName ?? "?"
    let api = claims.audiences.first.map { tenant.api($0)?.identifierURI ?? $0 } ?? "?"
    let roles = claims.roles.isEmpty ? "no roles" : claims.roles.joined(separator: " ")
    return DemoAnswer(status: 200, json: document).noted("token for \(name) at \(api): \(roles)")
  }

  /// A token of the machine's own identity, for an API or for the exchange that proves other applications; nil if
  /// the tenant knows neither.
  func machineToken(for resource: String, now: UnixTime) -> (token: Secret, lifetime: Int64)? {
    guard let tenant = directory.tenants.first,
      let machine = tenant.applications.first(where: \.isMachine)
    else { return nil }
    var claims: JWTClaims
    if let api = tenant.api(resource) {
      claims = ClientCredentialsGrant.claims(of: machine, at: api, in: tenant)
    } else if resource == FederatedCredential.exchange {
      claims = JWTClaims()
      claims.subject = machine.object
      claims.object = machine.object
      claims.audiences = [resource]
      claims.tenant = tenant.identifier
    } else {
      return nil
    }
    let lifetime = withState(\.behaviour.accessTokenLifetime)
    do throws(CryptoError) {
      try stamp(&claims, in: tenant, lifetime: lifetime, now: now)
      return (try signer.token(ApplicationClaims(claims: claims, xms_cc: [])), lifetime)
    } catch {
      return nil
    }
  }

  /// Issuer, times and identifier: what every token of this provider has.
  private func stamp(
    _ claims: inout JWTClaims, in tenant: Tenant, lifetime: Int64, now: UnixTime
  ) throws(CryptoError) {
    claims.issuer = issuer(tenant: tenant.identifier)
    claims.issuedAt = now
    claims.notBefore = now
    claims.expiresAt = now + lifetime
    claims.version = "2.0"
    claims.tokenIdentifier = try Base64URL.encode(RandomBytes.make(16))
  }
}
