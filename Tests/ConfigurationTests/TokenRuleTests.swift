// A route's token section: challenges, callers' own tokens, routes without one.

import Routing
import Testing
import Tokens

@testable import Configuration

@Suite struct TokenRuleTests {
  private static func text(_ token: String) -> String {
    """
    listeners: [{address: 127.0.0.1:8080}]
    applications: {generic: {authority: https://id.example, client_id: c, client_secret: s3cret}}
    routes:

    """
      + "  - {name: r, path: /r/, upstream: 'https://api.example', application: generic, token: \(token)}\n"
  }

  @Test func `absent settings have defaults, and present ones are used`() throws {
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

  private static func handingOut(
    _ listener: String, _ route: String, token: String = "{as: application, scopes: [a]}"
  ) -> String {
    text("\(token), hand_out: \(route)").replacing("127.0.0.1:8080}", with: "127.0.0.1:8080, hand_out: \(listener)}")
  }

  @Test func `tokens are handed out if listener and route say so, and callers names the program`() throws {
    #expect(try !decoded(Self.text("{scopes: [a]}")).routes[0].tokenRules.isHandedOut)
    #expect(try decoded(Self.text("{scopes: [a]}")).listeners[0].handOut == .none)
    let secret = "proxies, callers: {header: {name: X-Key, value: 0123456789abcdef}}"
    let settings = try decoded(Self.handingOut(secret, "proxies"))
    #expect(settings.listeners[0].handOut == .proxies)
    #expect(settings.routes[0].tokenRules.isHandedOut)
    #expect(settings.warnings.isEmpty)
    let tunnelled = Self.handingOut(secret, "proxies").replacing("{name: r,", with: "{name: r, proxy: http://p:3128,")
    #expect(
      try decoded(tunnelled).warnings.map(\.message) == [
        "routes[0].upstream: route 'r' has hand_out: proxies and an outbound proxy, which the proxy in front does not "
          + "use"
      ])
    // One without the other hands out nothing, which is hardly meant.
    #expect(
      try decoded(Self.handingOut("none", "proxies")).warnings.map(\.message)
        == ["route 'r' has hand_out: proxies, and no listener has: no proxy gets its token"])
    #expect(
      try decoded(Self.handingOut(secret, "none")).warnings.map(\.message)
        == ["listeners[0].address: the listener has hand_out: proxies, and no route has: it hands out none"])
  }

  @Test(
    arguments: [
      ("proxies", "proxies", "{scopes: [a]}", "listeners[0].hand_out: every caller would get tokens; "),
      (
        "proxies, callers: {bearer: {authority: 'https://id.example', audiences: [a]}}", "proxies", "{scopes: [a]}",
        "listeners[0].hand_out: every caller would get tokens; "
      ),
      ("none", "nginx", "{scopes: [a]}", "routes[0].hand_out is one of none, proxies, not 'nginx'"),
      (
        "none", "proxies", "{scopes: [a], when_unavailable: forward_without}",
        "routes[0].hand_out: without a token there is nothing to hand out; "
      ),
    ])
  func `mistakes about handing out are named`(listener: String, route: String, token: String, expected: String) {
    let found = messages(Self.handingOut(listener, route, token: token))
    #expect(found.count == 1)
    #expect(found.first?.hasPrefix(expected) == true, "\(found)")
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
        "routes[0].token.on_interaction_required has a meaning with as: account only"
      ),
    ])
  func `mistakes are named`(rule: String, expected: String) {
    #expect(messages(Self.text("{scopes: [a], \(rule)}")) == [expected])
  }
}

@Suite struct `Agents' tokens` {
  private static let agent = "0a1b2c3d-0000-4000-8000-00000000000a"
  private static let other = "0a1b2c3d-0000-4000-8000-00000000000b"

  private func route(_ token: String, tenant: String = "contoso.example") throws -> RouteSettings {
    try decoded(
      """
      listeners:
        - address: 127.0.0.1:8080
          callers: {bearer: {authority: "https://id.example", audiences: [proxy]}}
      applications:
        own: {authority: "https://login.microsoftonline.com/\(tenant)", client_id: c, client_secret: s3cret}
      routes:
        - {name: a, path: /, upstream: https://a.example, application: own, token: \(token)}

      """
    ).routes[0]
  }

