// Owns one acquisition from metadata to token, with its one repetition. Remembers nothing.

internal import HTTPClient
internal import Tokens

/// What it takes to ask a provider for one token.
struct TokenAcquisition {
  let subscription: TokenSubscription
  let directory: ProviderDirectory
  let now: @Sendable () -> UnixTime
  /// Draws 0 up to 1.
  let jitter: @Sendable () -> Double
  /// Waits for seconds.
  let sleep: @Sendable (Int64) async -> Void

  /// Asks, and once more where that is worth it.
  func run() async throws(AcquisitionFailure) -> BearerValue {
    do throws(AcquisitionFailure) {
      return try await attempt()
    } catch {
      guard subscription.grant.isRepeatable, let wait = error.repetition else { throw error }
      if wait > 0 { await sleep(wait) }
      return try await attempt()
    }
  }

  private func attempt() async throws(AcquisitionFailure) -> BearerValue {
    let application = subscription.application
    let key = subscription.key
    let request = TokenRequest(
      metadata: try await directory.metadata(for: application), clientID: application.clientID,
      credential: application.credential, grant: subscription.grant, scopes: key.scopes, claims: key.claims)
    let reply = try await send(request)
    let lifetime = TokenLifetime(
      expiresIn: reply.expiresIn, refreshIn: reply.refreshIn, now: now(), jitter: jitter())
    return BearerValue(
      reply.accessToken, lifetime: lifetime, scopes: reply.grantedScopes(requested: key.scopes))
  }

  private func send(_ request: TokenRequest) async throws(AcquisitionFailure) -> TokenReply {
    let response: FetchResponse
    do throws(FetchError) {
      response = try await subscription.application.fetch(
        FetchRequest(
          .post(contentType: TokenRequest.contentType, body: request.body), request.endpoint, fields: request.fields))
    } catch {
      throw .unreached(error)
    }
    do throws(TokenFailure) {
      return try TokenReply(
        status: response.status, retryAfter: response.value(of: "retry-after"), body: response.body, now: now())
    } catch {
      throw .token(error.withoutEcho(of: request.credential))
    }
  }
}

extension TokenFailure {
  /// The same without the provider's prose where that repeats the secret: it goes to the log.
  fileprivate func withoutEcho(of credential: ClientCredential?) -> TokenFailure {
    guard case .secret(let secret) = credential, case .refused(var reply) = cause,
      let prose = reply.description, !secret.isEmpty, prose.contains(secret.revealed())
    else { return self }
    reply.description = nil
    return TokenFailure(.refused(reply), status: status, retryAfter: retryAfter)
  }
}
