// The token endpoint: the application, its grant, the tokens; and the service of the sample machine.

internal import Bytes
internal import Platform
internal import Tokens

extension ProviderCall {
  func token() throws(Refusal) -> DemoAnswer {
    let form = try request.postedForm()
    try state.behaviour.fail()
    let type = try form.required("grant_type")
    let application = try application(form)
    var asked = try ClaimsAsked(form["claims"])
    var scopes = form.words("scope")

    let authorization: Authorization
    var (family, isSignIn, isRefresh): (String?, Bool, Bool) = (nil, false, false)
    switch type {
    case "client_credentials":
      return try applicationToken(application, form, asked)
    case "authorization_code":
      let code = try form.required("code")
      (family, isSignIn) = (code, true)
      authorization = try state.redeem(code: code, form, application)
    // The second name is older than RFC 8628; MSAL.NET sends it.
    case "urn:ietf:params:oauth:grant-type:device_code", "device_code":
      authorization = try state.poll(device: form.required("device_code"), application, now: now)
      isSignIn = true
    case "refresh_token":
      (authorization, family) = try state.use(refreshToken: form.required("refresh_token"), application)
      isRefresh = true
    case "urn:ietf:params:oauth:grant-type:jwt-bearer":
      guard form["requested_token_use"] == "on_behalf_of" else { throw .unsupportedParameter("requested_token_use") }
      authorization = try self.authorization(ofCaller: form.required("assertion"), of: application)
    case "urn:ietf:params:oauth:grant-type:token-exchange":
      authorization = try self.authorization(ofCaller: form.required("subject_token"), of: application)
      // It may name the API instead (RFC 8693 §2.1).
      if scopes.isEmpty, let audience = form["audience"] { scopes = ["\(audience)/.default"] }
    case "user_fic":
      authorization = try self.authorization(ofAgent: application, form)
    default:
      throw .unsupportedParameter("grant_type")
    }

    let (person, proof) = (authorization.person, authorization.authentication)
    let tenant = tenant ?? authorization.tenant
    guard let object = person.objects[tenant.identifier] else { throw .notInTenant(person.userName, tenant.name) }
    let (openID, api, names, scope) = try granted(authorization, tenant, scopes)
    // With the claims of a sign-in that brings the code that is demanded.
    if !proof.isTwofold, let context = asked.contexts.first {
      throw .stepUp(claims: ClaimsAsked.demand("acrs", context))
    }
    if !proof.isTwofold, state.behaviour.secondFactorUsers.contains(person.userName) {
      throw .stepUp(claims: IdentityProvider.policyClaims)
    }
    // A sign-in is newer than any event before it, be it of the same second.
    if isSignIn, let since = state.tokensCountFrom[object] { asked.notBefore = max(asked.notBefore ?? since, since) }
    func claims(for audience: String) throws(Refusal) -> Members {
      [
        // Pairwise: two applications cannot tell by `sub` that they see the same person.
        "aud": audience, "oid": object, "sub": try Random.challenge("\(object) \(audience)"),
        "preferred_username": person.userName, "name": person.name, "auth_time": proof.at.seconds,
        // RFC 8176.
        "amr": proof.isTwofold ? ["pwd", "otp", "mfa"] : ["pwd"],
        "acr": proof.isTwofold ? Authentication.twofold : "pwd",
      ]
    }
    var access = try claims(for: api?.client ?? origin)
    access["azp"] = application.client
    access["scp"] = names.joined(separator: " ")
    access["acrs"] = proof.isTwofold ? Authentication.contexts : nil
    var document = try document(access, asked, tenant)
    document["scope"] = scope
    if openID.contains("openid") {
      var identity = try claims(for: application.client)
      identity["nonce"] = authorization.request?["nonce"]
      if openID.contains("email") { identity["email"] = person.userName }
      document["id_token"] = try signed(identity, tenant, lifetime: 3600)
    }
    if isRefresh || openID.contains("offline_access") {
      let token = try Random.name()
      state.refreshTokens[token] = (authorization, family ?? token)
      state.newestTokens[family ?? token] = token
      document["refresh_token"] = token
    }
    // The result of an exchange (RFC 8693 §2.2.1).
    if type.hasSuffix(":token-exchange") { document["issued_token_type"] = TokenTypeURN.accessToken }
    if form["client_info"] == "1" {
      document["client_info"] = Self.base64URL(["uid": person.object, "utid": person.home.identifier])
    }
    return DemoAnswer(document, note: "token for \(person.userName) by \(application.name): \(scope)")
  }

