package import Tokens

/// A route's rules for tokens beyond adding one: challenges, repetition, callers' own tokens, and the case without a
/// token.
package struct RouteTokenRules: Sendable, Hashable {
  /// The treatment of an `Authorization` that the caller sent.
  package enum CallerAuthorization: String, Sendable, Hashable, CaseIterable {
    case replace
    case keep
    case reject
  }

  /// The reaction while the provider gives no token for a reason that no person can remove.
  package enum WhenUnavailable: String, Sendable, Hashable, CaseIterable {
    /// The request is answered with the problem.
    case fail
    case forwardWithout = "forward_without"
  }

  /// The way to tell a browser's navigation that a person is needed.
  package enum OnInteractionRequired: String, Sendable, Hashable, CaseIterable {
    /// By a page with status 401.
    case challenge
    /// By a redirect to the sign-in page, if there is one.
    case redirect
  }

  /// Scopes that a challenge may add to the route's.
  package var scopesOnChallenge: ScopeSet
  /// True if they are also added for a challenge that names none, as far as the API's metadata list them.
  package var discoversScopes: Bool
  /// Bytes of a request up to which it can be repeated with another token.
  package var replayLimit: UInt64
  package var existing: CallerAuthorization
  package var whenUnavailable: WhenUnavailable
  package var onInteractionRequired: OnInteractionRequired
  /// True if its tokens are handed out to engines, at listeners that do so.
  package var isHandedOut: Bool

  /// Rules; the defaults are those of the file.
  package init(
    scopesOnChallenge: ScopeSet = .none, discoversScopes: Bool = false, replayLimit: UInt64 = 64 << 10,
    existing: CallerAuthorization = .replace,
    whenUnavailable: WhenUnavailable = .fail, onInteractionRequired: OnInteractionRequired = .challenge,
    isHandedOut: Bool = false
  ) {
    self.scopesOnChallenge = scopesOnChallenge
    self.discoversScopes = discoversScopes
    self.replayLimit = replayLimit
    self.existing = existing
    self.whenUnavailable = whenUnavailable
    self.onInteractionRequired = onInteractionRequired
    self.isHandedOut = isHandedOut
  }
}
