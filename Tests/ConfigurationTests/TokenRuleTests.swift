// What a route's token section says of challenges, of callers' own tokens, and of having none.

import Routing
import Testing
import Tokens

@testable import Configuration

@Suite struct TokenRuleTests {
  private static func text(_ token: String) -> String {
    """
    listeners: [{address: 127.0.0.1:8080}]
    applications: {generic: {authority: https://id.example, client_id: c, client_secret: s}}
    routes:

    """
      + "  - {name: r, path: /r/, upstream: 'https://api.example', application: generic, token: \(token)}\n"
  }

  @Test func `what is left out has a default, and what is said is taken`() throws {
    let defaults = try decoded(Self.text("{scopes: [a]}")).routes[0].tokenRules
    #expect(defaults == RouteTokenRules())
    #expect(defaults.replayLimit == 65_536)
    let rules = try decoded(
      Self.text(
        "{scopes: [a], scopes_on_challenge: [b, c], replay_limit: 1MiB, existing: keep, "
          + "when_unavailable: forward_without, on_interaction_required: redirect}")
    ).routes[0].tokenRules
    #expect(
      rules
        == RouteTokenRules(
          scopesOnChallenge: try ScopeSet(["b", "c"]), replayLimit: 1 << 20, existing: .keep,
          whenUnavailable: .forwardWithout, onInteractionRequired: .redirect))
    #expect(try decoded(Self.text("{scopes: [a], replay_limit: 0B}")).routes[0].tokenRules.replayLimit == 0)
    #expect(
      try decoded(Self.text("none").replacing(", application: generic", with: "")).routes[0].tokenRules == defaults)
  }

  @Test(
    arguments: [
      (
        "existing: keepp", "routes[0].token.existing is one of replace, keep, reject, not 'keepp'; did you mean 'keep'?"
      ),
      ("replay_limit: 17MiB", "routes[0].token.replay_limit is from 0B to 16MiB, not '17MiB'"),
      (
        "scopes_on_challenge: [a b]",
        "routes[0].token.scopes_on_challenge[0]: 'a b' is not one scope (no blanks, quotes, backslashes): write [a, b]"
      ),
      (
        "scopes_on_challenge: [openid]",
        "routes[0].token.scopes_on_challenge[0]: 'openid' is asked for with every sign-in and is no API's scope"
      ),
      (
        "as: application, on_interaction_required: redirect",
        "routes[0].token.on_interaction_required has no meaning with as: application: nobody signs in for it"
      ),
    ])
  func `mistakes are named`(rule: String, expected: String) {
    #expect(messages(Self.text("{scopes: [a], \(rule)}")) == [expected])
  }
}