  @Test func `an agent asks for itself, for its user, or on behalf of a caller`() throws {
    let scopes = try ScopeSet(["api://x/.default"])
    #expect(
      try route("{as: agent, agent: \(Self.agent.uppercased()), scopes: [api://x/.default]}").token.issued
        == IssuedToken(application: "own", subject: .agent(Self.agent, user: nil), scopes: scopes))
    #expect(
      try route("{as: agent, agent: \(Self.agent), account: a@b.example, scopes: [api://x/.default]}").token.issued
        == IssuedToken(application: "own", subject: .agent(Self.agent, user: "a@b.example"), scopes: scopes))
    let caller = try route("{as: caller, agent: \(Self.agent), scopes: [api://x/.default]}").token.issued
    #expect(
      caller == IssuedToken(application: "own", subject: .caller(.onBehalfOf(agent: Self.agent)), scopes: scopes))
    #expect(caller?.agent == Self.agent && caller?.isCallers == true)
  }

  @Test func `callers may pick agents, and another agent's user is not this one's`() throws {
    let settings = try route(
      """
      {as: agent, agent: \(Self.agent), account: a@b.example, scopes: [api://x/.default], choice: {field: X-A, values: {
        b: {agent: \(Self.other)}, c: {agent: \(Self.other), account: c@b.example}, d: {account: d@b.example},
        e: {tenant: fabrikam.example}}}}
      """)
    let tokens = try #require(settings.tokenChoice?.tokens)
    let scopes = try ScopeSet(["api://x/.default"])
    func token(_ agent: String, _ user: String?) -> IssuedToken {
      IssuedToken(application: "own", subject: .agent(agent, user: user), scopes: scopes)
    }
    #expect(tokens["b"] == token(Self.other, nil))
    #expect(tokens["c"] == token(Self.other, "c@b.example"))
    #expect(tokens["d"] == token(Self.agent, "d@b.example"))
    let usual = try #require(settings.token.issued)
    let fabrikam = try Authority("https://login.microsoftonline.com/fabrikam.example")
    #expect(
      tokens["e"]
        == IssuedToken(application: "own", subject: usual.subject, scopes: usual.scopes, authority: fabrikam))
  }
}

@Suite struct `Callers' tokens` {
  private func routes(_ token: String, authority: String = "https://id.example") throws -> [RouteToken] {
    try decoded(
      """
      listeners:
        - address: 127.0.0.1:8080
          callers: {bearer: {authority: "https://id.example", audiences: [proxy]}}
        - {address: 127.0.0.1:8081, hosts: [other.example]}
      applications:
        own: {authority: "\(authority)", client_id: c, client_secret: s3cret}
        server: {authority: "https://as.example", client_id: d, client_secret: s3cret}
      routes:
        - {name: a, path: /, host: proxy.example, upstream: https://a.example, application: own, token: \(token)}

      """
    ).routes.map(\.token)
  }

  private func token(_ grant: CallerGrantSettings, scopes: String = "a b") throws -> RouteToken {
    .issued(IssuedToken(application: "own", subject: .caller(grant), scopes: try ScopeSet(parameter: scopes)))
  }

  @Test func `the grant is the provider's own, unless one is chosen`() throws {
    #expect(try routes("{as: caller, scopes: [a, b]}") == [token(.tokenExchange(ExchangeTerms()))])
    let entra = "https://login.microsoftonline.com/contoso.example"
    #expect(
      try routes("{as: caller, scopes: ['api://x/a', 'api://x/b']}", authority: entra)
        == [token(.onBehalfOf(), scopes: "api://x/a api://x/b")])
    #expect(
      try routes("{as: caller, scopes: [x/.default]}", authority: "https://fs.example/adfs")
        == [token(.onBehalfOf(), scopes: "x/.default")])
    #expect(try routes("{as: caller, scopes: [a, b], grant: jwt_bearer}") == [token(.jwtBearer)])
    #expect(try routes("{as: caller, scopes: [a, b], grant: on_behalf_of}") == [token(.onBehalfOf())])
  }

  @Test func `an exchange has the terms of the route`() throws {
    let jwt = TokenTypeURN.jwt
    var terms = ExchangeTerms(subjectType: "urn:example:session", requestedType: jwt)
    terms.actor = ExchangeTerms.ActorFile(path: "dir/actor.jwt", type: jwt)
    #expect(
      try routes(
        "{as: caller, scopes: [a, b], subject_token_type: 'urn:example:session', requested_token_type: '\(jwt)', "
          + "actor: {file: actor.jwt}}") == [token(.tokenExchange(terms))])
    #expect(
      try routes("{as: caller, scopes: [a, b], grant: id_jag, resource_application: server}")
        == [
          token(
            .identityAssertion(
              ExchangeTerms(requestedType: TokenTypeURN.identityAssertion), resourceApplication: "server"))
        ])
  }
}
