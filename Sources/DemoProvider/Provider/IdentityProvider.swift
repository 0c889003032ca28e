// The identity provider: from a parsed request to its answer. Rules are the grants' and the sign-in's, sockets are the
// server's.

internal import Bytes
internal import Platform
internal import Tokens

/// A developer's identity provider, Entra-shaped (v2.0 endpoints).
final class IdentityProvider: Sendable {
  /// Scheme, host and port that its documents name.
  let origin: String
  let directory: DemoDirectory
  let signer: TokenSigner
  let pages: Pages
  private let state: Locked<ProviderState>

  /// A provider that signs with `key`.
  init(
    origin: String, directory: DemoDirectory, key: RSAKey, behaviour: ProviderBehaviour = ProviderBehaviour()
  ) throws(CryptoError) {
    self.origin = origin
    self.directory = directory
    signer = try TokenSigner(key: key)
    pages = Pages()
    var state = ProviderState()
    state.behaviour = behaviour
    self.state = Locked(state)
  }

  func issuer(tenant: String) -> String { DiscoveryDocument.issuer(origin: origin, tenant: tenant) }

  /// The public keys as the provider publishes them.
  var keySet: JWKSet { JWKSet(keys: [signer.publicKey]) }

  func answer(_ request: DemoRequest, now: UnixTime) -> DemoAnswer {
    let identifiers = RequestIdentifiers(clientRequest: request["client-request-id"])
    let endpoint = ProviderEndpoint(path: request.path)
    var answer: DemoAnswer
    do throws(ProviderError) {
      guard let endpoint else { throw .unknownPath }
      answer = try state.withLock { state throws(ProviderError) in
        state.requests[endpoint.name, default: 0] += 1
        return try self.answer(endpoint, request, &state, identifiers, now: now)
      }
    } catch {
      answer = refusal(error, of: endpoint, identifiers, now: now)
    }
    if answer.field("cache-control") == nil { answer.fields.append(("cache-control", "no-store")) }
    answer.fields.append(("x-ms-request-id", identifiers.trace))
    answer.fields.append(("client-request-id", identifiers.correlation))
    return answer
  }

  func withState<Result>(_ look: (ProviderState) -> Result) -> Result { state.withLock { look($0) } }

  private func refusal(
    _ error: ProviderError, of endpoint: ProviderEndpoint?, _ identifiers: RequestIdentifiers, now: UnixTime
  ) -> DemoAnswer {
    var answer: DemoAnswer
    if endpoint?.isForPeople == true {
      answer = pages.message("That did not work", error.message, detail: "AADSTS\(error.code)", status: error.status)
    } else {
      answer = DemoAnswer(status: error.status, json: ErrorDocument(error, identifiers, now: now))
      if error.status == 401 { answer.fields.append(("www-authenticate", "Basic realm=\"\(origin)\"")) }
      if let seconds = error.retryAfter { answer.fields.append(("retry-after", "\(seconds)")) }
    }
    answer.note = "AADSTS\(error.code) \(error.name)"
    return answer
  }

  private func answer(
    _ endpoint: ProviderEndpoint, _ request: DemoRequest, _ state: inout ProviderState,
    _ identifiers: RequestIdentifiers, now: UnixTime
  ) throws(ProviderError) -> DemoAnswer {
    switch endpoint {
    case .root:
      return pages.root(directory, origin: origin)
    case .metadata(let segment):
      let tenant = try tenant(segment)
      return DemoAnswer(status: 200, json: DiscoveryDocument(origin: origin, segment: segment, tenant: tenant))
    case .keys(let segment):
      _ = try tenant(segment)
      return DemoAnswer(status: 200, json: keySet)
    case .token(let segment):
      return try token(request, segment: canonical(segment), &state, now: now)
    case .deviceAuthorization(let segment):
      return try deviceAuthorization(request, segment: canonical(segment), &state, now: now)
    case .authorize(let segment):
      return try authorize(request, segment: canonical(segment), &state, identifiers, now: now)
    case .interaction:
      return try interaction(request, &state, identifiers, now: now)
    case .device:
      return try device(request, &state, identifiers, now: now)
    case .logout:
      return logout(request, &state)
    case .testing(let task):
      return try testing(task, request, &state, now: now)
    }
  }

  /// The tenant of a segment; nil for those that leave it to who signs in.
  private func tenant(_ segment: String) throws(ProviderError) -> Tenant? {
    if DemoDirectory.isAnyTenant(segment) { return nil }
    guard let tenant = directory.tenant(segment) else { throw .unknownTenant(segment) }
    return tenant
  }

  /// A tenant's GUID, whatever it was called.
  private func canonical(_ segment: String) throws(ProviderError) -> String {
    try tenant(segment)?.identifier ?? segment.lowercased()
  }
}
