// The reaction to a refused token, by the upstream or before it was obtained: asks `ChallengePlan`, has the broker act,
// and updates counters, log and memory. It runs on the cold path alone.

internal import Bytes
internal import HTTP
internal import Identity
internal import Platform
internal import Routing
internal import Telemetry
internal import Tokens

struct Refusal {
  var token: BearerValue
  var route: Route
  var status: Int
  var challenge: BearerChallengeReading
  var isReplayable: Bool
  var isReplay: Bool
}

extension Exchange {
  /// Another token to send the request once more with; nil if the refusal is to be passed on. Throws if the provider
  /// gives none.
  func answerRefusal(_ refusal: Refusal) async throws(AcquisitionError) -> BearerValue? {
    let route = refusal.route
    guard let slot = request.slot else { return nil }
    let subscription = subscription(of: slot)
    let now = UnixTime(state.clock.wallClock().seconds)
    var refused = read(refusal, subscription, now)
    if refused.lacksNames, let description = route.description {
      refused.take(discovered: await discoveredScopes(description, refused, route))
    }
    let kind = RecordedChallenge(refused.kind)
    switch ChallengePlan(refused) {
    case .passOn(let reason):
      note(kind, reason == .isReplay ? .refusedAgain : .passedOn)
      if case .unusable(let fault) = refused.challenge { warn(of: fault, route) }
      if reason == .isReplay || reason == .personNeeded { remember(refused, nil, refusal, now) }
      return nil
    case .answerBehind(let rejection):
      note(kind, .renewedBehind)
      request.callerToken?.forget(refusal.token)
      let broker = state.service.process.broker
      Task {
        // The next request reports a failure, if there is one.
        do throws(AcquisitionError) {
          _ = try await broker.bearer(answering: rejection, about: refusal.token, for: subscription)
        } catch {}
      }
      return nil
    case .answer(let rejection):
      let (spans, asked) = (request.trace?.beginToken(), state.loop.now)
      func told(_ error: AcquisitionError?) {
        request.trace?.endToken(
          spans, of: subscription, since: asked, now: state.loop.now, source: .identityProvider,
          rejection: refused.kind.rawValue, error: error)
      }
      do throws(AcquisitionError) {
        let broker = state.service.process.broker
        let value = try await caller.answer(request.scope(spans: spans), key: subscription.key, until: request.whole) {
          () async throws(AcquisitionError) in
          try await broker.bearer(answering: rejection, about: refusal.token, for: subscription)
        }
        guard let value else {
          if spans?.hasChildren == true { told(nil) }
          note(kind, .alreadyAnswered)
          // Behind an engine the second refusal is a report like the first. On our own path it was remembered; a
          // sign-in may have met it since, without this token.
          if request.handOut != nil, await broker.isAnswer(refusal.token, to: rejection, for: subscription) {
            remember(refused, nil, refusal, now)
          }
          return nil
        }
        note(kind, .replayed)
        told(nil)
        if route.isForCallers, subscription.key.scopes.isCovered(by: value.scopes) {
          keep(value, for: slot, of: route)
        }
        return value
      } catch {
        note(kind, .notObtained)
        told(error)
        if let required = error.interactionRequired { remember(refused, required, refusal, now) }
        throw error
      }
    }
  }

  /// The scopes in an API's metadata; none if there are none to be used.
  private func discoveredScopes(
    _ description: ResourceDirectory, _ refused: RefusedRequest, _ route: Route
  ) async -> ScopeSet {
    do throws(DiscoveryFault) {
      return try await description.description(challenge: refused.bearer?.resourceMetadata)?.scopes ?? .none
    } catch {
      state.service.process.log.warning(
        "an API's metadata cannot be used",
        ["route": .string(route.name), "reason": .string(error.words), "next": .next(.challengeField)],
        of: request.logRequest)
      return .none
    }
  }

