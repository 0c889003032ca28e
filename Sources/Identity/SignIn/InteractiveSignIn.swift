package import Bytes
internal import HTTPServer
package import Platform
internal import Tokens

/// Signs a person in by authorization code with PKCE, its answer received on loopback (RFC 8252).
package struct InteractiveSignIn: Sendable {
  private let exchange: SignInExchange
  private let loop: EventLoop
  private let redirect: LoopbackRedirect
  private let timeout: TimeSpan
  private let users: Set<UInt32>?

  /// A sign-in whose answer is awaited on `loop`, and whose tokens go to `store`.
  /// - Parameter users: the users of this machine whose browsers may bring the answer; nil is every user.
  package init(
    _ request: SignInRequest, store: CacheStore, loop: EventLoop, redirect: LoopbackRedirect? = nil,
    timeout: TimeSpan = .seconds(300), users: Set<UInt32>? = nil, now: @escaping @Sendable () -> UnixTime
  ) {
    self.loop = loop
    self.redirect = redirect ?? LoopbackRedirect(request.application.callback)
    self.timeout = timeout
    self.users = users
    exchange = SignInExchange(request: request, store: store, now: now)
  }

  /// Brings the person to an address of this machine, which leads to the provider once, waits for the answer, and gets
  /// the tokens (MSAL's `acquire_token_interactive`). Cancelling the task ends the wait with `cancelled`.
  package func acquireToken(
    present: @escaping @Sendable (String) async -> Void
  ) async throws(SignInError) -> AuthenticationResult {
    let metadata = try await exchange.metadata()
    // Before listening.
    guard metadata.authorizationEndpoint != nil else { throw .unsupported(.browser) }
    let receiving = Locked(Interest())
    let loop = loop
    let outcome = await withTaskCancellationHandler {
      await Task(executorPreference: loop) { () async -> Outcome in
        await Outcome(awaiting: try await self.receive(metadata, present, receiving))
      }.value
    } onCancel: {
      let server = receiving.withLock { interest in
        interest.hasEnded = true
        return interest.server
      }
      server?.stop()
    }
    switch try outcome.get() {
    case .filed(let result): return result
    case .proven(let proven): return try await exchange.finish(proven)
    }
  }

  private typealias Outcome = Result<Stage, SignInError>

  /// True if the caller still wants the sign-in, and the waiter of it.
  private struct Interest {
    var hasEnded = false
    var server: SmallServer<LoopbackHandler>?
  }

  /// The progress of the browser.
  private indirect enum Stage: Sendable {
    /// The program is asked before it is stored.
    case proven(ProvenSignIn)
    case filed(AuthenticationResult)
  }

  private func receive(
    _ metadata: ProviderMetadata, _ present: @escaping @Sendable (String) async -> Void,
    _ receiving: Locked<Interest>
  ) async throws(SignInError) -> Stage {
    let listener = try LoopbackHandler.listener(on: loop, port: redirect.port)
    let port = listener.address.port
    let requests: Requests
    do throws(SignInError) {
      requests = Requests(
        signIn: try BrowserSignIn(exchange, metadata, redirectURI: redirect.uri(port: port), takesForms: true),
        rule: LoopbackRule(
          start: try Self.secretPath(), callback: redirect.requestPath, decision: try Self.secretPath()),
        confirmation: exchange.request.confirmation)
    } catch {
      listener.close()
      throw error
    }
    let server = SmallServer(
      LoopbackHandler(address: listener.address, users: users) { await requests.verdict($0) }, loop: loop,
      limits: LoopbackHandler.limits)
    let hasEnded = receiving.withLock { interest in
      interest.server = server
      return interest.hasEnded
    }
    if hasEnded { server.stop() }
    // By its address: of the name's two addresses, another user of this machine may listen at the other one.
    let address = "http://127.0.0.1:\(port)\(requests.start)"
    let showing = Task { await present(address) }
    let ending = await server.serve(listener, until: .now + timeout, survivesExhaustion: false)
    showing.cancel()
    if let outcome = requests.outcome { return try outcome.get() }
    switch ending {
    case .stopped: throw .cancelled
    case .timedOut: throw .timedOut(seconds: Int64(timeout.nanoseconds / 1_000_000_000))
    case .failed(let error): throw .listener(error, port: redirect.port)
    }
  }

  private static func secretPath() throws(SignInError) -> String {
    try mapping(SignInError.crypto, "/" + Base64URL.encode(RandomBytes.make(32)))
  }

  /// Carries out the listener's requests.
  private final class Requests: Sendable {
    private struct State {
      var rule: LoopbackRule
      var proven: ProvenSignIn?
      var outcome: Outcome?
    }

    let start: String
    private let signIn: BrowserSignIn
    private let confirmation: SignInConfirmation
    private let state: Locked<State>

    init(signIn: BrowserSignIn, rule: LoopbackRule, confirmation: SignInConfirmation) {
      start = rule.start
      self.signIn = signIn
      self.confirmation = confirmation
      state = Locked(State(rule: rule))
    }

    var outcome: Outcome? { state.withLock { $0.outcome } }

    func verdict(_ request: LoopbackRequest) async -> LoopbackPage {
      do throws(SignInError) {
        switch state.withLock({ $0.rule.action(for: request) }) {
        case .show(let page): return page
        case .begin: return .begin(address: try await signIn.address())
        case .answer(let form): return try await answer(form)
        case .decision(let keeps): return try await decide(keeps)
        }
      } catch {
        return end(.failure(error), .failed)
      }
    }

    /// Anything but an answer to this sign-in changes nothing: any program can send it.
    private func answer(_ form: [UInt8]) async throws(SignInError) -> LoopbackPage {
      let reply: AuthorizationReply
      do throws(AuthorizationReplyError) {
        reply = try signIn.reply(form)
      } catch {
        switch error {
        case .state, .malformed: return .wrongAnswer
        case .issuer, .issuerMissing, .refused, .withoutCode: throw SignInError(error)
        }
      }
      guard state.withLock({ $0.rule.takesAnswer() }) else { return .answeredBefore }
      let proven = try await signIn.prove(reply)
      let (name, application) = (proven.account.name, signIn.application)
      switch confirmation {
      case .none: return try await file(proven)
      case .program: return end(.success(.proven(proven)), .askedElsewhere(name: name, application: application))
      case .page:
        let decision = state.withLock { state in
          state.proven = proven
          state.rule.ask()
          return state.rule.decision
        }
        return .asked(name: name, application: application, decision: decision)
      }
    }

    private func decide(_ keeps: Bool) async throws(SignInError) -> LoopbackPage {
      guard let proven = state.withLock({ $0.proven }) else { return .nothingHere }
      if !keeps { return end(.failure(.notConfirmed(proven.account.name)), .dropped) }
      return try await file(proven)
    }

    private func file(_ proven: ProvenSignIn) async throws(SignInError) -> LoopbackPage {
      let result = try await signIn.file(proven)
      return end(
        .success(.filed(result)),
        .kept(name: proven.account.name, application: signIn.application, purpose: signIn.purpose))
    }

    private func end(_ outcome: Outcome, _ page: LoopbackPage) -> LoopbackPage {
      state.withLock { state in
        if state.outcome == nil { state.outcome = outcome }
      }
      return page
    }
  }
}
