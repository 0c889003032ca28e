// Stores what a provider has given, in the cache and in the hands of those who wait.

internal import Bytes
internal import Tokens

extension TokenAcquisition {
  /// Stores an application's own token.
  func filed(_ reply: TokenReply, _ sent: UnixTime, _ metadata: ProviderMetadata) async -> BearerValue {
    let value = value(reply, sent, metadata, account: nil)
    var issued = issued(reply, environment: key.authority.environments[0], metadata, value, sent)
    issued.isolation = key.authority.applicationIsolation
    // A cache cannot store the parameters of a token's request.
    guard issued.isPlain else { return value }
    await served(value, issued, sent) { [issued, now] in
      await change { $0.add(issued, now: sent, at: now()) }
    }
    return value
  }

  /// Stores a person's token, unless it is another person's, or the person signed out meanwhile.
  func filed(
    _ reply: TokenReply, _ sent: UnixTime, for account: CachedAccount, redeeming token: HeldRefreshToken,
    _ metadata: ProviderMetadata
  ) async throws(AcquisitionError) -> BearerValue {
    guard reply.identity.canBe(account) else { throw required(.userMismatch) }
    let authority = key.authority
    let value = value(reply, sent, metadata, account: account)
    var issued = issued(
      reply, environment: authority.isolation == nil ? token.environment : authority.environment, metadata, value, sent)
    issued.renewedFor = account.homeAccountID
    let isFiled = await served(value, issued, sent) { [issued, now] in
      await change { document in
        guard document.add(issued, now: sent, at: now()) else { return false }
        if let next = issued.reply.refreshToken {
          document.rotate(token, to: next, obtainedAt: sent, of: authority.isolation)
        }
        document.adopt(token, of: issued)
        return true
      }
    }
    // The store keeps a change that could not be written, so only a clear refusal counts.
    if case .success(false) = isFiled {
      value.withdraw()
      throw required(.noAccount)
    }
    return value
  }

  /// Stores the reply. If that takes longer than callers wait, serves them, unless the person is known to be gone.
  @discardableResult
  private func served<Answer: Sendable>(
    _ value: BearerValue, _ issued: IssuedTokens, _ sent: UnixTime, filing: () async -> Answer
  ) async -> Answer {
    guard let patience else { return await filing() }
    let early = Task {
      await store.surroundings.sleep(patience)
      if Task.isCancelled { return }
      var document = await store.snapshot()
      guard document.add(issued, now: sent), !Task.isCancelled else { return }
      serve(Report(result: usable(value), wasSent: true))
    }
    defer { early.cancel() }
    return await filing()
  }

  private func issued(
    _ reply: TokenReply, environment: String, _ metadata: ProviderMetadata, _ value: BearerValue, _ sent: UnixTime
  ) -> IssuedTokens {
    var issued = IssuedTokens(
      reply, clientID: key.clientID, environment: environment, realm: metadata.realm,
      authority: key.authority.accountAuthority, grantType: subscription.grantType, requested: key.scopes,
      isolation: key.authority.isolation, isSignIn: false)
    issued.isPlain = key.parameters.isEmpty
    // Processes that share the cache renew it at one time, which is not that of other groups.
    if store.isProxiesOwn, isSpread(at: sent) { issued.reply.refreshIn = value.lifetime.refreshAt - sent }
    return issued
  }

  /// Its life is counted from the request: a reply may have been on its way for long.
  func value(
    _ reply: TokenReply, _ sent: UnixTime, _ metadata: ProviderMetadata, account: CachedAccount?
  ) -> BearerValue {
    BearerValue(
      reply.accessToken,
      lifetime: TokenLifetime(
        expiresIn: reply.expiresIn, refreshIn: reply.refreshIn, isSpread: isSpread(at: sent),
        now: sent, jitter: jitter()),
      scopes: reply.grantedScopes(requested: key.scopes),
      origin: TokenOrigin(
        .identityProvider, authority: key.authority, realm: metadata.realm, account: account))
  }

  /// Changes the cache. A change that cannot be written is kept in memory: the token is valid either way.
  @discardableResult
  func change<Answer: Sendable>(
    _ change: @escaping @Sendable (inout CacheDocument) -> Answer
  ) async -> Result<Answer, CacheStoreError> {
    await Result(awaiting: try await store.modify(about: key.interest, change))
  }
}

extension AccountIdentity {
  /// True if a reply with this identity may be an account's. A reply without `client_info` names the person by the
  /// subject alone, which is no home account id; the object id then decides.
  fileprivate func canBe(_ account: CachedAccount) -> Bool {
    guard let homeAccountID, homeAccountID != account.homeAccountID else { return true }
    return localAccountID.map { account.localAccountIDs.contains($0) } ?? false
  }
}
