// Owns the settings of a route about its token, beyond whose it is and what for.

public import Tokens

/// What a route does about challenges, about callers' own tokens, and where there is none to be had.
public struct TokenRuleSettings: Sendable, Hashable {
  /// What happens to an `Authorization` that the caller sent.
  public enum Existing: String, Sendable, Hashable, CaseIterable {
    /// The route's token takes its place.
    case replace
    /// It is sent instead of the route's token.
    case keep
    /// The request is refused.
    case reject
  }

  /// What happens while the provider gives no token, and that is nothing a person could mend.
  public enum WhenUnavailable: String, Sendable, Hashable, CaseIterable {
    /// The request is answered with the problem.
    case fail
    /// It is forwarded without a token.
    case forwardWithout = "forward_without"
  }

  /// How a browser's navigation learns that a person is needed.
  public enum OnInteractionRequired: String, Sendable, Hashable, CaseIterable {
    /// By a page with status 401.
    case challenge
    /// By a redirect to the sign-in page, where there is one.
    case redirect
  }

  /// Scopes that a challenge may add to the route's.
  public let scopesOnChallenge: ScopeSet
  /// Bytes of a request up to which it can be sent once more, with another token.
  public let replayLimit: Int
  /// What happens to an `Authorization` that the caller sent.
  public let existing: Existing
  /// What happens while there is no token.
  public let whenUnavailable: WhenUnavailable
  /// How a browser learns that a person is needed.
  public let onInteractionRequired: OnInteractionRequired

  /// Rules; the defaults are those of the file.
  public init(
    scopesOnChallenge: ScopeSet = .none, replayLimit: Int = 64 << 10, existing: Existing = .replace,
    whenUnavailable: WhenUnavailable = .fail, onInteractionRequired: OnInteractionRequired = .challenge
  ) {
    self.scopesOnChallenge = scopesOnChallenge
    self.replayLimit = replayLimit
    self.existing = existing
    self.whenUnavailable = whenUnavailable
    self.onInteractionRequired = onInteractionRequired
  }
}
