// What the keys of a route's `token` mean that speak of challenges, of callers' own tokens and of having none.

import Routing
import Tokens

extension SettingsDecoder {
  /// A route's `token`, where it is more than a word.
  mutating func tokenSection(_ route: Section) -> Section? {
    if case .scalar = route[.token]?.content { return nil }
    return section(route, .token)
  }

  /// What the section says of these.
  mutating func tokenRules(_ section: Section, _ token: RouteToken?) -> RouteTokenRules {
    let defaults = RouteTokenRules()
    let rules = RouteTokenRules(
      scopesOnChallenge: scopesOnChallenge(section),
      replayLimit: size(section, .replayLimit, in: 0...(16 << 20)).map { UInt64($0) } ?? defaults.replayLimit,
      existing: choice(section, .existing, of: RouteTokenRules.CallerAuthorization.self) ?? defaults.existing,
      whenUnavailable: choice(section, .whenUnavailable, of: RouteTokenRules.WhenUnavailable.self)
        ?? defaults.whenUnavailable,
      onInteractionRequired: choice(
        section, .onInteractionRequired, of: RouteTokenRules.OnInteractionRequired.self)
        ?? defaults.onInteractionRequired)
    if let node = section[.onInteractionRequired] {
      switch token {
      case .application, .caller:
        let subject = token?.isCallers == true ? "caller" : "application"
        report(
          node.place,
          "\(section.path(.onInteractionRequired)) has no meaning with as: \(subject): nobody signs in for it")
      case .account, nil, .some(.none): break
      }
    }
    return rules
  }

  private mutating func scopesOnChallenge(_ section: Section) -> ScopeSet {
    var words: [String] = []
    for scalar in list(section, .scopesOnChallenge) ?? [] {
      do throws(ScopeSetError) {
        words += try ScopeSet([scalar.text]).words
      } catch {
        report(
          scalar.place,
          "\(scalar.key): '\(scalar.written)' is not one scope (no blanks, quotes, backslashes): write [a, b]")
      }
      if let reserved = words.last, ScopeSet.reserved.contains(reserved) {
        report(scalar.place, "\(scalar.key): '\(scalar.written)' is asked for with every sign-in and is no API's scope")
        words.removeLast()
      }
    }
    do throws(ScopeSetError) {
      return try ScopeSet(words)
    } catch {
      preconditionFailure("each word was a scope of its own")
    }
  }
}