  /// The meaning of a refusal. Outlined to keep the async frame small.
  @inline(never)
  private func read(
    _ refusal: Refusal, _ subscription: TokenSubscription, _ now: UnixTime
  ) -> RefusedRequest {
    RefusedRequest(
      status: refusal.status, challenge: refusal.challenge,
      granted: refusal.token.scopes.union(subscription.key.scopes),
      tokenAge: now - refusal.token.lifetime.obtainedAt, allowedScopes: refusal.route.token.scopesOnChallenge,
      isReplayable: refusal.isReplayable, isReplay: refusal.isReplay)
  }

  /// Counts and remembers that a token needs a person, and notes if a person's browser asks.
  func noteInteraction(_ required: InteractionRequired) {
    guard let route = request.route else { return }
    if audience == .person, request.handOut == nil, facts.listener.programs == nil {
      request.returnTo = request.headBytes.withBytes { Self.target(request.head, $0) }
    }
    note(.interactionRequired, .answered)
    guard let claims = required.claims else { return }
    state.service.process.signInRequirements.remember(
      SignInRequirement(claims: claims, since: UnixTime(state.clock.wallClock().seconds)), route: route.name)
  }

  func signInLink(_ problem: ProblemDocument) -> String? {
    // Of several who are signed in, one more sign-in chooses none.
    guard let route = request.route, let interaction = problem.interaction, interaction.reason != .accountAmbiguous
    else { return nil }
    let own = facts.listener.signIn?.origin.link(route: route.name, returnTo: request.returnTo)
    let link = own ?? state.service.signInLink(route, interaction)
    // It goes into a field and into markup.
    return link.flatMap { link in link.utf8.allSatisfy { (0x21...0x7E).contains($0) } ? link : nil }
  }

  static func target(_ head: borrowing RequestHead, _ bytes: Span<UInt8>) -> String {
    let path = bytes.extracting(head.target.path).text
    let query = bytes.extracting(head.target.query).text
    return query.isEmpty ? path : "\(path)?\(query)"
  }

  private func remember(
    _ refused: RefusedRequest, _ required: InteractionRequired?, _ refusal: Refusal, _ now: UnixTime
  ) {
    let route = refusal.route
    guard let bearer = refused.bearer, !route.isForCallers else { return }
    var need = SignInRequirement(since: now)
    need.claims = bearer.claims
    if let more = required?.claims { need.claims = need.claims?.merged(with: more) ?? more }
    need.authenticationContexts = bearer.authenticationContexts
    need.maxAge = bearer.maxAge
    // Only what the route may ask for.
    if refused.kind == .insufficientScope { need.scopes = bearer.scopes }
    if need.isEmpty { return }
    need.refused = SignInRequirement.mark(of: refusal.token.token)
    state.service.process.signInRequirements.remember(need, route: route.name)
    state.service.process.log.warning(
      "an upstream wants more than can be had without a person",
      [
        "route": .string(route.name), "kind": .string(refused.kind.rawValue),
        "reason": .string(required?.reason.rawValue ?? "not asked again"),
        "next": .string(
          state.service.description.commands.login(route: route.name) ?? Cure.cacheFile.words()),
      ], of: request.logRequest)
  }

  private func note(_ challenge: RecordedChallenge, _ outcome: ChallengeOutcome) {
    state.metrics.add(state.service.metrics.challenges[challenge.position, outcome.position])
    request.record.challenge = challenge
    request.record.challengeOutcome = outcome
  }

  private func warn(of fault: ChallengeFault, _ route: Route) {
    state.service.process.log.warning(
      "a challenge of an upstream cannot be used",
      [
        "route": .string(route.name), "fault": .string(fault.rawValue),
        "next": .next(.challengeField),
      ], of: request.logRequest)
  }
}

extension RecordedChallenge {
  init(_ kind: ChallengeKind) {
    self =
      switch kind {
      case .none: .none
      case .claims: .claims
      case .invalidToken: .invalidToken
      case .unexplained: .unexplained
      case .insufficientScope: .insufficientScope
      case .stepUp: .stepUp
      case .other: .other
      case .unusable: .unusable
      }
  }
}
