// The credentials of a request: the caller's own token if the listener demands one, then the route's. A warm token is a
// slot of the loop; a wait for another one notices the caller's end and keeps no place from others.

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

  /// True if the loop believes the caller's own token already, or the listener demands none.
  func believesCallerToken() throws(ExchangeFailure) -> Bool {
    guard let check = facts.listener.tokenCheck else { return true }
    let name = try nameOfCallerToken(check)
    request.callerToken = state.callerTokens.use(name, now: UnixTime(state.clock.wallClock().seconds))
    return request.callerToken != nil
  }

  private func nameOfCallerToken(_ check: CallerTokenCheck) throws(ExchangeFailure) -> CallerTokens.Name {
    guard let range = request.headBytes.withBytes({ CallerRules.tokenRange(in: request.head, $0) }) else {
      throw .caller(.untrustedToken)
    }
    guard let digest = request.headBytes.withBytes({ state.callerTokens.digest(of: $0.extracting(range)) }) else {
      throw .callerIssuerUnavailable
    }
    return CallerTokens.Name(
      check: ObjectIdentifier(check), certificate: facts.certificateDigest, digest: digest)
  }

  /// Judges the caller's own token if the loop has not accepted it yet.
  @inline(never)
  func judgeCallerToken() async throws(ExchangeFailure) {
    guard let check = facts.listener.tokenCheck else { return }
    let name = try nameOfCallerToken(check)
    guard let text = request.headBytes.withBytes({ CallerRules.token(in: request.head, $0) }) else {
      throw .caller(.untrustedToken)
    }
    try await judge(text, check, name)
  }

  /// Judges a token of the caller's own, and believes it from then on.
  func judge(
    _ text: String, _ check: CallerTokenCheck, _ name: CallerTokens.Name
  ) async throws(ExchangeFailure) {
    do throws(CallerTokenRefusal) {
      let claims = try await RequestScope.around(request.scope()) { () async throws(CallerTokenRefusal) in
        try await check.accept(text, certificate: name.certificate)
      }
      let token = BelievedToken(name.digest, claims, state.service.identities)
      state.callerTokens.keep(token, for: name)
      request.callerToken = token
    } catch {
      switch error {
      case .issuerUnavailable: throw .callerIssuerUnavailable
      case .withoutScopes: throw .caller(.missingScope)
      case .untrusted(let flaw):
        report(flaw, check.authority)
        throw .caller(.untrustedToken)
      }
    }
  }

  /// Outlined to keep the async frame small.
  @inline(never)
  private func report(_ flaw: JWTRefusal, _ authority: String) {
    state.service.process.log.debug(
      "caller's token refused",
      [
        "request_id": .string(requestID), "authority": .string(authority), "reason": .string(flaw.description),
      ])
  }

  /// The challenge to a caller whose token is refused; nil if no token is missing. Without a token it has no error
  /// (RFC 6750 §3.1).
  func callerChallenge(_ failure: ExchangeFailure) -> String? {
    let error: String
    switch failure {
    case .caller(.missingScope): error = #", error="insufficient_scope""#
    case .caller(.untrustedToken):
      let brought = request.headBytes.withBytes { CallerRules.tokenRange(in: request.head, $0) != nil }
      error = brought ? #", error="invalid_token""# : ""
    default: return nil
    }
    return #"Bearer realm="bearer-proxy""# + error + resourceParameters
  }

  /// The parameters by which a client finds the authority of callers' tokens and their scopes.
  var resourceParameters: String {
    facts.listener.callers.rules.bearer?.challengeParameters(path: request.route?.path) ?? ""
  }

  // MARK: The route's

  /// Chooses the credential to forward: the route's token, unless the caller brought one that the route keeps. False if
  /// the loop holds no usable copy of the token: only requests that wait for one have the frame of a wait.
  func takeHeldCredential(for route: Route) throws(ExchangeFailure) -> Bool {
    if let value = route.fixedValue {
      request.credential = try keepsCallers(instead: route) ? .callers : .fixed(value)
      return true
    }
    request.slot = try chosenSlot(route)
    guard let slot = request.slot else {
      // A token that proves the caller here stays here.
      request.credential = facts.listener.tokenCheck == nil ? .callers : .none
      return true
    }
    if try keepsCallers(instead: route) {
      request.credential = .callers
      return true
    }
    let state = state
    let now = UnixTime(state.clock.wallClock().seconds)
    let held = route.isForCallers ? try callerBearer(slot, now: now) : state.bearers[slot]
    guard let value = held, value.isUsable(at: now) else { return false }
    request.record.tokenSource = .cache
    if route.isForCallers { state.metrics.add(state.service.metrics.callerTokenHits) }
    if value.claimsRefresh(at: now) { state.service.process.broker.refreshBehind(subscription(of: slot)) }
    request.credential = .bearer(value)
    return true
  }

  /// True if the caller sent the field of the route's credential, and the route keeps that one.
  private func keepsCallers(instead route: Route) throws(ExchangeFailure) -> Bool {
    guard route.token.existing != .replace, callersOwnField(of: route) != nil else { return false }
    guard route.token.existing == .keep else { throw .authorizationRefused }
    return true
  }

  /// The caller's first line with the field of the route's credential, unless it is meant for the proxy itself.
  func callersOwnField(of route: Route) -> FieldLine? {
    guard let name = route.fixedCredential?.name, !name.isAuthorization else {
      return callerSentAuthorization() ? request.head.fields.first(.authorization) : nil
    }
    return request.headBytes.withBytes { bytes in
      for index in 0..<request.head.fields.count {
        let line = request.head.fields[index]
        if name.matches(line, bytes), !facts.ingress.rules.consumes(line, bytes) { return line }
      }
      return nil
    }
  }

  private func chosenSlot(_ route: Route) throws(ExchangeFailure) -> Int? {
    guard let choice = route.choice else { return route.bearerSlot }
    switch request.headBytes.withBytes({ choice.verdict(request.head, $0) }) {
    case .usual: return route.bearerSlot
    case .slot(let slot): return slot
    case .refused: throw .choiceRefused
    }
  }

  /// The token for which the caller's own was exchanged. An ended token is not exchanged.
  func callerBearer(_ slot: Int, now: UnixTime) throws(ExchangeFailure) -> BearerValue? {
    guard let callerToken = request.callerToken else { throw .caller(.untrustedToken) }
    if now >= callerToken.claims.expiresAt {
      let refused = AssertionRefused(.invalidToken, state.service.plan.subscriptions[slot].key)
      throw .token(AcquisitionError(.refused(refused)))
    }
    return callerToken.bearer(slot)
  }

  /// The subscription of a slot: on behalf of the caller, if its tokens are callers'.
  /// - Parameter subject: the caller's token, if the head does not have it.
  func subscription(of slot: Int, for subject: Secret? = nil) -> TokenSubscription {
    let subscription = state.service.plan.subscriptions[slot]
    guard subscription.key.subject.isCaller, let callerToken = request.callerToken else { return subscription }
    let token =
      subject
      ?? request.headBytes.withBytes { bytes -> Secret? in
        CallerRules.tokenRange(in: request.head, bytes).map { Secret(copying: bytes.extracting($0)) }
      }
    guard let token else { return subscription }
    return subscription.onBehalf(
      of: CallerAssertion(
        token: token, digest: callerToken.digest, expiresAt: callerToken.claims.expiresAt,
        tenant: callerToken.claims.tenant))
  }

  /// Keeps a token for the next requests: of all callers, or of this one.
  func keep(_ value: BearerValue, for slot: Int, of route: Route) {
    if route.isForCallers {
      request.callerToken?.keep(value, for: slot)
    } else {
      state.bearers[slot] = value
    }
  }

  func callerSentAuthorization() -> Bool {
    guard let line = request.head.fields.first(.authorization) else { return false }
    return request.headBytes.withBytes { !facts.ingress.rules.consumes(line, $0) }
  }

  @inline(never)
  func obtainCredential(for route: Route) async throws(ExchangeFailure) -> RequestCredential {
    guard let slot = request.slot else { return .callers }
    do throws(ExchangeFailure) {
      return .bearer(try await bearer(slot, of: route))
    } catch {
      // A caller that makes room for another one has no time left for an upstream.
      guard route.token.whenUnavailable == .forwardWithout, !caller.mustEnd, case .token(let reason) = error,
        reason.interactionRequired == nil, reason.assertionRefused == nil
      else { throw error }
      return .none
    }
  }

  func bearer(_ slot: Int, of route: Route) async throws(ExchangeFailure) -> BearerValue {
    let value = try await bearer(subscription(of: slot))
    keep(value, for: slot, of: route)
    return value
  }

  /// Asks the broker for a token.
  /// - Parameter leastLife: seconds that it is to live, if a renewal can bring that.
  func bearer(
    _ subscription: TokenSubscription, leastLife: Int64 = 0
  ) async throws(ExchangeFailure) -> BearerValue {
    let state = state
    let asked = state.loop.now
    let spans = request.trace?.beginToken()
    request.record.tokenSource = .identityProvider
    defer { request.record.token = (state.loop.now - asked).nanoseconds }
    do throws(AcquisitionError) {
      let broker = state.service.process.broker
      let value = try await caller.answer(request.scope(spans: spans), key: subscription.key, until: request.whole) {
        () async throws(AcquisitionError) in try await broker.bearer(for: subscription, leastLife: leastLife)
      }
      if value.origin.source == .cache { request.record.tokenSource = .sharedCache }
      request.trace?.endToken(
        spans, of: subscription, since: asked, now: state.loop.now, source: request.record.tokenSource, error: nil)
      return value
    } catch {
      if let required = error.interactionRequired {
        // Without an account there was no request to the provider.
        if required.reason.isWithoutAccount { request.record.tokenSource = .none }
        noteInteraction(required)
      }
      request.trace?.endToken(
        spans, of: subscription, since: asked, now: state.loop.now, source: request.record.tokenSource, error: error)
      throw .token(error)
    }
  }
}