  /// A token for an application itself (RFC 6749 §4.4).
  private func applicationToken(
    _ application: Application, _ form: ReplyForm, _ asked: ClaimsAsked
  ) throws(Refusal) -> DemoAnswer {
    guard let tenant else { throw .request(50059, "No tenant-identifying information found in the request.") }
    if application.isPublic { throw .noCredential }
    let scope = try form.required("scope")
    if scope.contains(" ") { throw .scope(70011, scope) }
    guard scope.hasSuffix("/.default") else {
      throw .scope(1_002_012, scope, ": client credential flows need a scope value with /.default at its end")
    }
    let resource = String(scope.dropLast("/.default".count))
    let claims = try applicationClaims(of: application, for: resource, agent: form["fmi_path"]?.lowercased())
    let roles = claims["roles"]??.json.texts ?? ["no roles"]
    return DemoAnswer(
      try document(claims, asked, tenant),
      note: "token for \(application.name) at \(resource): \(roles.joined(separator: " "))")
  }

  /// The claims of an application's token for an API, or for the exchange that proves other applications: a machine's
  /// token, a blueprint's that proves its agent, or the agent's own for its user.
  func applicationClaims(
    of application: Application, for resource: String, agent: String? = nil
  ) throws(Refusal) -> Members {
    var claims: Members = [
      "sub": application.object, "oid": application.object, "aud": resource, "azp": application.client, "idtyp": "app",
    ]
    let mayExchange = application.isMachine || application.blueprint != nil || agent != nil
    if resource == FederatedCredential.exchange, mayExchange {
      guard let agent else { return claims }
      guard try directory.application(agent, in: tenant).blueprint == application.client else {
        throw .unknownApplication(agent, tenant?.name ?? "organizations")
      }
      let tenant = tenant?.identifier ?? DemoDirectory.Sample.tenant
      claims["sub"] = FederatedCredential.subject(of: agent, of: application.client, in: tenant)
      return claims
    }
    if agent != nil { throw .unsupportedParameter("fmi_path") }
    let api = try directory.api(resource)
    claims["aud"] = api.client
    claims["roles"] = application.roles[api.client]
    return claims
  }

  /// The authorization of the person whose token `application` was called with (Entra's on-behalf-of, and RFC 8693 with
  /// the same meaning), as far as the sign-in behind it goes.
  private func authorization(ofCaller text: String, of application: Application) throws(Refusal) -> Authorization {
    // A public application cannot prove that it is the one that was called.
    if application.isPublic { throw .noCredential }
    // People call a blueprint, and one of its agents asks for them.
    let called = directory.apis.filter { [application.client, application.blueprint].contains($0.client) }
    let token = try presented(text, by: application, [application.client] + called.flatMap { [$0.client, $0.uri] })
    let (claims, tenant) = (token.claims, tenant ?? directory.tenants[0])
    // An application's own token carries no person's authorization.
    guard let object = claims.object,
      let person = directory.people.first(where: { $0.objects[tenant.identifier] == object })
    else { throw .untrustedAssertion }
    if let since = state.tokensCountFrom[object], claims.notBefore ?? since - 1 < since {
      throw .stepUp(claims: ClaimsAsked.demand("nbf", "\(since.seconds)"))
    }
    let isTwofold = token.members(1)["acr"]?.text == Authentication.twofold
    return Authorization(
      person: person, tenant: tenant, application: application,
      authentication: Authentication(at: claims.authenticatedAt ?? now, isTwofold: isTwofold))
  }

  /// The authorization of an agent for its own account, which it names (Entra's `user_fic`).
  private func authorization(ofAgent agent: Application, _ form: ReplyForm) throws(Refusal) -> Authorization {
    guard (form["username"] == nil) != (form["user_id"] == nil) else { throw .malformed }
    let name = (form["username"] ?? form["user_id"] ?? "").lowercased()
    let proof = try form.required("user_federated_identity_credential")
    let token = try presented(proof, by: agent, [FederatedCredential.exchange])
    let account = directory.people.first { $0.agent == agent.client && [$0.object, $0.userName].contains(name) }
    guard let account, token.claims.subject == agent.object else { throw .untrustedAssertion }
    return Authorization(
      person: account, tenant: account.home, application: agent, authentication: Authentication(at: now))
  }

