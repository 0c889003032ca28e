// What a route does about tokens beyond adding one: what challenges may ask for, what is sent again, and what happens
// where there is no token.

package import Tokens

/// What a route does about challenges, about callers' own tokens, and where there is none to be had.
package struct RouteTokenRules: Sendable, Hashable {
  /// What happens to an `Authorization` that the caller sent.
  package enum CallerAuthorization: String, Sendable, Hashable, CaseIterable {
    /// The route's token takes its place.
    case replace
    /// It is sent instead of the route's token.
    case keep
    /// The request is refused.
    case reject
  }

  /// What happens while the provider gives no token, and that is nothing a person could mend.
  package enum WhenUnavailable: String, Sendable, Hashable, CaseIterable {
    /// The request is answered with the problem.
    case fail
    /// It is forwarded without a token.
    case forwardWithout = "forward_without"
  }

  /// How a browser's navigation learns that a person is needed.
  package enum OnInteractionRequired: String, Sendable, Hashable, CaseIterable {
    /// By a page with status 401.
    case challenge
    /// By a redirect to the sign-in page, where there is one.
    case redirect
  }

  /// Scopes that a challenge may add to the route's.
  package var scopesOnChallenge: ScopeSet
  /// Bytes of a request up to which it can be sent once more, with another token.
  package var replayLimit: UInt64
  /// What happens to an `Authorization` that the caller sent.
  package var existing: CallerAuthorization
  /// What happens while there is no token.
  package var whenUnavailable: WhenUnavailable
  /// How a browser learns that a person is needed.
  package var onInteractionRequired: OnInteractionRequired

  /// Rules; the defaults are those of the file.
  package init(
    scopesOnChallenge: ScopeSet = .none, replayLimit: UInt64 = 64 << 10, existing: CallerAuthorization = .replace,
    whenUnavailable: WhenUnavailable = .fail, onInteractionRequired: OnInteractionRequired = .challenge
  ) {
    self.scopesOnChallenge = scopesOnChallenge
    self.replayLimit = replayLimit
    self.existing = existing
    self.whenUnavailable = whenUnavailable
    self.onInteractionRequired = onInteractionRequired
  }
}
