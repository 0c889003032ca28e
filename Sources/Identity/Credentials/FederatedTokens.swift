internal import Bytes
internal import HTTPClient
package import Tokens

/// An issuer of tokens that prove an application.
package indirect enum FederatedTokenSource: Sendable {
  case managedIdentity(ManagedIdentity)
  /// A service beside the workload.
  case service(FederatedTokenService)
  case command(AssertionCommandRun)
  /// The provider of another application, or of this agent identity of it, if it is a blueprint.
  case application(Application, agent: String? = nil)
}

extension FederatedTokenSource: Equatable {
  /// True if both request the same token with the same right: another application counts with its credential.
  package static func == (left: FederatedTokenSource, right: FederatedTokenSource) -> Bool {
    switch (left, right) {
    case (.managedIdentity(let left), .managedIdentity(let right)): left == right
    case (.service(let left), .service(let right)): left == right
    case (.command(let left), .command(let right)): left == right
    case (.application(let left, let leftAgent), .application(let right, let rightAgent)):
      left.authority == right.authority && left.clientID == right.clientID && left.credential == right.credential
        && leftAgent == rightAgent
    default: false
    }
  }
}

struct ProofSurroundings: Sendable {
  let now: @Sendable () -> UnixTime
  /// Waits for seconds.
  let sleep: @Sendable (Int64) async -> Void
  /// The metadata of another application's provider.
  let discover: @Sendable (Application) async throws(AcquisitionError) -> ProviderMetadata
}

