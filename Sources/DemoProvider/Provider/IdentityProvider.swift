internal import Bytes
internal import HTTPServer
internal import Platform
internal import Tokens

/// A developer's identity provider, Entra-shaped (v2.0 endpoints). `SmallServer` owns the sockets.
final class IdentityProvider: Sendable {
  /// Scheme, host and port that its documents name.
  let origin: String
  let directory: DemoDirectory
  let key: RSAKey
  /// The public key as the provider publishes it.
  let keySet: JWKSet
  private let state: Locked<ProviderState>

  /// A provider that signs with `key`. `secret` and `certificate` prove the sample applications, tokens of `federated`
  /// also the portal.
  init(
    origin: String, key: RSAKey, secret: Secret, federated: [FederatedCredential] = [],
    certificate: FederatedCredential? = nil, behaviour: ProviderBehaviour = ProviderBehaviour()
  ) throws(CryptoError) {
    (self.origin, self.key) = (origin, key)
    let numbers = key.publicKey
    // Named by its content, so that another key never has the same name.
    let identifier = try Base64URL.encode(SHA256.digest(of: numbers.modulus))
    keySet = JWKSet(keys: [
      JWK(identifier: identifier, algorithm: .rs256, modulus: numbers.modulus, exponent: numbers.exponent)
    ])
    directory = .sample(
      secret: secret, federated: federated, certificate: certificate,
      issuer: Self.issuer(origin, DemoDirectory.Sample.tenant), keys: keySet)
    state = Locked(ProviderState(behaviour))
  }

  /// Entra names the policies of Conditional Access that are not satisfied.
  static let policyClaims =
    #"{"access_token":{"capolids":{"essential":true,"values":["c0a7050d-0000-4000-8000-0000000000e1"]}}}"#

  /// The `iss` of a tenant's tokens.
  static func issuer(_ origin: String, _ tenant: String) -> String { "\(origin)/\(tenant)/v2.0" }

  func answer(_ request: DemoRequest, now: UnixTime) -> DemoAnswer {
    var isForPeople = false
    let answer: DemoAnswer
    do throws(Refusal) {
      let (endpoint, segment) = try Endpoint.find(request.path)
      isForPeople = endpoint.isForPeople
      answer = try state.withLock { state throws(Refusal) in
        state.requests["\(endpoint)", default: 0] += 1
        let tenant = endpoint.hasTenant ? try directory.tenant(segment) : nil
        let call = ProviderCall(provider: self, request: request, tenant: tenant, now: now, state: state)
        return try call.answer(endpoint, segment)
      }
    } catch {
      answer =
        isForPeople
        ? .message("That did not work", error.message, detail: "AADSTS\(error.code)", error.status, note: error.note)
        : DemoAnswer(error.document(now: now), status: error.status, note: error.note)
    }
    return isForPeople ? answer : answer.adding("cache-control", "no-store")
  }

  /// Answers a request to the service of the sample machine.
  func machineAnswer(_ request: DemoRequest, now: UnixTime) -> DemoAnswer {
    do throws(Refusal) {
      return try state.withLock { state throws(Refusal) in
        try ProviderCall(provider: self, request: request, tenant: directory.tenants[0], now: now, state: state)
          .machine()
      }
    } catch {
      let document: Members = ["error": error.error, "error_description": error.message]
      return DemoAnswer(document, status: error.status, note: error.note)
    }
  }

  /// A token that this provider issued in one of `tenants` for one of `audiences`.
  func accept(
    _ text: some StringProtocol, of tenants: [Tenant], for audiences: [String], now: UnixTime
  ) throws(JWTRefusal) -> SignedJWT {
    let token = try SignedJWT(text)
    let issuers = tenants.map { Self.issuer(origin, $0.identifier) }
    let rule = JWTValidation(issuers: Set(issuers), audiences: Set(audiences), leeway: 60)
    _ = try rule.accept(token, now: now, signature: keySet.verdict)
    return token
  }

  /// Since when the access tokens about an `oid` count; nil: since ever. This is what an API learns of critical events.
  func tokensCountFrom(object: String) -> UnixTime? { state.withLock { $0.tokensCountFrom[object] } }
}

/// A request under way, with everything that the provider remembers.
struct ProviderCall {
  let provider: IdentityProvider
  let request: DemoRequest
  /// The tenant of the request's path; nil if the person who signs in decides it.
  let tenant: Tenant?
  let now: UnixTime
  let state: ProviderState

  var origin: String { provider.origin }
  var directory: DemoDirectory { provider.directory }

  fileprivate func answer(_ endpoint: Endpoint, _ segment: String) throws(Refusal) -> DemoAnswer {
    switch endpoint {
    case .root: rootPage()
    case .discovery: DemoAnswer(discovery(tenant?.identifier ?? segment))
    case .keys: DemoAnswer(["keys": provider.keySet.keys])
    case .authorize: try authorize()
    case .interaction: try interaction()
    case .token: try token()
    case .deviceAuthorization: try deviceAuthorization()
    case .logout: try logout()
    case .device: try device()
    case .requests, .behaviour, .revoke, .criticalEvent, .withdraw: try testing(endpoint)
    }
  }

  /// The discovery document (OpenID Connect Discovery 1.0 §3). Without a tenant, the issuer has Entra's placeholder.
  private func discovery(_ segment: String) -> Members {
    func address(_ endpoint: Endpoint) -> String { origin + endpoint.path(segment) }
    return [
      "issuer": IdentityProvider.issuer(origin, tenant?.identifier ?? "{tenantid}"),
      "authorization_endpoint": address(.authorize), "token_endpoint": address(.token),
      "device_authorization_endpoint": address(.deviceAuthorization), "end_session_endpoint": address(.logout),
      "jwks_uri": address(.keys), "response_types_supported": ["code"],
      "response_modes_supported": ["query", "form_post"], "code_challenge_methods_supported": ["S256"],
      "grant_types_supported": [
        "authorization_code", "refresh_token", "client_credentials", "urn:ietf:params:oauth:grant-type:device_code",
      ], "token_endpoint_auth_methods_supported": ["client_secret_post", "client_secret_basic", "none"],
      "scopes_supported": API.openID.scopes.map(\.name),
      "prompt_values_supported": ["none", "login", "consent", "select_account"],
      "id_token_signing_alg_values_supported": ["RS256"], "subject_types_supported": ["pairwise"],
    ]
  }

  /// Does a task of a demonstration or a test. The provider listens on loopback alone; pages of browsers, even its own,
  /// are kept out here.
  private func testing(_ task: Endpoint) throws(Refusal) -> DemoAnswer {
    if request[field: "origin"] != nil || request[field: "sec-fetch-site"] != nil { throw .crossSite }
    if task == .requests { return DemoAnswer(state.requests) }
    guard request.method == "POST" else { throw .postOnly }
    guard let document = JSONValue(json: request.body.bytes)?.members else { throw .malformed }
    let person = (document["user"]?.text).flatMap(directory.person(userName:))
    switch (task, person) {
    case (.behaviour, _): state.behaviour = ProviderBehaviour(document)
    case (.revoke, let person?): state.revokeSessions(of: person)
    case (.withdraw, let person?): state.consents = state.consents.filter { $0[0] != person.object }
    // A token of this very second is older than the event, one of the next is not.
    case (_, let person?): for object in person.objects.values { state.tokensCountFrom[object] = now + 1 }
    case (_, nil): throw .unsupportedParameter("user")
    }
    return DemoAnswer(["done": "\(task)"])
  }
}
