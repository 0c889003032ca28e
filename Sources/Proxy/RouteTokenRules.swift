// Owns what a route does about tokens beyond adding one: what challenges may ask for, what is sent again, and what happens where
// there is no token.

public import Tokens

/// What is done with an `Authorization` that the caller sent.
public enum CallerAuthorization: Sendable, Hashable {
  /// It is dropped, and the route's token sent.
  case replaced
  /// It is sent, and no token added.
  case kept
  /// The request is refused.
  case refused
}

/// A route's rules about its token.
public struct RouteTokenRules: Sendable, Hashable {
  /// Scopes that a challenge of the upstream may add to the route's.
  public var scopesOnChallenge: ScopeSet
  /// Bytes of a request's content up to which it can be sent again; 0: only requests without content are.
  public var replayLimit: UInt64
  /// What is done with the caller's own `Authorization`.
  public var existing: CallerAuthorization
  /// Whether requests go out without a token while the provider gives none for reasons of its own.
  public var forwardsWithout: Bool
  /// Whether a browser's navigation is sent to the sign-in page, where there is one, instead of being told about it.
  public var redirectsToSignIn: Bool

  /// Rules; the defaults are the configuration's.
  public init(
    scopesOnChallenge: ScopeSet = .none, replayLimit: UInt64 = 64 * 1024, existing: CallerAuthorization = .replaced,
    forwardsWithout: Bool = false, redirectsToSignIn: Bool = false
  ) {
    self.scopesOnChallenge = scopesOnChallenge
    self.replayLimit = replayLimit
    self.existing = existing
    self.forwardsWithout = forwardsWithout
    self.redirectsToSignIn = redirectsToSignIn
  }
}
