// The decision of silent acquisition, from what is held, what a token can be requested with, what failed before, and
// the time.

package import Bytes

/// What to do for a caller who wants a token.
package enum AcquisitionPlan: Sendable, Equatable {
  /// Hand out the held token.
  case useCached
  /// Hand out the held token and renew it in the background.
  case useCachedAndRefreshBehind
  /// Ask the provider; the caller waits.
  case request
  /// Answer with the remembered failure; nothing is sent before the instant.
  case fail(until: UnixTime)
  /// Say that a person has to sign in; nothing is sent.
  case interactionRequired(InteractionReason)
  /// Say that the cache cannot be read; nothing is sent. No person is asked to sign in, since one may be signed in.
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
  ///   - grant: what a new one can be requested with.
  ///   - throttle: what failed with the same grant.
  package init(held: TokenLifetime?, grant: AvailableGrant, throttle: Throttle, now: UnixTime) {
    let freshness = held?.freshness(at: now) ?? .expired
    if case .unknown = grant {
      self = freshness == .expired ? .cacheUnavailable : .useCached
      return
    }
    switch (freshness, grant.reason, throttle.pause(at: now)) {
    case (_, let reason?, _) where reason.isWithoutAccount: self = .interactionRequired(reason)
    case (.fresh, _, _), (.aging, .some, _), (.aging, nil, .some): self = .useCached
    case (.aging, nil, nil): self = .useCachedAndRefreshBehind
    case (.expired, let reason?, _): self = .interactionRequired(reason)
    case (.expired, nil, nil): self = .request
    case (.expired, nil, .some(let until)): self = .fail(until: until)
    }
  }
}