  /// A token of this provider for one of `audiences`, which `application` presents.
  private func presented(
    _ text: String, by application: Application, _ audiences: [String]
  ) throws(Refusal) -> SignedJWT {
    do throws(JWTRefusal) {
      return try provider.accept(text, of: [tenant ?? directory.tenants[0]], for: audiences, now: now)
    } catch {
      switch error {
      case .expired: throw .grant(500_133, "Assertion is not within its valid time range.")
      case .audience:
        let client = application.client
        throw .grant(500_131, "The audience of the assertion must be the app that presents it, '\(client)'.")
      default: throw .untrustedAssertion
      }
    }
  }

  /// The worth of an authorization in a request for `scopes`, or for those of the sign-in if there are none: every
  /// scope of one API that the person consented to, not only those asked for, as Entra does. Without an API, the token
  /// is for the provider itself. OpenID Connect's words count if they are asked for now or were at the sign-in.
  private func granted(
    _ authorization: Authorization, _ tenant: Tenant, _ scopes: [String]
  ) throws(Refusal) -> (openID: [String], api: API?, names: [String], scope: String) {
    let application = authorization.application
    let asked = try directory.scopes(scopes.isEmpty ? authorization.scopes : scopes)
    let own = try asked + directory.scopes(authorization.scopes)
    let openID = Set(own.filter(\.isOpenID).flatMap(\.names)).sorted()
    let resources = asked.filter { !$0.isOpenID }
    // A sign-in may collect consent for several APIs; a token is for one.
    if !scopes.isEmpty, resources.count > 1 {
      throw .scope(28000, scopes.joined(separator: " "), " because it contains more than one resource")
    }
    guard let resource = resources.first else { return (openID, nil, openID, openID.joined(separator: " ")) }
    let api = resource.api
    let held =
      state.scopes(of: api, authorization.person, application, tenant)
      + (application.delegatedScopes[api.client] ?? [])
    guard !held.isEmpty, resource.names.allSatisfy(held.contains) else { throw .consentRequired(application.client) }
    let names = api.scopes.map(\.name).filter(held.contains)
    return (openID, api, names, names.map { "\(resource.prefix)/\($0)" }.joined(separator: " "))
  }

  /// A token reply with an access token.
  private func document(_ claims: Members, _ asked: ClaimsAsked, _ tenant: Tenant) throws(Refusal) -> Members {
    // Now, or the requested moment if that is at most a minute ahead.
    let start = asked.notBefore.map { (0...60).contains($0 - now) ? $0 : now } ?? now
    let own: Members = ["xms_cc": asked.capabilities.nonEmpty, "nbf": start.seconds]
    let lifetime = state.behaviour.accessTokenLifetime
    return [
      "token_type": "Bearer", "expires_in": lifetime, "ext_expires_in": lifetime,
      "refresh_in": state.behaviour.refreshIn,
      "access_token": try signed(claims.merging(own) { $1 }, tenant, lifetime: lifetime),
    ]
  }

  /// A token with these claims and those that every token of this provider has.
  func signed(_ claims: Members, _ tenant: Tenant, lifetime: Int64) throws(Refusal) -> String {
    let own: Members = [
      "iss": IdentityProvider.issuer(origin, tenant.identifier), "tid": tenant.identifier, "iat": now.seconds,
      "nbf": now.seconds, "exp": (now + lifetime).seconds, "ver": "2.0",
      "uti": Base64URL.encode(try Random.bytes(16)),
    ]
    let header = Self.base64URL(["alg": "RS256", "kid": provider.keySet.keys[0].identifier, "typ": "JWT"])
    let input = Array("\(header).\(Self.base64URL(own.merging(claims) { $1 }))".utf8)
    let signature = try mapping(Refusal.transient, provider.key.signature(of: input.span, .rs256))
    return SignedJWT.compact(signingInput: input, signature: signature).revealed()
  }

  private static func base64URL(_ members: Members) -> String {
    Base64URL.encode(Array(JSONValue(members).canonicalText().utf8))
  }

