internal import Bytes
internal import HTTP
internal import HTTPClient
internal import Platform
internal import Tokens

/// The requests that an application sends to its provider's endpoints, proven as the provider accepts it.
struct ProviderRequests: Sendable {
  @Boxed private(set) var application: Application
  let metadata: ProviderMetadata
  let surroundings: ProofSurroundings

  private var now: @Sendable () -> UnixTime { surroundings.now }
  private var sleep: @Sendable (Int64) async -> Void { surroundings.sleep }

  /// Limit of the wait for the answer to a used refresh token, which may hold the only valid one.
  static let answerLimit = TimeSpan.seconds(90)
  /// Limit of the wait for other answers with a token, longer than callers wait: a slow answer serves later callers.
  static let usualAnswerLimit = TimeSpan.seconds(60)

  /// Requests tokens for a grant; once more if that may help and the grant may be sent twice.
  /// - Parameter mayRepeat: false if another request has learned meanwhile that none may be sent.
  func tokens(
    for grant: TokenGrant, scopes: ScopeSet, claims: Claims?, parameters: TokenParameters = .none,
    about account: RoutingHint? = nil, mayRepeat: @Sendable () async -> Bool = { true }
  ) async throws(AcquisitionError) -> TokenReply {
    let region = await region(for: grant)
    return try await proven { application throws(AcquisitionError) in
      var request = TokenRequest(application, grant: grant, scopes: scopes, claims: claims, parameters: parameters)
      (request.routingHint, request.region) = (account, region)
      guard grant.isRepeatable else { return try await send(request) }
      return try await repeatedOnce(sleep, if: mayRepeat) { () async throws(AcquisitionError) in
        try await send(request)
      }
    }
  }

  /// The region of the endpoint. MSAL's regional endpoints serve applications themselves, and no people.
  private func region(for grant: TokenGrant) async -> AzureRegion? {
    guard grant == .clientCredentials, !application.showsCertificate else { return nil }
    switch application.region {
    case nil: return nil
    case .named(let region): return region
    case .discovered: return await application.authentication.region.region(by: application.fetch, now: now)
    }
  }

  func deviceCode(
    scopes: ScopeSet, claims: Claims?, parameters: TokenParameters = .none
  ) async throws(AcquisitionError) -> DeviceAuthorizationReply {
    try await proven { application throws(AcquisitionError) in
      let form = ProviderForm(deviceCodesFor: application, scopes: scopes, claims: claims, parameters: parameters)
      let (answer, sent) = try await post(form, to: .deviceAuthorization)
      return try mapping(AcquisitionError.init, DeviceAuthorizationReply(answer, sent: sent, now: now()))
    }
  }

  /// Sends the parameters of a sign-in to the provider; returns its name for them.
  func push(_ authorization: AuthorizationRequest) async throws(AcquisitionError) -> String {
    try await proven { application throws(AcquisitionError) in
      let form = ProviderForm(pushing: authorization, of: application)
      let (answer, sent) = try await post(form, to: .pushedAuthorization)
      return try mapping(AcquisitionError.init, answer.requestURI(sent: sent, now: now()))
    }
  }

  func revoke(_ token: Secret, _ hint: TokenHint) async throws(AcquisitionError) {
    try await proven { application throws(AcquisitionError) in
      let form = ProviderForm(revoking: token, hint, of: application)
      try await repeatedOnce(sleep) { () async throws(AcquisitionError) in
        let (answer, sent) = try await post(form, to: .revocation)
        try mapping(AcquisitionError.init, answer.checkRevocation(sent: sent, now: now()))
      }
    }
  }

  private func post(
    _ form: ProviderForm?, to endpoint: ProviderEndpoint
  ) async throws(AcquisitionError) -> (answer: ProviderAnswer, sent: SentSecrets) {
    guard let form else { throw AcquisitionError(.document(.missing(member: endpoint.rawValue))) }
    return (try await post(form.body, to: form.endpoint, form.fields).answer, form.sentSecrets)
  }

  private func send(_ request: TokenRequest) async throws(AcquisitionError) -> TokenReply {
    var (isRefresh, limit) = (false, Self.usualAnswerLimit)
    if case .refreshToken = request.grant { (isRefresh, limit) = (true, Self.answerLimit) }
    let response = try await post(request.body, to: request.endpoint, request.fields, answerLimit: limit)
    do throws(TokenFailure) {
      return try TokenReply(response.answer, sent: request.sentSecrets, expected: request.grant.expected, now: now())
    } catch {
      let failure = isRefresh ? error.ofRefresh(isEmpty: response.body.isEmpty) : error
      guard case .assertion = request.application.credential else { throw AcquisitionError(failure) }
      throw AcquisitionError(failure.notingClock(of: response, now: now()))
    }
  }

  private func post(
    _ form: [UInt8], to endpoint: HTTPURL, _ fields: [(name: String, value: String)], answerLimit: TimeSpan? = nil
  ) async throws(AcquisitionError) -> FetchResponse {
    var post = FetchRequest(.post(contentType: TokenRequest.contentType, body: form), endpoint, fields: fields)
    post.answerLimit = answerLimit
    return try await AcquisitionError.reaching(post, by: application.fetch)
  }

