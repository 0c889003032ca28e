// Owns the decision of silent acquisition: what is held, what can be offered, what failed before and what time it is,
// in; what to do, out.

public import Bytes

/// What to do for a caller who wants a token.
public enum AcquisitionPlan: Sendable, Equatable {
  /// Hand out the held token.
  case useCached
  /// Hand out the held token and renew it for whoever comes later.
  case useCachedAndRefreshBehind
  /// Ask the provider; the caller waits.
  case request
  /// Answer with the remembered failure; nothing is sent before the instant.
  case fail(until: UnixTime)
  /// Say that a person has to sign in; nothing is sent.
  case interactionRequired(InteractionReason)
  /// Say that the cache cannot be read; nothing is sent, and nobody is asked to sign in who may have.
  case cacheUnavailable

  /// Decides.
  ///
  /// | held | offered | pause | plan |
  /// |---|---|---|---|
  /// | any | no such account, or several | any | interaction required: whose token is held is not known |
  /// | fresh | any | any | use |
  /// | aging | something | none | use, refresh behind |
  /// | aging | something | on | use |
  /// | aging | nothing | any | use: to its last second |
  /// | expired or none | something | none | request |
  /// | expired or none | something | on | fail as before |
  /// | expired or none | nothing | any | interaction required |
  /// | expired or none | not known | any | cache unavailable |
  /// | any other | not known | any | use |
  /// - Parameters:
  ///   - held: the instants of the token held for exactly this key, if there is one.
  ///   - means: what can be offered for a new one.
  ///   - throttle: what failed with the same offer.
  public init(held: TokenLifetime?, means: AcquisitionMeans, throttle: Throttle, now: UnixTime) {
    let freshness = held?.freshness(at: now) ?? .expired
    if case .unknown = means {
      self = freshness == .expired ? .cacheUnavailable : .useCached
      return
    }
    switch (freshness, means.reason, throttle.pause(at: now)) {
    case (_, let reason?, _) where reason.isWithoutAccount: self = .interactionRequired(reason)
    case (.fresh, _, _), (.aging, .some, _), (.aging, nil, .some): self = .useCached
    case (.aging, nil, nil): self = .useCachedAndRefreshBehind
    case (.expired, let reason?, _): self = .interactionRequired(reason)
    case (.expired, nil, nil): self = .request
    case (.expired, nil, .some(let until)): self = .fail(until: until)
    }
  }
}
