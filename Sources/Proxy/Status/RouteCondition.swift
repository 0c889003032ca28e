// Owns the rule how a route stands: which of the things that can be wrong with it is told first.

internal import Identity
internal import Tokens

/// What can be said of a route, in the order in which it matters to whoever looks.
enum RouteCondition: Hashable {
  /// A person has to sign in. Held tokens may still serve.
  case signInNeeded(InteractionReason)
  /// Somebody is signed in, but an API or the provider has asked for more than that sign-in proved.
  case moreProofNeeded(SignInNeed)
  /// The cache cannot be read, so who is signed in is not known.
  case cacheUnavailable(since: UnixTime)
  /// The provider does not answer, or with a server error.
  case providerDown(since: UnixTime)
  /// The provider refuses the application, or what stands at its address is no provider.
  case providerRefuses(since: UnixTime)
  /// The upstream cannot be reached, or breaks off.
  case upstreamFailing(since: UnixTime)
  /// A token is being obtained; whether the one before still serves is in the status.
  case refreshing
  /// Requests go through.
  case ready

  /// - Parameters:
  ///   - token: how the route's token stands; nil for a route without one.
  ///   - need: what is remembered that a sign-in has to bring.
  ///   - upstream: what is wrong with the upstream.
  init(token: TokenStatus?, need: SignInNeed?, upstream: UpstreamCondition.Failure?, now: UnixTime) {
    if case .interactionRequired(let required)? = token?.failure?.error {
      self = .signInNeeded(required.reason)
    } else if let need, token != nil {
      self = .moreProofNeeded(need)
    } else if let failure = token?.failure {
      switch failure.error {
      case .cacheUnavailable: self = .cacheUnavailable(since: failure.since)
      case .providerUnavailable: self = .providerDown(since: failure.since)
      case .rejected, .unusableMetadata, .interactionRequired: self = .providerRefuses(since: failure.since)
      }
    } else if let upstream {
      self = .upstreamFailing(since: UnixTime(upstream.since))
    } else if let token, token.isRefreshing || (token.subject == .application && !token.isReady(at: now)) {
      self = .refreshing
    } else {
      self = .ready
    }
  }

  /// Every word.
  static let words = [
    "ready", "refreshing", "sign_in_needed", "cache_unavailable", "provider_down", "provider_refuses",
    "upstream_failing",
  ]

  /// The word for programs.
  var word: String {
    switch self {
    case .signInNeeded, .moreProofNeeded: "sign_in_needed"
    case .cacheUnavailable: "cache_unavailable"
    case .providerDown: "provider_down"
    case .providerRefuses: "provider_refuses"
    case .upstreamFailing: "upstream_failing"
    case .refreshing: "refreshing"
    case .ready: "ready"
    }
  }
}