  /// Sends a request that proves the application; once more with the other placement of the secret if the provider
  /// refuses the first (`ClientSecretPlacement.order`).
  ///
  /// A grant for one use may be sent again: a provider authenticates the application before it looks at the grant.
  private func proven<Reply>(
    _ send: (ClientAuthentication) async throws(AcquisitionError) -> Reply
  ) async throws(AcquisitionError) -> Reply {
    func attempt(
      _ credential: ClientCredential?, _ placement: ClientSecretPlacement
    ) async throws(AcquisitionError) -> Reply {
      try await send(
        ClientAuthentication(
          application.clientID, at: metadata, credential, placement: placement,
          showsCertificate: application.showsCertificate))
    }
    let credential = try await application.proof(to: metadata, surroundings)
    let memory = application.authentication
    let order = ClientSecretPlacement.order(
      configured: application.secretPlacement, accepted: memory[application], offered: metadata.secretPlacements)
    let refusal: AcquisitionError
    do throws(AcquisitionError) { return try await attempt(credential, order[0]) } catch { refusal = error }
    switch credential {
    case .secret where order.count > 1 && refusal.isAboutClient:
      do throws(AcquisitionError) {
        let reply = try await attempt(credential, order[1])
        memory[application] = order[1]
        return reply
      } catch {
        // The secret itself is wrong: the failure of the first placement is reported.
        if error.isAboutClient { throw refusal }
        // Refused for another reason, so the application's proof was accepted.
        if error.isRefusal { memory[application] = order[1] }
        throw error
      }
    case .assertion(let proof, _) where refusal.errorClass == .configuration:
      // Another one is obtained for the next request: this one may have been withdrawn.
      guard await memory.federatedTokens.forget(proof), case .assertionCommand = application.credential,
        refusal.isAboutClient
      else { throw refusal }
      // And for this one: a JWT that a command has signed may be valid for one request (`jti`, RFC 7523 §3).
      return try await attempt(try await application.proof(to: metadata, surroundings), order[0])
    default: throw refusal
    }
  }
}

/// Runs `body`, and once more if that may help (`AcquisitionError.repetition`).
func repeatedOnce<Answer: Sendable>(
  _ sleep: (Int64) async -> Void, if mayRepeat: () async -> Bool = { true },
  _ body: () async throws(AcquisitionError) -> Answer
) async throws(AcquisitionError) -> Answer {
  do throws(AcquisitionError) {
    return try await body()
  } catch {
    guard let wait = error.repetition else { throw error }
    if wait > 0 { await sleep(wait) }
    guard await mayRepeat() else { throw error }
    return try await body()
  }
}

/// Proofs of applications that providers have accepted, for all requests of a process.
package final class ClientAuthenticationMemory: Sendable {
  private let accepted = Locked<[ApplicationName: ClientSecretPlacement]>([:])
  /// The tokens of other issuers that prove applications.
  let federatedTokens = FederatedTokens()
  /// The machine's region.
  let region: AzureRegionDiscovery

  /// An empty memory.
  /// - Parameter record: receives the result of the request for the machine's region.
  package init(record: @escaping @Sendable (AzureRegionDiscovery.Outcome) -> Void = { _ in }) {
    region = AzureRegionDiscovery(record)
  }

  subscript(_ application: Application) -> ClientSecretPlacement? {
    get { accepted.withLock { $0[application.registration] } }
    set { accepted.withLock { $0[application.registration] = newValue } }
  }
}

extension TokenFailure {
  /// Seconds between two clocks that every assertion tolerates.
  private static let clockTolerance: Int64 = 60

  /// The same with the difference between the provider's clock and ours, if it is large.
  fileprivate func notingClock(of response: FetchResponse, now: UnixTime) -> TokenFailure {
    guard case .refused(var reply) = cause,
      let date = response.value(of: "date").flatMap({ UnixTime(httpDate: $0[...], now: now) }),
      abs(now - date) > Self.clockTolerance
    else { return self }
    reply.clockSkew = now - date
    var failure = self
    failure.cause = .refused(reply)
    return failure
  }
}

extension FetchResponse {
  var answer: ProviderAnswer {
    ProviderAnswer(
      status: status, retryAfter: value(of: "retry-after"), contentType: value(of: "content-type"), body: body)
  }
}

extension AcquisitionError {
  /// The answer to a request on the way to a token.
  static func reaching(_ request: FetchRequest, by fetch: Fetch) async throws(AcquisitionError) -> FetchResponse {
    try await mapping({ AcquisitionError(.unreached($0)) }, awaiting: await fetch(request))
  }

  /// True if the provider may not believe the application's proof: `invalid_client` and 401 (RFC 6749 §5.2), and the
  /// answers of some providers, with another word or none at all (glewlwyd).
  fileprivate var isAboutClient: Bool {
    guard case .token(let failure) = cause else { return false }
    return switch failure.cause {
    case .refused(let reply):
      failure.status == 401 || reply.error == "invalid_client" || reply.error == "unauthorized_client"
        || reply.isWithoutCode && [400, 403].contains(failure.status)
    case .unintelligible, .noAccessToken, .tokenType, .issuedTokenType, .unusableToken, .lifetime: false
    }
  }

  fileprivate var isRefusal: Bool {
    if case .token(let failure) = cause, let reply = failure.refusal { !reply.isWithoutCode } else { false }
  }
}
