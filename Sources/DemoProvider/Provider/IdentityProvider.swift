// The identity provider: from a request to its endpoint to the answer. `SmallServer` owns the sockets.

internal import Bytes
internal import HTTPServer
internal import Platform
internal import Tokens

/// A developer's identity provider, Entra-shaped (v2.0 endpoints).
final class IdentityProvider: Sendable {
  /// A request, with the tenant of its path: nil if the person who signs in decides it.
  struct Call {
    var request: DemoRequest
    var tenant: Tenant?
    var now: UnixTime
  }

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
    certificate: RegisteredCertificate? = nil, behaviour: ProviderBehaviour = ProviderBehaviour()
  ) throws(CryptoError) {
    self.origin = origin
    self.key = key
    let numbers = key.publicKey
    // Named by its content, so that another key never has the same name.
    let identifier = try Base64URL.encode(SHA256.digest(of: numbers.modulus))
    keySet = JWKSet(keys: [
      JWK(identifier: identifier, algorithm: .rs256, modulus: numbers.modulus, exponent: numbers.exponent)
    ])
    directory = .sample(
      secret: secret, federated: federated, certificate: certificate,
      issuer: Self.issuer(origin, DemoDirectory.Sample.tenant), keys: keySet)
    state = Locked(ProviderState(behaviour: behaviour))
  }

  /// The `iss` of a tenant's tokens.
  static func issuer(_ origin: String, _ tenant: String) -> String { "\(origin)/\(tenant)/v2.0" }

  func answer(_ request: DemoRequest, now: UnixTime) -> DemoAnswer {
    var found: Endpoint?
    do throws(Refusal) {
      let (endpoint, segment) = try Endpoint.find(request.path)
      found = endpoint
      let answer = try state.withLock { state throws(Refusal) in
        state.requests["\(endpoint)", default: 0] += 1
        let tenant = endpoint.hasTenant ? try directory.tenant(segment) : nil
        return try self.answer(endpoint, segment, Call(request: request, tenant: tenant, now: now), &state)
      }
      return endpoint.isForPeople ? answer : answer.adding("cache-control", "no-store")
    } catch {
      let note = "AADSTS\(error.code) \(error.error)"
      if found?.isForPeople == true {
        return message("That did not work", error.message, detail: "AADSTS\(error.code)", error.status, note: note)
      }
      return DemoAnswer(error.status, error.document(now: now), note: note).adding("cache-control", "no-store")
    }
  }

  private func answer(
    _ endpoint: Endpoint, _ segment: String, _ call: Call, _ state: inout ProviderState
  ) throws(Refusal) -> DemoAnswer {
    switch endpoint {
    case .root: return rootPage()
    case .discovery: return DemoAnswer(200, discovery(call.tenant?.identifier ?? segment, call.tenant))
    case .keys: return DemoAnswer(200, ["keys": [JSONValue(publicKey)]])
    case .authorize: return try authorize(call, &state)
    case .interaction: return try interaction(call, &state)
    case .token: return try token(call, &state)
    case .deviceAuthorization: return try deviceAuthorization(call, &state)
    case .logout: return try logout(call, &state)
    case .device: return try device(call, &state)
    case .requests, .behaviour, .revoke, .criticalEvent, .withdraw: return try testing(endpoint, call, &state)
    }
  }

  /// The discovery document (OpenID Connect Discovery 1.0 §3). Without a tenant, the issuer has Entra's placeholder.
  private func discovery(_ segment: String, _ tenant: Tenant?) -> Members {
    func address(_ endpoint: Endpoint) -> String { origin + endpoint.path(segment) }
    return [
      "issuer": Self.issuer(origin, tenant?.identifier ?? "{tenantid}"), "authorization_endpoint": address(.authorize),
      "token_endpoint": address(.token), "device_authorization_endpoint": address(.deviceAuthorization),
      "end_session_endpoint": address(.logout), "jwks_uri": address(.keys), "response_types_supported": ["code"],
      "response_modes_supported": ["query", "form_post"], "code_challenge_methods_supported": ["S256"],
      "grant_types_supported": [
        "authorization_code", "refresh_token", "client_credentials", "urn:ietf:params:oauth:grant-type:device_code",
      ], "token_endpoint_auth_methods_supported": ["client_secret_post", "client_secret_basic", "none"],
      "scopes_supported": API.openID.scopes.map(\.name),
      "prompt_values_supported": ["none", "login", "consent", "select_account"],
      "id_token_signing_alg_values_supported": ["RS256"], "subject_types_supported": ["pairwise"],
    ]
  }

  private var publicKey: Members {
    let key = keySet.keys[0]
    return [
      "kty": "RSA", "use": key.use, "alg": key.algorithm, "kid": key.identifier, "n": Base64URL.encode(key.modulus),
      "e": Base64URL.encode(key.exponent),
    ]
  }

  // MARK: Tasks

  /// Does a task of a demonstration or a test. The provider listens on loopback alone; pages of browsers, even its own,
  /// are kept out here.
  private func testing(
    _ task: Endpoint, _ call: Call, _ state: inout ProviderState
  ) throws(Refusal) -> DemoAnswer {
    let request = call.request
    if request[field: "origin"] != nil || request[field: "sec-fetch-site"] != nil { throw .crossSite }
    if task == .requests { return DemoAnswer(200, state.requests) }
    guard request.method == "POST" else { throw .postOnly }
    guard let document = JSONValue(json: request.body.bytes)?.members else { throw .malformed }
    if task == .behaviour {
      state.behaviour = ProviderBehaviour(document)
    } else {
      guard let person = (document["user"]?.text).flatMap(directory.person(userName:)) else {
        throw .unsupportedParameter("user")
      }
      switch task {
      case .revoke: state.revokeSessions(of: person)
      case .withdraw: state.consents = state.consents.filter { $0.person != person.object }
      // A token of this very second is older than the event, one of the next is not.
      default: for object in person.objects.values { state.tokensCountFrom[object] = call.now + 1 }
      }
    }
    return DemoAnswer(200, ["done": "\(task)"])
  }

  /// Since when the access tokens about an `oid` count; nil: since ever. This is what an API learns of critical events.
  func tokensCountFrom(object: String) -> UnixTime? { state.withLock { $0.tokensCountFrom[object] } }

  var accessTokenLifetime: Int64 { state.withLock { $0.behaviour.accessTokenLifetime } }
}