  /// The application of a form, which proves itself: with a secret in the form or in a Basic `Authorization` field, or
  /// with a token of its own or of another issuer (RFC 7523 §2.2). Two proofs are an error of RFC 6749 §2.3.
  func application(_ form: ReplyForm) throws(Refusal) -> Application {
    var (client, secret) = (form["client_id"], form["client_secret"])
    let field = request[field: "authorization"] ?? ""
    if field.lowercased().hasPrefix("basic ") {
      // Both parts are form-encoded (RFC 6749 §2.3.1).
      let parts = (Base64.decode(field.dropFirst(6)) ?? []).split(separator: UInt8(ascii: ":"), maxSplits: 1)
        .compactMap { PercentEncoding.decoded($0, isForm: true).flatMap { String(validating: $0, as: UTF8.self) } }
      guard parts.count == 2, secret == nil, (client ?? parts[0]).lowercased() == parts[0].lowercased() else {
        throw .malformed
      }
      (client, secret) = (parts[0], parts[1])
    }
    let (assertion, type) = (form["client_assertion"], "urn:ietf:params:oauth:client-assertion-type:jwt-bearer")
    if assertion != nil, secret != nil || form["client_assertion_type"] != type { throw .malformed }
    guard let client else { throw .missingParameter("client_id") }
    let application = try directory.application(client, in: tenant)
    if application.isPublic { return application }
    if let assertion {
      try check(assertion, of: application)
    } else {
      guard let secret else { throw .noCredential }
      guard Secret(secret) == application.secret else {
        let reason = "Ensure that it is the secret's value, not its ID: app '\(application.client)'."
        throw .client(7_000_215, "Invalid client secret provided. \(reason)")
      }
    }
    return application
  }

  /// Refuses an assertion that does not prove an application.
  private func check(_ assertion: String, of application: Application) throws(Refusal) {
    let token = try mapping({ (_: JWTRefusal) in Refusal.malformed }, SignedJWT(assertion))
    // The provider has a token endpoint for each name of a tenant.
    let endpoints = token.claims.audiences.filter {
      $0.hasPrefix("\(origin)/") && $0.hasSuffix("/oauth2/v2.0/token")
    }
    do throws(JWTRefusal) {
      for credential in application.federated where credential.issuer == token.claims.issuer {
        let rule = JWTValidation(
          issuers: [credential.issuer], audiences: Set(credential.audience.map { [$0] } ?? endpoints),
          algorithms: Set(JWTAlgorithm.allCases), leeway: 0)
        let claims = try rule.accept(token, now: now, signature: credential.verdict)
        if claims.subject == credential.subject { return }
      }
    } catch {
      if case .expired = error { throw .client(700_024, "Client assertion is not within its valid time range.") }
    }
    if application.federated.contains(where: \.isCertificate) {
      let reason = "is not registered, or the assertion is for another use."
      throw .client(700_027, "The certificate that signed the client assertion \(reason)")
    }
    throw .client(70021, "No matching federated identity record found for presented assertion.")
  }

  /// Answers a request to the service of the sample machine, which hands out its identity's tokens as Azure's instance
  /// metadata service does.
  func machine() throws(Refusal) -> DemoAnswer {
    typealias Sample = DemoDirectory.Sample
    guard request.path == "/metadata/identity/oauth2/token" else { throw .unknownPath }
    guard request[field: "metadata"] == "true" else {
      throw .request(0, "Required metadata header not specified", error: "bad_request_102")
    }
    let query = try request.form()
    guard request[field: "x-forwarded-for"] == nil, query["api-version"] == "2018-02-01" else {
      throw .request(0, "A proxied request, or an unknown api-version")
    }
    for (name, own) in [("client_id", Sample.machine), ("object_id", Sample.machineObject), ("msi_res_id", "")] {
      if let asked = query[name], asked.lowercased() != own { throw .request(0, "Identity not found") }
    }
    let (resource, lifetime) = (query["resource"] ?? "", state.behaviour.accessTokenLifetime)
    let machine = try directory.application(Sample.machine, in: tenant)
    let claims = try applicationClaims(of: machine, for: resource)
    // Numbers are strings here, as the original has them.
    return DemoAnswer(
      [
        "access_token": try signed(claims, directory.tenants[0], lifetime: lifetime), "client_id": machine.client,
        "expires_in": "\(lifetime)", "expires_on": "\((now + lifetime).seconds)", "not_before": "\(now.seconds)",
        "resource": resource, "token_type": "Bearer",
      ], note: "token for the machine at \(resource)")
  }
}
