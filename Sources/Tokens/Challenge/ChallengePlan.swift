/// A refusal of an API.
package struct RefusedRequest: Sendable {
  package var status: Int
  package var challenge: BearerChallengeReading
  /// The scopes that the refused token was granted.
  package var granted: ScopeSet
  /// Seconds since the refused token was obtained, by this process or by the one that stored it in the cache.
  package var tokenAge: Int64
  /// The scopes that the route lets a challenge add.
  package var allowedScopes: ScopeSet
  /// True if the request can be sent again: its content, as far as it arrived, is still there.
  package var isReplayable: Bool
  /// True if it has been sent again already.
  package var isReplay: Bool

  package init(
    status: Int, challenge: BearerChallengeReading, granted: ScopeSet, tokenAge: Int64, allowedScopes: ScopeSet,
    isReplayable: Bool, isReplay: Bool
  ) {
    self.status = status
    self.challenge = challenge
    self.granted = granted
    self.tokenAge = tokenAge
    self.allowedScopes = allowedScopes
    self.isReplayable = isReplayable
    self.isReplay = isReplay
  }
}

/// The reason why an API rejected a token, and so the request for the next one.
package enum TokenRejection: Sendable, Hashable {
  /// It is no longer valid: expired, revoked, or for an unknown reason.
  case invalidToken
  /// It does not prove these.
  case claims(Claims)
  /// It lacks these scopes.
  case scopes(ScopeSet)
}

/// The kind of a refusal, as a label.
package enum ChallengeKind: String, Sendable, Hashable, CaseIterable {
  /// No challenge that concerns the token.
  case none
  case claims
  case invalidToken = "invalid_token"
  /// A 401 without a reason.
  case unexplained
  case insufficientScope = "insufficient_scope"
  /// `insufficient_user_authentication`.
  case stepUp = "step_up"
  /// Another error.
  case other
  /// A challenge that cannot be used.
  case unusable
}

/// The reaction to a refusal.
package enum ChallengePlan: Sendable, Hashable {
  case passOn(Reason)
  /// Get another token silently; if that works, send the request once more, otherwise pass the answer on.
  case answer(TokenRejection)
  /// Pass the answer on, because the request is gone, and get another token for the next request.
  case answerBehind(TokenRejection)

  /// The reason why an answer is passed on.
  package enum Reason: String, Sendable, Hashable, CaseIterable {
    /// It asks for nothing that another token would have.
    case nothingAsked = "nothing_asked"
    /// It is the answer to a request that was sent for the second time.
    case isReplay = "is_replay"
    case unusable
    /// The route may not request the scopes.
    case scopesNotAllowed = "scopes_not_allowed"
    case scopesHeld = "scopes_held"
    case personNeeded = "person_needed"
    /// The answer does not blame the token, and the token is new.
    case tokenIsNew = "token_is_new"
  }

  /// Seconds after which an old token is the likely reason for a 401 that names none.
  package static let youth: Int64 = 60

  /// Decides.
  ///
  /// | status and challenge | the token | plan |
  /// |---|---|---|
  /// | 401, claims | any | another with these claims |
  /// | 401, `invalid_token` | any | another |
  /// | 401, no `error` | older than a minute | another |
  /// | 401, no `error` | new | pass on |
  /// | 401 or 403, `insufficient_scope`, scopes allowed | lacks some | another with these scopes too |
  /// | 401 or 403, `insufficient_scope`, not all allowed, or none named | any | pass on |
  /// | 401, `insufficient_user_authentication` | any | pass on |
  /// | unusable, another error, another status | any | pass on |
  ///
  /// The answer to a request that was sent for the second time is passed on in every case.
  package init(_ refused: RefusedRequest) {
    let wish: ChallengePlan
    switch refused.kind {
    case .none, .other: wish = .passOn(.nothingAsked)
    case .unusable: wish = .passOn(.unusable)
    case .stepUp: wish = .passOn(.personNeeded)
    case .claims: wish = refused.bearer?.claims.map { .answer(.claims($0)) } ?? .passOn(.unusable)
    case .invalidToken: wish = .answer(.invalidToken)
    case .unexplained: wish = refused.tokenAge > Self.youth ? .answer(.invalidToken) : .passOn(.tokenIsNew)
    case .insufficientScope:
      let wanted = refused.bearer?.scopes ?? .none
      if wanted.isEmpty || !wanted.isCovered(by: refused.allowedScopes.union(refused.granted)) {
        wish = .passOn(.scopesNotAllowed)
      } else {
        wish = wanted.isCovered(by: refused.granted) ? .passOn(.scopesHeld) : .answer(.scopes(wanted))
      }
    }
    switch wish {
    case .answer where refused.isReplay: self = .passOn(.isReplay)
    case .answer(let rejection) where !refused.isReplayable: self = .answerBehind(rejection)
    default: self = wish
    }
  }
}

extension RefusedRequest {
  /// True if more scopes are demanded and none is named, so that the API's metadata may tell.
  package var lacksNames: Bool { kind == .insufficientScope && bearer?.scopes.isEmpty == true }

  /// Takes the scopes of the API's metadata for those of the challenge, as far as the route lets one add them.
  package mutating func take(discovered: ScopeSet) {
    guard lacksNames, var bearer else { return }
    bearer.scopes = discovered.intersection(allowedScopes.union(granted))
    challenge = .usable(bearer)
  }

  package var bearer: BearerChallenge? {
    if case .usable(let challenge) = challenge { challenge } else { nil }
  }

  /// The sort of refusal.
  package var kind: ChallengeKind {
    switch (status, challenge) {
    case (401, .absent): return .unexplained
    case (401, .unusable), (403, .unusable): return .unusable
    case (401, .usable(let bearer)):
      if bearer.claims != nil { return .claims }
      switch bearer.error {
      case .invalidToken: return .invalidToken
      case .insufficientScope: return .insufficientScope
      case .insufficientUserAuthentication: return .stepUp
      case .insufficientClaims, .other: return .other
      case nil: return .unexplained
      }
    case (403, .usable(let bearer)): return bearer.error == .insufficientScope ? .insufficientScope : .none
    default: return .none
    }
  }
}
