internal import Bytes
internal import HTTP
internal import HTTPClient
internal import Tokens

/// The metadata of the providers in use, fetched once per authority and trust, and kept for a day.
actor ProviderDirectory {
  private struct Name: Hashable {
    var authority: Authority
    var trust: String
  }

  private struct Entry {
    var metadata: ProviderMetadata?
    var fetchedAt = UnixTime(0)
    var flight: Task<Result<ProviderMetadata, AcquisitionError>, Never>?
    /// The last failure, if the provider asked for a pause with it.
    var refusal: (error: AcquisitionError, seconds: Int64, at: UnixTime)?

    /// The failure with the rest of the pause that the provider asked for. The clock counts whole seconds.
    func pausedError(at now: UnixTime) -> AcquisitionError? {
      guard let refusal, (0...refusal.seconds).contains(now - refusal.at) else { return nil }
      return refusal.error.retrying(after: max(refusal.seconds - (now - refusal.at), 1))
    }
  }

  /// Seconds for which metadata is not fetched again (msal-python's).
  static let lifetime: Int64 = 86_400

  private let now: @Sendable () -> UnixTime
  private let tenants: KnownTenants
  private var entries: [Name: Entry] = [:]

  init(now: @escaping @Sendable () -> UnixTime, tenants: KnownTenants = KnownTenants()) {
    self.now = now
    self.tenants = tenants
  }

  /// The metadata of an application's provider. A day-old document is fetched again, but kept if that fails.
  /// - Parameter answerLimit: limit of the wait for the answer, if that is longer than usual.
  func metadata(
    for application: Application, answerLimit: TimeSpan? = nil
  ) async throws(AcquisitionError) -> ProviderMetadata {
    let name = Name(authority: application.authority, trust: application.trust)
    let entry = entries[name] ?? Entry()
    let age = now() - entry.fetchedAt
    if let metadata = entry.metadata, (0..<Self.lifetime).contains(age) { return metadata }
    if entry.flight == nil, let error = entry.pausedError(at: now()) {
      guard let metadata = entry.metadata else { throw error }
      return metadata
    }
    let flight = entry.flight ?? Task { await self.fetch(name, for: application, answerLimit) }
    entries[name, default: Entry()].flight = flight
    let result = await flight.value
    if case .failure = result, let known = entry.metadata { return known }
    return try result.get()
  }

  /// The metadata of an application's provider, if it was ever fetched.
  func knownMetadata(for application: Application) -> ProviderMetadata? {
    entries[Name(authority: application.authority, trust: application.trust)]?.metadata
  }

  /// The tenant of an application's tokens in the cache, without asking its provider: nil if it was never asked. Tokens
  /// that are stored under their issuer do not need it.
  func knownRealm(for application: Application) async -> String? {
    let authority = application.authority
    if authority.isolation != nil { return nil }
    if let realm = authority.knownRealm { return realm }
    if let known = knownMetadata(for: application) { return known.realm }
    return await tenants.tenant(of: authority)
  }

  private func fetch(
    _ name: Name, for application: Application, _ answerLimit: TimeSpan?
  ) async -> Result<ProviderMetadata, AcquisitionError> {
    let result = await Result<_, AcquisitionError>(
      awaiting: try await Self.document(for: application, answerLimit, now: now()))
    var entry = entries[name] ?? Entry()
    (entry.flight, entry.refusal) = (nil, nil)
    switch result {
    case .success(let metadata):
      (entry.metadata, entry.fetchedAt) = (metadata, now())
      // Not waited for: the file or server may be away.
      Task { [tenants] in await tenants.remember(metadata, of: name.authority) }
    case .failure(let error): entry.refusal = error.retryAfter.map { (error, $0, now()) }
    }
    entries[name] = entry
    return result
  }

  private static func document(
    for application: Application, _ answerLimit: TimeSpan?, now: UnixTime
  ) async throws(AcquisitionError) -> ProviderMetadata {
    var response = try await Self.response(application.authority.metadataURL, application, answerLimit)
    // Not every authorization server has OpenID's metadata.
    if response.status == 404, let url = application.authority.oauthMetadataURL {
      let other = await Result<_, AcquisitionError>(awaiting: try await Self.response(url, application, answerLimit))
      if case .success(let other) = other, other.status == 200 { response = other }
    }
    guard response.status == 200 else {
      throw AcquisitionError(
        .metadata(status: response.status, TokenErrorReply(json: response.body)),
        retryAfter: response.answer.pause(now: now))
    }
    return try mapping(
      { AcquisitionError(.document($0)) },
      ProviderMetadata(json: response.body, authority: application.authority))
  }

  private static func response(
    _ url: HTTPURL, _ application: Application, _ answerLimit: TimeSpan?
  ) async throws(AcquisitionError) -> FetchResponse {
    var request = FetchRequest(.get, url)
    request.answerLimit = answerLimit
    return try await AcquisitionError.reaching(request, by: application.fetch)
  }
}

extension ProviderDirectory {
  /// The requests of an application to its provider.
  nonisolated func requests(
    of application: Application, _ metadata: ProviderMetadata, sleep: @escaping @Sendable (Int64) async -> Void
  ) -> ProviderRequests {
    ProviderRequests(application: application, metadata: metadata, surroundings: surroundings(sleep: sleep))
  }

  /// The dependencies of an application's proof, with the clock and the metadata of this directory.
  nonisolated func surroundings(sleep: @escaping @Sendable (Int64) async -> Void) -> ProofSurroundings {
    ProofSurroundings(now: now, sleep: sleep) { application throws(AcquisitionError) in
      try await self.metadata(for: application, answerLimit: ProviderRequests.usualAnswerLimit)
    }
  }
}