/// The tokens of other issuers that prove applications, kept in memory until a minute before their end.
package actor FederatedTokens {
  struct Request: Sendable {
    let source: FederatedTokenSource
    let audience: String
    /// The route of the application that is to be proven. Another application has its own.
    let fetch: Fetch
    let surroundings: ProofSurroundings
  }

  private struct Entry {
    let source: FederatedTokenSource
    let audience: String
    var token: FederatedToken?
    /// The number of times the token was used.
    var uses = 0
    var flight: Task<Result<FederatedToken, AcquisitionError>, Never>?
  }

  private var entries: [Entry] = []

  /// A token that is valid for at least a minute, if its issuer has one.
  func token(for request: Request) async throws(AcquisitionError) -> FederatedToken {
    let token = try await heldOrObtained(request)
    if let index = index(of: request) { entries[index].uses += 1 }
    return token
  }

  private func heldOrObtained(_ request: Request) async throws(AcquisitionError) -> FederatedToken {
    if let index = index(of: request) {
      if let token = entries[index].token, token.isKept(at: request.surroundings.now()) { return token }
      if let flight = entries[index].flight { return try await flight.value.get() }
    }
    let flight = Task { await self.obtain(request) }
    if let index = index(of: request) {
      entries[index].flight = flight
    } else {
      entries.append(Entry(source: request.source, audience: request.audience, flight: flight))
    }
    return try await flight.value.get()
  }

  /// Drops a token that a provider refused; returns whether it had proven anything before, or proves something else.
  @discardableResult
  func forget(_ proof: Secret) -> Bool {
    guard let index = entries.firstIndex(where: { $0.token?.text == proof }) else { return true }
    entries[index].token = nil
    return entries[index].uses > 1
  }

  private func index(of request: Request) -> Int? {
    entries.firstIndex { $0.audience == request.audience && $0.source == request.source }
  }

  private func obtain(_ request: Request) async -> Result<FederatedToken, AcquisitionError> {
    let result = await Result(awaiting: try await Self.unexpiredToken(for: request)).mapError { error in
      AcquisitionError(.proof(ClientProofSource(request.source), error), retryAfter: error.retryAfter)
    }
    // An entry that is over, or never had a token, belongs to a configuration that may be gone.
    entries.removeAll { $0.flight == nil && $0.token?.isKept(at: request.surroundings.now()) != true }
    if let index = index(of: request) {
      entries[index].flight = nil
      if case .success(let token) = result { (entries[index].token, entries[index].uses) = (token, 0) }
    }
    return result
  }

  private static func unexpiredToken(for request: Request) async throws(AcquisitionError) -> FederatedToken {
    let token = try await token(for: request)
    if let end = token.expiresAt, end <= request.surroundings.now() {
      throw AcquisitionError(.assertion(.expired(.issuer, at: end)))
    }
    return token
  }

  private static func token(for request: Request) async throws(AcquisitionError) -> FederatedToken {
    let around = request.surroundings
    switch request.source {
    case .managedIdentity(let identity): return try await token(of: identity, for: request, request.fetch)
    case .service(let service): return try await token(from: service, for: request)
    case .command(let run): return try await mapping({ AcquisitionError(.assertion($0)) }, awaiting: await run.token())
    case .application(let application, let agent):
      if let identity = application.managedIdentity {
        return try await token(of: identity, for: request, application.fetch)
      }
      let metadata = try await around.discover(application)
      let (scopes, parameters) = application.authority.exchange(request.audience, for: agent)
      let reply = try await ProviderRequests(
        application: application, metadata: metadata, surroundings: around
      ).tokens(for: .clientCredentials, scopes: scopes, claims: nil, parameters: parameters)
      return FederatedToken(reply.accessToken, expiresAt: around.now() + reply.expiresIn)
    }
  }

  private static func token(
    of identity: ManagedIdentity, for request: Request, _ fetch: @escaping Fetch
  ) async throws(AcquisitionError) -> FederatedToken {
    let around = request.surroundings
    let client = ManagedIdentityClient(identity: identity, fetch: fetch, now: around.now, sleep: around.sleep)
    let reply = try await client.token(for: request.audience)
    return FederatedToken(reply.accessToken, expiresAt: around.now() + reply.expiresIn)
  }

  /// Asks a service of the workload; up to three times more if it is busy.
  private static func token(
    from service: FederatedTokenService, for request: Request
  ) async throws(AcquisitionError) -> FederatedToken {
    let around = request.surroundings
    let wanted = FederatedTokenRequest(service, audience: request.audience)
    var fetched = FetchRequest(.get, wanted.url, fields: wanted.fields)
    // Google's is a service of the machine, never reached through a proxy; a job's may be anywhere.
    fetched.destination = if case .gcp = service { .machine } else { .federation }
    fetched.answerLimit = ProviderRequests.usualAnswerLimit
    var attempts = 0
    while true {
      let response = try await AcquisitionError.reaching(fetched, by: request.fetch)
      let failure: TokenFailure
      do throws(TokenFailure) {
        return try wanted.token(response.answer, now: around.now()) { response.value(of: $0) }
      } catch {
        failure = error
      }
      attempts += 1
      // A pause that the service asks for is reported to callers, not waited for.
      guard attempts <= 3, failure.retryAfter == nil, failure.status >= 500 || failure.status == 429, !Task.isCancelled
      else { throw AcquisitionError(failure) }
      await around.sleep(1)
    }
  }
}

extension ClientProofSource {
  init(_ source: FederatedTokenSource) {
    switch source {
    case .managedIdentity(let identity): self = .managedIdentity(identity.host.source.rawValue)
    case .service(.gcp): self = .gcp
    case .service(.githubActions): self = .githubActions
    case .command(let run): self = .command(run.command.words.first ?? "")
    case .application(let application, _): self = .application(application.name)
    }
  }
}

extension Authority {
  /// The request of an application of this provider for a token that another provider accepts as proof.
  fileprivate func exchange(_ audience: String, for agent: String?) -> (ScopeSet, TokenParameters) {
    if let agent { return (exchangeScopes(audience), TokenParameters(agent: agent)) }
    if isOfEntra { return (exchangeScopes(audience), .none) }
    return (.none, TokenParameters.none.forAudience(audience))
  }
}
