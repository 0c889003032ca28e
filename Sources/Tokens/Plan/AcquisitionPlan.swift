package import Bytes

/// The step for a caller that needs a token.
package enum AcquisitionPlan: Sendable, Equatable {
  /// Hand out the held token.
  case useCached
  /// Hand out the held token and renew it in the background.
  case useCachedAndRefreshBehind
  /// Ask the provider; the caller waits.
  case request
  /// Answer with the remembered failure; nothing is sent before the instant.
  case fail(until: UnixTime)
  /// Answer that a person has to sign in; nothing is sent.
  case interactionRequired(InteractionReason)
  /// Answer that the cache cannot be read; nothing is sent. No person is asked to sign in, since one may be signed in.
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

extension HeldRefreshToken {
  /// The scope sets to request with this token, in order; at least one. An empty set names no scope: the whole grant.
  ///
  /// Microsoft's refresh tokens serve every scope that was consented to, so the request is that of every MSAL. Every
  /// other provider may refuse a scope outside the grant, even a reserved one.
  package func scopesToRequest(_ wanted: ScopeSet, at authority: Authority) -> [ScopeSet] {
    guard authority.isStrictAboutScopes else { return [wanted.decorated] }
    if wanted.isEmpty { return [.none] }
    guard let granted else {
      // Written by a library that does not store the grant. Each of them requests the reserved scopes too.
      return [wanted.decorated, wanted]
    }
    return [wanted.union(granted.reserved)]
  }

  /// The tokens in the order to try them: those whose grant covers the scopes, is not known, the rest.
  package static func ordered(_ tokens: [HeldRefreshToken], for wanted: ScopeSet) -> [HeldRefreshToken] {
    let covering = tokens.filter { $0.covers(wanted) == true }
    let unknown = tokens.filter { $0.covers(wanted) == nil }
    return covering + unknown + tokens.filter { $0.covers(wanted) == false }
  }

  private func covers(_ wanted: ScopeSet) -> Bool? { granted.map { wanted.isCovered(by: $0) } }
}

extension Authority {
  /// True if a refresh token may be refused for a scope outside its sign-in (RFC 6749 §6).
  package var isStrictAboutScopes: Bool { kind == .issuer }
}
