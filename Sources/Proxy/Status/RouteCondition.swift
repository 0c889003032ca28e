internal import Bytes
internal import Identity
internal import Tokens

/// The condition of a route: of its faults, the most important one. The cases are in that order.
enum RouteCondition: Hashable {
  /// A person has to sign in. Held tokens may still serve.
  case signInNeeded(InteractionReason)
  /// An account is signed in, but an API or the provider requires more than that sign-in proved.
  case moreProofNeeded(SignInRequirement)
  /// The cache cannot be read, so it is not known who is signed in.
  case cacheUnavailable(since: UnixTime)
  /// The provider does not answer, or with a server error.
  case providerDown(since: UnixTime)
  /// The provider refuses the application, or the server at its address is no provider.
  case providerRefuses(since: UnixTime)
  /// The upstream cannot be reached, or breaks off.
  case upstreamFailing(since: UnixTime)
  /// A token is being obtained; the status shows if the one before still serves.
  case refreshing
  case ready

  /// - Parameters:
  ///   - token: the status of the route's token; nil for a route without one.
  ///   - need: the remembered requirement for a sign-in.
  ///   - upstream: the upstream's failure.
  init(token: TokenStatus?, need: SignInRequirement?, upstream: UpstreamCondition.Failure?, now: UnixTime) {
    if let required = token?.failure?.error.interactionRequired {
      self = .signInNeeded(required.reason)
    } else if let need, token != nil {
      self = .moreProofNeeded(need)
    } else if let failure = token?.failure {
      switch failure.error.kind {
      case .cacheUnavailable: self = .cacheUnavailable(since: failure.since)
      case .providerUnavailable: self = .providerDown(since: failure.since)
      case .rejected, .unusableMetadata, .interactionRequired, .assertionRefused:
        self = .providerRefuses(since: failure.since)
      }
    } else if let upstream {
      self = .upstreamFailing(since: UnixTime(upstream.since))
    } else if let token, token.isRefreshing || (token.subject.isUnattended && token.expiresAt == nil) {
      self = .refreshing
    } else {
      self = .ready
    }
  }

  /// The same for programs.
  var state: RouteState {
    switch self {
    case .signInNeeded, .moreProofNeeded: .signInNeeded
    case .cacheUnavailable: .cacheUnavailable
    case .providerDown: .providerDown
    case .providerRefuses: .providerRefuses
    case .upstreamFailing: .upstreamFailing
    case .refreshing: .refreshing
    case .ready: .ready
    }
  }
}