extension Caller {
  /// Time that a token is waited for before the caller makes room for others if connections run out.
  private static let courtesy = TimeSpan.seconds(1)

  /// The broker's answer to a question, which is asked in a task of its own, for as long as the exchange has time.
  ///
  /// A caller that is gone ends the wait. One that has ended its direction may have sent its whole request, or may be
  /// gone: only sending shows which. So it is waited for, and makes room for others if connections run out, as does one
  /// that has waited for long.
  func answer<Value: Sendable>(
    _ scope: RequestScope?, key: AcquisitionKey, until deadline: MonotonicTime,
    to ask: @escaping @Sendable () async throws(AcquisitionError) -> Value
  ) async throws(AcquisitionError) -> Value {
    let pending = PendingAnswer(waiter.loop) { () -> Result<Value, AcquisitionError> in
      do throws(AcquisitionError) {
        return .success(try await RequestScope.around(scope, ask))
      } catch {
        return .failure(error)
      }
    }
    defer { makesRoom = false }
    let slow = waiter.loop.now + Self.courtesy
    var isCourteous = false
    while true {
      if let result = pending.value { return try result.get() }
      if hasLeft || mustEnd || waiter.loop.now >= deadline {
        throw AcquisitionError(.unreached(.timedOut(host: key.authority.url.host)), retryAfter: 1)
      }
      waiter.watch(pending, .read)
      watch(isCourteous ? .leaving : [.leaving, .end])
      switch await waiter.wait(until: isCourteous ? deadline : min(slow, deadline)) {
      case .ready, .timedOut: (isCourteous, makesRoom) = (true, true)
      case .signalled: continue
      }
    }
  }
}
