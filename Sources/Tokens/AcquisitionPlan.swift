// Owns the decision of silent acquisition: what is held, what failed before and what time it is, in; what to do, out.

/// What to do for a caller who wants a token.
public enum AcquisitionPlan: Sendable, Equatable {
  /// Hand out the held token.
  case useCached
  /// Hand out the held token and renew it for whoever comes later.
  case useCachedAndRefreshBehind(TokenGrant)
  /// Ask the provider; the caller waits.
  case request(TokenGrant)
  /// Answer with the remembered failure; nothing is sent before the instant.
  case fail(until: UnixTime)

  /// Decides.
  /// - Parameters:
  ///   - held: the instants of the token held for exactly this key, if there is one.
  ///   - grant: what can be offered for a new one.
  public init(held: TokenLifetime?, grant: TokenGrant, throttle: Throttle, now: UnixTime) {
    let pause = throttle.pause(at: now)
    switch (held?.freshness(at: now) ?? .expired, pause) {
    case (.fresh, _), (.aging, .some): self = .useCached
    case (.aging, nil): self = .useCachedAndRefreshBehind(grant)
    case (.expired, nil): self = .request(grant)
    case (.expired, .some(let until)): self = .fail(until: until)
    }
  }
}
