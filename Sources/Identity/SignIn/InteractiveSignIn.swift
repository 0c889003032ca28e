// Owns the sign-in through a browser on this machine: authorization code with PKCE, its answer caught on loopback (RFC 8252).
// Opening the browser is the caller's.

public import Network
public import Tokens

/// Signs somebody in through a browser.
public struct InteractiveSignIn: Sendable {
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
    // Before anything is listened on.
    guard metadata.authorizationEndpoint != nil else { throw .unsupported(.browser) }
    let receiver = try LoopbackReceiver(loop: loop, timeout: timeout)
    let signIn = try BrowserSignIn(exchange, metadata, redirectURI: receiver.redirectURI, takesForms: true)
    let showing = Task { await present(signIn.address) }
    let ending = await receiver.receive { form throws(AuthorizationReplyError) in try signIn.reply(form) }
    showing.cancel()
    return try await signIn.finish(code(ending))
  }

  private func code(_ ending: LoopbackReceiver.Ending) throws(SignInError) -> Secret {
    switch ending {
    case .reply(.success(let reply)): return reply.code
    case .reply(.failure(let error)): throw SignInError(error)
    case .timedOut: throw .timedOut(seconds: Int64(timeout.nanoseconds / 1_000_000_000))
    case .cancelled: throw .cancelled
    case .failed(let error): throw .listener(error)
    }
  }
}
