package import Bytes
package import Tokens

/// Signs a person in by a device code: shown here, confirmed elsewhere, polled until it is (RFC 8628).
package struct DeviceCodeSignIn: Sendable {
  private let exchange: SignInExchange
  private let sleep: @Sendable (Int64) async -> Void

  /// A sign-in by device code whose tokens go to `store`. `sleep` waits for seconds, or until the task is cancelled.
  package init(
    _ request: SignInRequest, store: CacheStore, now: @escaping @Sendable () -> UnixTime,
    sleep: @escaping @Sendable (Int64) async -> Void = TokenBroker.sleep
  ) {
    self.sleep = sleep
    exchange = SignInExchange(request: request, store: store, now: now)
  }

  /// Shows a code, and requests the tokens until the person has confirmed it (MSAL's `acquire_token_by_device_flow`).
  /// Cancelling the task ends the wait with `cancelled`.
  package func acquireToken(
    present: (DeviceAuthorizationReply) async -> Void
  ) async throws(SignInError) -> AuthenticationResult {
    let metadata = try await exchange.metadata()
    let codes = try await codes(metadata)
    await present(codes)
    let grant = TokenGrant.deviceCode(codes.deviceCode)
    let reply = try await poll(codes, grant, metadata)
    return try await exchange.finish(try await exchange.prove(reply, grant, nonce: nil, metadata))
  }

  private func codes(_ metadata: ProviderMetadata) async throws(SignInError) -> DeviceAuthorizationReply {
    guard metadata.url(of: .deviceAuthorization) != nil else { throw .unsupported(.deviceCode) }
    let (request, terms) = (exchange.request, exchange.request.terms)
    return try await mapping(
      exchange.failure,
      awaiting: await exchange.requests(metadata).deviceCode(
        scopes: terms.scopes.union(terms.extraScopes), claims: request.mergedClaims, parameters: terms.parameters))
  }

  private func poll(
    _ codes: DeviceAuthorizationReply, _ grant: TokenGrant, _ metadata: ProviderMetadata
  ) async throws(SignInError) -> TokenReply {
    var polling = DevicePolling(codes, now: exchange.now())
    var action = polling.begin(at: exchange.now())
    // Named again only if the code is for several APIs: the token is for the first.
    let terms = exchange.request.terms
    let scopes = terms.extraScopes.isEmpty ? ScopeSet.none : terms.scopes
    while true {
      switch action {
      case .ask(let seconds): await sleep(seconds)
      case .expired: throw .codeExpired
      case .declined: throw .declined(TokenErrorReply(error: "access_denied"))
      case .refused(let failure): throw exchange.failure(AcquisitionError(failure))
      }
      if Task.isCancelled { throw .cancelled }
      do throws(AcquisitionError) {
        return try await exchange.redeem(grant, scopes: scopes, metadata)
      } catch {
        if case .token(let failure) = error.cause {
          action = polling.next(after: failure, now: exchange.now())
        } else {
          action = polling.nextWithoutAnswer(now: exchange.now())
        }
      }
    }
  }
}
