// Which credentials a request needs and has: the caller's own token where the listener demands one, then the route's. A
// warm token is a slot of the loop; others are waited for, in a way that notices the caller's end and keeps no place
// from others.

internal import Bytes
internal import HTTP
internal import HTTPClient
internal import Identity
internal import Platform
internal import Routing
internal import Telemetry
internal import Tokens

extension Exchange {
  // MARK: The caller's

  /// How many tokens a loop remembers to have believed.
  private static var rememberedTokens: Int { 4096 }

  /// Judges the caller's own token where the listener demands one. A loop asks about each token once.
  func judgeCallerToken() async throws(ExchangeFailure) {
    guard let check = connection.context.tokenCheck else { return }
    guard let text = request.headBytes.withBytes({ CallerRules.token(in: request.parser.head, $0) }) else {
      throw .caller(.untrustedToken)
    }
    let certificate = connection.certificateDigest
    let digest: [UInt8]
    do throws(CryptoError) {
      // Listeners may trust different issuers, and a token may be bound to a certificate, so the digest is of all
      // three.
      digest = try SHA256.digest(
        of: Array("\(ObjectIdentifier(check).hashValue) ".utf8) + certificate + Array(text.utf8))
    } catch {
      throw .callerIssuerUnavailable
    }
    let now = UnixTime(state.wallClock().seconds)
    if let until = state.believedTokens[digest], now < until { return }
    do throws(CallerTokenRefusal) {
      let until = try await RequestScope.around(request.scope()) { () async throws(CallerTokenRefusal) in
        try await check.accept(text, certificate: certificate)
      }
      if state.believedTokens.count >= Self.rememberedTokens { state.believedTokens = [:] }
      state.believedTokens[digest] = until
    } catch {
      throw error == .untrusted ? .caller(.untrustedToken) : .callerIssuerUnavailable
    }
  }

  // MARK: The route's

  /// Chooses the credential to forward: the route's token, unless the caller brought something that the route keeps.
  /// Nil where the loop holds no usable copy of the token: only requests that wait for one have the frame of a wait.
  mutating func heldCredential(for route: Route) throws(ExchangeFailure) -> RequestCredential? {
    guard let slot = route.bearerSlot else { return .callers }
    if route.token.existing != .replace, callerSentAuthorization() {
      if route.token.existing == .keep { return .callers }
      throw .authorizationRefused
    }
    let state = state
    let now = UnixTime(state.wallClock().seconds)
    guard let value = state.bearers[slot], value.isUsable(at: now) else { return nil }
    record.tokenSource = .cache
    if value.claimsRefresh(at: now) { state.service.broker.refreshBehind(state.service.subscriptions[slot]) }
    return .bearer(value)
  }

  /// Whether there is an `Authorization` that is not meant for the proxy itself.
  private func callerSentAuthorization() -> Bool {
    guard let line = request.parser.head.fields.first(.authorization) else { return false }
    return request.headBytes.withBytes { !connection.ingress.rules.consumes(line, $0) }
  }

  /// The route's token as the broker obtains it.
  mutating func obtainCredential(for route: Route) async throws(ExchangeFailure) -> RequestCredential {
    guard let slot = route.bearerSlot else { return .callers }
    do throws(ExchangeFailure) {
      return .bearer(try await bearer(slot))
    } catch {
      noteInteraction(error, route)
      // A connection that makes room for another one has no time left for an upstream.
      guard route.token.whenUnavailable == .forwardWithout, !connection.mustEnd, case .token(let reason) = error,
        !reason.isInteractionRequired
      else { throw error }
      return .none
    }
  }

  private mutating func bearer(_ slot: Int) async throws(ExchangeFailure) -> BearerValue {
    let state = state
    let asked = state.loop.now
    let subscription = state.service.subscriptions[slot]
    let spans = trace?.beginToken()
    record.tokenSource = .identityProvider
    defer { record.token = (state.loop.now - asked).nanoseconds }
    do throws(AcquisitionError) {
      let broker = state.service.broker
      let wait = TokenWait<BearerValue>(request.scope(spans: spans), on: connection.waiter) {
        () async throws(AcquisitionError) in try await broker.bearer(for: subscription)
      }
      let value = try await connection.outcome(of: wait, key: subscription.key)
      state.bearers[slot] = value
      if value.origin.source == .cache { record.tokenSource = .sharedCache }
      trace?.endToken(
        spans, of: subscription, since: asked, now: state.loop.now, source: record.tokenSource, error: nil)
      return value
    } catch {
      // Without an account there was no request to the provider.
      if case .interactionRequired(let required) = error, required.reason.isWithoutAccount {
        record.tokenSource = .none
      }
      trace?.endToken(
        spans, of: subscription, since: asked, now: state.loop.now, source: record.tokenSource, error: error)
      throw .token(error)
    }
  }
}

extension RequestCredential {
  var owner: ExchangeState.CredentialOwner {
    switch self {
    case .callers: .caller
    case .none: .none
    case .bearer: .proxy
    }
  }
}

/// A question to the broker, asked by a task of its own.
struct TokenWait<Answer: Sendable>: Sendable {
  private let arrived = Locked<Result<Answer, AcquisitionError>?>(nil)

  /// Asks, and signals `waiter` when there is an answer. Call on its loop.
  init(
    _ scope: RequestScope?, on waiter: Waiter,
    _ ask: @escaping @Sendable () async throws(AcquisitionError) -> Answer
  ) {
    Task(executorPreference: waiter.loop) { [arrived] in
      let result: Result<Answer, AcquisitionError>
      do throws(AcquisitionError) {
        result = .success(try await RequestScope.around(scope, ask))
      } catch {
        result = .failure(error)
      }
      arrived.withLock { $0 = result }
      // Where the caller is gone, the connection does not wait here any more; its other waits look again when
      // signalled.
      waiter.signal()
    }
  }

  /// The answer, once there is one.
  var result: Result<Answer, AcquisitionError>? { arrived.withLock { $0 } }
}

extension DownstreamConnection {
  /// How long a token is waited for before the connection makes room for others where connections run out.
  private static let courtesy = TimeSpan.seconds(1)

  /// The broker's answer.
  ///
  /// A caller that is gone ends the wait. One that has ended its direction may have sent its request whole, or may be
  /// gone: nothing tells them apart until something is sent. So it is waited for, and makes room for other connections
  /// where these run out, as does one that has waited for long.
  func outcome<Answer>(of wait: TokenWait<Answer>, key: AcquisitionKey) async throws(AcquisitionError) -> Answer {
    defer {
      makesRoom(false)
      waiter.forgetSignal()
    }
    let slow = state.loop.now + Self.courtesy
    while true {
      if let result = wait.result { return try result.get() }
      if stream.channel.isHungUp || mustEnd {
        throw .providerUnavailable(.unreached(.timedOut(host: key.authority.url.host)), retryAfter: 1)
      }
      let isCourteous = waitingSince != nil
      waiter.watch(stream.channel, isCourteous ? .hangUp : [.hangUp, .readClosed])
      switch await waiter.wait(until: isCourteous ? .distantFuture : slow) {
      case .ready, .timedOut: makesRoom(true)
      case .signalled: continue
      }
    }
  }
}
