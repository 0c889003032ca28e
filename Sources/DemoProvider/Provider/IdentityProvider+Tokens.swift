// The token endpoint: the application, its grant, the tokens.

internal import Bytes
internal import Platform
internal import Tokens

extension IdentityProvider {
  func token(_ call: Call, _ state: inout ProviderState) throws(Refusal) -> DemoAnswer {
    guard call.request.method == "POST" else { throw .postOnly }
    try state.behaviour.fail()
    let form = try call.request.form()
    let type = try form.required("grant_type")
    let proof = try ClientProof(form, authorization: call.request[field: "authorization"])
    let application = try directory.application(proof.client, in: call.tenant)
    try proof.check(application, at: origin, now: call.now)
    var asked = try ClaimsAsked(form["claims"])
    var scopes = form.words("scope")

    let authorization: Authorization
    var (family, isSignIn, isRefresh): (String?, Bool, Bool) = (nil, false, false)
    switch type {
    case "client_credentials":
      return try applicationToken(application, form, asked, call, state.behaviour)
    case "authorization_code":
      let code = try form.required("code")
      (family, isSignIn) = (code, true)
      authorization = try state.redeem(code: code, form, application)
    // The second name is older than RFC 8628; MSAL.NET sends it.
    case "urn:ietf:params:oauth:grant-type:device_code", "device_code":
      authorization = try state.poll(device: form.required("device_code"), application, now: call.now)
      isSignIn = true
    case "refresh_token":
      let token = try state.use(refreshToken: form.required("refresh_token"), application)
      (authorization, family, isRefresh) = (token.authorization, token.family, true)
    case "urn:ietf:params:oauth:grant-type:jwt-bearer":
      guard form["requested_token_use"] == "on_behalf_of" else { throw .unsupportedParameter("requested_token_use") }
      authorization = try self.authorization(
        ofCaller: form.required("assertion"), of: application, state.tokensCountFrom, call)
    case "urn:ietf:params:oauth:grant-type:token-exchange":
      authorization = try self.authorization(
        ofCaller: form.required("subject_token"), of: application, state.tokensCountFrom, call)
      // It may name the API instead (RFC 8693 §2.1).
      if scopes.isEmpty, let audience = form["audience"] { scopes = ["\(audience)/.default"] }
    case "user_fic":
      authorization = try self.authorization(ofAgent: application, form, call)
    default:
      throw .unsupportedParameter("grant_type")
    }

    let tenant = call.tenant ?? authorization.tenant
    let grant = try DelegatedGrant(authorization, tenant, scopes, directory, state)
    try checkSecondFactor(authorization, asked, state.behaviour)
    // A sign-in is newer than any event before it, be it of the same second.
    if isSignIn, let since = state.tokensCountFrom[grant.object] {
      asked.notBefore = max(asked.notBefore ?? since, since)
    }
    let access: Members = [
      "azp": application.client, "scp": (grant.api == nil ? grant.openID : grant.names).joined(separator: " "),
      "acrs": authorization.authentication.isTwofold ? Authentication.contexts : [],
    ]
    var document = try document(
      grant.claims(audience: grant.api?.client ?? origin).merging(access) { $1 }, asked, tenant, state.behaviour,
      now: call.now)
    document["scope"] = grant.scope
    if grant.openID.contains("openid") {
      var identity = try grant.claims(audience: application.client)
      identity["nonce"] = authorization.nonce
      if grant.openID.contains("email") { identity["email"] = authorization.person.userName }
      document["id_token"] = try signed(identity, tenant, lifetime: 3600, now: call.now)
    }
    if isRefresh || grant.openID.contains("offline_access") {
      let token = try Random.name()
      state.refreshTokens[token] = RefreshToken(authorization: authorization, family: family ?? token)
      state.newestTokens[family ?? token] = token
      document["refresh_token"] = token
    }
    // The result of an exchange (RFC 8693 §2.2.1).
    if type.hasSuffix(":token-exchange") {
      document["issued_token_type"] = "urn:ietf:params:oauth:token-type:access_token"
    }
    if form["client_info"] == "1" {
      let (uid, utid) = (authorization.person.object, authorization.person.home.identifier)
      document["client_info"] = Base64URL.encode(Array(#"{"uid":"\#(uid)","utid":"\#(utid)"}"#.utf8))
    }
    return DemoAnswer(
      200, document, note: "token for \(authorization.person.userName) by \(application.name): \(grant.scope)")
  }

  // MARK: Grants

  /// A token for an application itself (RFC 6749 §4.4).
  private func applicationToken(
    _ application: Application, _ form: ReplyForm, _ asked: ClaimsAsked, _ call: Call, _ behaviour: ProviderBehaviour
  ) throws(Refusal) -> DemoAnswer {
    guard let tenant = call.tenant else { throw .tenantNotSpecific }
    if application.isPublic { throw .noCredential }
    let scope = try form.required("scope")
    if scope.contains(" ") { throw .invalidScope(scope) }
    guard scope.hasSuffix("/.default") else { throw .scopeNotDefault(scope) }
    let resource = String(scope.dropLast("/.default".count))
    let agent = form["fmi_path"]?.lowercased()
    var claims: Members
    var name = resource
    if resource == FederatedCredential.exchange, agent != nil || application.blueprint != nil {
      // A blueprint's token that proves its agent, or the agent's own for the exchange for its user.
      var subject = application.object
      if let agent {
        guard try directory.application(agent, in: tenant).blueprint == application.client else {
          throw .unknownApplication(agent, tenant.name)
        }
        subject = FederatedCredential.subject(of: agent, of: application.client, in: tenant.identifier)
      }
      claims = ["sub": subject, "aud": resource, "azp": application.client, "idtyp": "app"]
    } else {
      if agent != nil { throw .unsupportedParameter("fmi_path") }
      let api = try directory.api(resource)
      claims = applicationClaims(of: application, at: api)
      name = api.uri
    }
    let roles = claims["roles"]??.json.texts ?? ["no roles"]
    return DemoAnswer(
      200, try document(claims, asked, tenant, behaviour, now: call.now),
      note: "token for \(application.name) at \(name): \(roles.joined(separator: " "))")
  }

  /// The claims of an application's token at an API.
  func applicationClaims(of application: Application, at api: API) -> Members {
    [
      "sub": application.object, "oid": application.object, "aud": api.client, "azp": application.client,
      "idtyp": "app", "roles": application.roles[api.client],
    ]
  }

  /// The authorization of the person whose token `application` was called with (Entra's on-behalf-of, and RFC 8693 with
  /// the same meaning), as far as the sign-in behind it goes.
  private func authorization(
    ofCaller text: String, of application: Application, _ countFrom: [String: UnixTime], _ call: Call
  ) throws(Refusal) -> Authorization {
    // A public application cannot prove that it is the one that was called.
    if application.isPublic { throw .noCredential }
    // People call a blueprint, and one of its agents asks for them.
    let called = directory.apis.filter { [application.client, application.blueprint].contains($0.client) }
    let token = try trusted(text, [application.client] + called.flatMap { [$0.client, $0.uri] }, application, call)
    let (claims, tenant) = (token.claims, call.tenant ?? directory.tenants[0])
    // An application's own token carries no person's authorization.
    guard let object = claims.object,
      let person = directory.people.first(where: { $0.objects[tenant.identifier] == object })
    else { throw .untrustedAssertion }
    if let since = countFrom[object], claims.notBefore ?? since - 1 < since {
      throw .stepUp(claims: ClaimsAsked.demand("nbf", "\(since.seconds)"))
    }
    let isTwofold = token.members(1)["acr"]?.text == Authentication.twofold
    return Authorization(
      person: person, tenant: tenant, application: application,
      authentication: Authentication(at: claims.authenticatedAt ?? call.now, isTwofold: isTwofold))
  }

  /// The authorization of an agent for its own account, which it names (Entra's `user_fic`).
  private func authorization(
    ofAgent agent: Application, _ form: ReplyForm, _ call: Call
  ) throws(Refusal) -> Authorization {
    guard (form["username"] == nil) != (form["user_id"] == nil) else { throw .malformed }
    let name = (form["username"] ?? form["user_id"] ?? "").lowercased()
    let token = try trusted(
      form.required("user_federated_identity_credential"), [FederatedCredential.exchange], agent, call)
    let account = directory.people.first { $0.agent == agent.client && [$0.object, $0.userName].contains(name) }
    guard let account, token.claims.subject == agent.object else { throw .untrustedAssertion }
    return Authorization(
      person: account, tenant: account.home, application: agent, authentication: Authentication(at: call.now))
  }

  /// A token that this provider issued for one of `audiences`.
  private func trusted(
    _ text: String, _ audiences: [String], _ application: Application, _ call: Call
  ) throws(Refusal) -> SignedJWT {
    let tenant = call.tenant ?? directory.tenants[0]
    let rule = JWTValidation(
      issuer: Self.issuer(origin, tenant.identifier), audiences: Set(audiences), leeway: 60)
    do throws(JWTRefusal) {
      let token = try SignedJWT(text)
      _ = try rule.accept(token, now: call.now) { keySet.verdict($0, $1) }
      return token
    } catch {
      switch error {
      case .expired: throw .callersTokenExpired
      case .audience: throw .callersTokenForAnother(application.client)
      default: throw .untrustedAssertion
      }
    }
  }

  /// Refuses tokens to an application whose person did not type the code that is demanded, with the claims of a sign-in
  /// that brings it.
  private func checkSecondFactor(
    _ authorization: Authorization, _ asked: ClaimsAsked, _ behaviour: ProviderBehaviour
  ) throws(Refusal) {
    if authorization.authentication.isTwofold { return }
    if let context = asked.contexts.first { throw .stepUp(claims: ClaimsAsked.demand("acrs", context)) }
    if behaviour.secondFactorUsers.contains(authorization.person.userName) { throw .stepUp(claims: Self.policyClaims) }
  }

  /// Entra names the policies of Conditional Access that are not satisfied.
  static let policyClaims =
    #"{"access_token":{"capolids":{"essential":true,"values":["c0a7050d-0000-4000-8000-0000000000e1"]}}}"#

  // MARK: Tokens

  /// A token reply with an access token.
  private func document(
    _ claims: Members, _ asked: ClaimsAsked, _ tenant: Tenant, _ behaviour: ProviderBehaviour, now: UnixTime
  ) throws(Refusal) -> Members {
    var claims = claims
    claims["xms_cc"] = asked.capabilities
    claims["nbf"] = asked.start(now: now).seconds
    let lifetime = behaviour.accessTokenLifetime
    return [
      "token_type": "Bearer", "expires_in": lifetime, "ext_expires_in": lifetime, "refresh_in": behaviour.refreshIn,
      "access_token": try signed(claims, tenant, lifetime: lifetime, now: now),
    ]
  }

  /// A token with these claims and those that every token of this provider has.
  func signed(_ claims: Members, _ tenant: Tenant, lifetime: Int64, now: UnixTime) throws(Refusal) -> String {
    let own: Members = [
      "iss": Self.issuer(origin, tenant.identifier), "tid": tenant.identifier, "iat": now.seconds, "nbf": now.seconds,
      "exp": (now + lifetime).seconds, "ver": "2.0", "uti": Base64URL.encode(try Random.bytes(16)),
    ]
    let header: Members = ["alg": "RS256", "kid": keySet.keys[0].identifier, "typ": "JWT"]
    let parts = [header, own.merging(claims) { $1 }].map {
      Base64URL.encode(Array(JSONValue($0).canonicalText().utf8))
    }
    let input = Array(parts.joined(separator: ".").utf8)
    do throws(CryptoError) {
      return SignedJWT.compact(signingInput: input, signature: try key.signature(of: input.span, .rs256)).revealed()
    } catch {
      throw .transient
    }
  }
}

/// The worth of an authorization in a token request: every scope of one API that the person consented to, not only
/// those asked for, as Entra does.
private struct DelegatedGrant {
  /// The API that the access token is for; nil: none was named, and the token is for the provider itself.
  let api: API?
  let names: [String]
  /// OpenID Connect's words among those asked for, now or at the sign-in.
  let openID: [String]
  /// The person's `oid` in the tenant.
  let object: String
  /// `scope` of the reply: the API's under the name it was asked for.
  let scope: String
  private let authorization: Authorization

  /// Judges a request for `scopes`, or for those of the sign-in if there are none.
  init(
    _ authorization: Authorization, _ tenant: Tenant, _ scopes: [String], _ directory: DemoDirectory,
    _ state: ProviderState
  ) throws(Refusal) {
    let (person, application) = (authorization.person, authorization.application)
    guard let object = person.objects[tenant.identifier] else { throw .notInTenant(person.userName, tenant.name) }
    let asked = try directory.scopes(scopes.isEmpty ? authorization.scopes : scopes)
    let own = try asked + directory.scopes(authorization.scopes)
    openID = Set(own.filter(\.isOpenID).flatMap(\.names)).sorted()
    let resources = asked.filter { !$0.isOpenID }
    // A sign-in may collect consent for several APIs; a token is for one.
    if !scopes.isEmpty, resources.count > 1 { throw .severalResources(scopes.joined(separator: " ")) }
    (self.object, self.authorization) = (object, authorization)
    guard let resource = resources.first else {
      (api, names, scope) = (nil, [], openID.joined(separator: " "))
      return
    }
    let held =
      state.scopes(of: resource.api, person, application, tenant)
      + (application.delegatedScopes[resource.api.client] ?? [])
    guard !held.isEmpty, resource.names.allSatisfy(held.contains) else { throw .consentRequired(application.client) }
    api = resource.api
    names = resource.api.scopes.map(\.name).filter(held.contains)
    scope = names.map { "\(resource.prefix)/\($0)" }.joined(separator: " ")
  }

  /// The claims about the person in a token.
  func claims(audience: String) throws(Refusal) -> Members {
    let person = authorization.person
    // Pairwise: two applications cannot tell by `sub` that they see the same person.
    let subject = try Random.challenge("\(object) \(audience)")
    let proof = authorization.authentication
    return [
      "aud": audience, "oid": object, "sub": subject, "preferred_username": person.userName, "name": person.name,
      // RFC 8176.
      "amr": proof.isTwofold ? ["pwd", "otp", "mfa"] : ["pwd"], "acr": proof.isTwofold ? Authentication.twofold : "pwd",
      "auth_time": proof.at.seconds,
    ]
  }
}
