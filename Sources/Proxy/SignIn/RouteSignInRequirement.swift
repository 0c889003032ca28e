// Owns what a sign-in for a route is asked to bring, all told: what the configuration says, and what is remembered of
// refusals.

internal import Bytes
internal import Tokens

/// What a sign-in has to bring for a route.
struct RouteSignInRequirement: Sendable, Hashable {
  /// What the token is for: the route's scopes, and those that were asked for since.
  var scopes: ScopeSet
  /// What else, as it was asked for.
  var need: SignInRequirement

  /// A route's scopes, and what is remembered of it; nil: nothing.
  init(_ need: SignInRequirement?, configured: ScopeSet, now: UnixTime) {
    self.need = need ?? SignInRequirement(since: now)
    // `.default` takes no company, and brings all there is.
    let takesCompany = !configured.words.contains { $0.hasSuffix("/.default") }
    scopes = takesCompany ? configured.union(self.need.scopes) : configured
  }

  /// The need that this sign-in meets.
  var met: SignInRequirement {
    var met = need
    met.scopes = scopes.union(need.scopes)
    return met
  }
}
