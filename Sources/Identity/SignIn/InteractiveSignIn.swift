// Owns the sign-in through a browser on this machine: authorization code with PKCE, its answer caught on loopback (RFC 8252).
// Opening the browser is the caller's.

internal import HTTPClient
public import Network
public import Tokens

/// Signs somebody in through a browser.
public struct InteractiveSignIn: Sendable {
  private let request: SignInRequest
  private let exchange: SignInExchange
  private let loop: EventLoop
  private let timeout: TimeSpan

  /// A sign-in whose answer is waited for on `loop`.
  /// - Parameters:
  ///   - store: where the tokens are filed.
  ///   - timeout: how long the person may take; five minutes unless told.
  ///   - now: the wall clock.
  public init(
    _ request: SignInRequest, store: any TokenCacheStore, loop: EventLoop, timeout: TimeSpan = .seconds(300),
    now: @escaping @Sendable () -> UnixTime
  ) {
    self.request = request
    self.loop = loop
    self.timeout = timeout
    exchange = SignInExchange(request: request, store: store, now: now)
  }

  /// Shows the person an address, waits for the answer, and gets the tokens (MSAL's `acquire_token_interactive`).
  ///
  /// Cancelling the task ends the wait with `cancelled`.
  /// - Parameter present: brings the person to the address, such as by printing it and opening a browser.
  public func acquireToken(
    present: @escaping @Sendable (String) async -> Void
  ) async throws(SignInError) -> AuthenticationResult {
    let metadata = try await exchange.metadata()
    guard let endpoint = metadata.authorizationEndpoint else { throw .unsupported(.browser) }
    let session = try Self.session()
    let receiver = try LoopbackReceiver(loop: loop, timeout: timeout)
    var address = AuthorizationRequest(
      endpoint: endpoint, clientID: request.application.clientID, redirectURI: receiver.redirectURI,
      scopes: request.scopes, session: session)
    address.extraScopes = request.extraScopes
    address.claims = request.mergedClaims
    address.prompt = request.prompt
    address.loginHint = request.loginHint
    address.maxAge = request.maxAge
    address.authenticationContexts = request.authenticationContexts
    // A posted code stays out of the browser's history; a provider that does not say it can post is not asked to.
    if metadata.responseModes.contains(AuthorizationRequest.ResponseMode.formPost.rawValue) {
      address.responseMode = .formPost
    }
    let url = address.url
    let showing = Task { await present(url) }
    let issuer = request.application.authority.kind == .issuer ? metadata.issuer : nil
    let ending = await receiver.receive { form throws(AuthorizationReplyError) in
      try AuthorizationReply(form: form, state: session.state, issuer: issuer)
    }
    showing.cancel()
    let grant = TokenGrant.authorizationCode(
      try code(ending), redirectURI: receiver.redirectURI, verifier: session.proof.verifier)
    let reply: TokenReply
    do throws(AcquisitionFailure) {
      reply = try await exchange.redeem(grant, scopes: request.scopes, metadata)
    } catch {
      throw exchange.failure(error)
    }
    return try await exchange.finish(reply, grant, nonce: session.nonce, metadata)
  }

  private static func session() throws(SignInError) -> AuthorizationSession {
    do throws(CryptoError) {
      return try AuthorizationSession(
        random: { count throws(CryptoError) in try RandomBytes.make(count) },
        digest: { bytes throws(CryptoError) in try SHA256.digest(of: bytes) })
    } catch {
      throw .crypto(error)
    }
  }

  private func code(_ ending: LoopbackReceiver.Ending) throws(SignInError) -> Secret {
    switch ending {
    case .reply(.success(let reply)): return reply.code
    case .reply(.failure(.refused(let reply))):
      switch TokenErrorClass(reply, status: 400) {
      case .declined: throw .declined(reply)
      default: throw .refused(reply)
      }
    case .reply(.failure(let error)): throw .answer(error)
    case .timedOut: throw .timedOut(seconds: Int64(timeout.nanoseconds / 1_000_000_000))
    case .cancelled: throw .cancelled
    case .failed(let error): throw .listener(error)
    }
  }
}
