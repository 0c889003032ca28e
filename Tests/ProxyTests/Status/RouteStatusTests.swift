// A route in `/status` in each of its states, for people and for programs.

import Bytes
@testable import Identity
import HTTP
import HTTPClient
import Platform
import Routing
import Testing
import Tokens

@testable import Proxy

@Suite struct RouteStatusTests {
  private static let now = UnixTime(1_700_000_600)

  private static func route() throws -> Route {
    Route(
      index: 0, name: "graph", host: nil, path: "/", methods: nil, upstream: try HTTPURL("https://graph.example/"),
      originIndex: 0, preservesHost: false, bearerSlot: 0,
      timeouts: ExchangeTimeouts(connect: .seconds(1), responseHead: .seconds(1), idle: .seconds(1), whole: nil))
  }

  private static func token(
    _ subject: TokenSubject, for seconds: Int64? = nil, _ error: AcquisitionError? = nil, isRefreshing: Bool = false,
    isOfFormerCredential: Bool = false
  ) throws -> TokenStatus {
    var status = TokenStatus(
      application: "contoso", subject: subject, scopes: try ScopeSet(["User.Read"]),
      expiresAt: seconds.map { now + $0 })
    status.failure = error.map { TokenStatus.Failure(error: $0, since: now - 300, retryAt: now + 12) }
    status.isRefreshing = isRefreshing
    status.isOfFormerCredential = isOfFormerCredential
    return status
  }

  private static func needed(_ reason: InteractionReason) throws -> AcquisitionError {
    AcquisitionError(
      .interaction(
        InteractionRequired(reason: reason, scopes: .none, authority: try Authority("https://id.example/realm"))))
  }

  private static func status(
    _ token: TokenStatus?, need: SignInRequirement? = nil, upstream: UpstreamCondition.Failure? = nil,
    link: String? = nil
  ) throws -> RouteStatus {
    RouteStatus(
      route: try route(), now: now, token: token, need: need, upstream: upstream, link: link,
      command: "bearer-proxy login -c p.yaml --route graph")
  }

  private static let down = AcquisitionError(.unreached(.timedOut(host: "id.example")), retryAfter: 12)
  private static let failing = UpstreamCondition.Failure(since: 1_700_000_000, reason: "Connection refused", count: 3)

  private func expect(
    _ word: String, _ line: String, _ token: TokenStatus?, need: SignInRequirement? = nil,
    upstream: UpstreamCondition.Failure? = nil, link: String? = nil
  ) throws {
    let status = try Self.status(token, need: need, upstream: upstream, link: link)
    #expect(status.condition.state.rawValue == word, "\(line)")
    #expect(status.line == line)
    let members = try #require(status.json.members)
    #expect(members["state"] == .string(word) && members["line"] == .string(line))
    #expect((members["sign_in"] != nil) == (word == "sign_in_needed"))
    #expect((members["provider"] != nil) == word.hasPrefix("provider"))
  }

  @Test func `each state has its word and its line`() throws {
    let alice = TokenSubject.account("alice@contoso.example")
    try expect("ready", "ready, adds no token", nil)
    try expect("ready", "ready, token for 58 min", Self.token(.application, for: 3500))
    try expect("ready", "ready, token of alice@contoso.example for 90 s", Self.token(alice, for: 90))
    try expect("ready", "ready, a token of alice@contoso.example is obtained when one is asked for", Self.token(alice))
    try expect("refreshing", "waiting for the first token", Self.token(.application))
    try expect("ready", "ready, a token is obtained when one is asked for", Self.token(.application, for: -90))
    try expect(
      "refreshing", "refreshing the token, the held one serves for 4 min",
      Self.token(.application, for: 240, isRefreshing: true))
    try expect(
      "refreshing", "refreshing the token, the held one, obtained with the former credential, serves for 4 min",
      Self.token(.application, for: 240, isRefreshing: true, isOfFormerCredential: true))
    try expect(
      "provider_refuses",
      "provider refuses since 2023-11-14T22:18:20Z (5 min): invalid_client; next attempt in 12 s; the held token, "
        + "obtained with the former credential, serves for 4 min",
      Self.token(
        .application, for: 240,
        AcquisitionError(TokenFailure(.refused(TokenErrorReply(error: "invalid_client")), status: 401)),
        isOfFormerCredential: true))
    try expect(
      "ready", "ready, token of alice@contoso.example, obtained with the former credential, for 90 s",
      Self.token(alice, for: 90, isOfFormerCredential: true))
    try expect(
      "sign_in_needed",
      "needs a sign-in of alice@contoso.example: consent is missing; run 'bearer-proxy login -c p.yaml --route graph'",
      Self.token(alice, Self.needed(.consentRequired)))
    try expect(
      "sign_in_needed",
      "needs a sign-in: the provider wants more proof, such as a second factor; open http://127.0.0.1/.bearer/x, or "
        + "run 'bearer-proxy login -c p.yaml --route graph'; the held token serves for 60 s",
      Self.token(.account(nil), for: 60, Self.needed(.basicAction)), link: "http://127.0.0.1/.bearer/x")
    try expect(
      "sign_in_needed",
      "needs a choice: several accounts are signed in, and the route names none; name one under the route's 'token'",
      Self.token(.account(nil), Self.needed(.accountAmbiguous)))
    try expect(
      "sign_in_needed",
      "needs a sign-in of alice@contoso.example: the upstream asks for another way to authenticate (c1); run "
        + "'bearer-proxy login -c p.yaml --route graph'; the held token serves for 90 s", Self.token(alice, for: 90),
      need: SignInRequirement(authenticationContexts: ["c1"], since: Self.now), upstream: Self.failing)
    try expect(
      "cache_unavailable",
      "token cache unreadable since 2023-11-14T22:18:20Z (5 min), so who is signed in is not known",
      Self.token(alice, AcquisitionError(.cacheUnread, retryAfter: 2)), upstream: Self.failing)
    try expect(
      "provider_down",
      "provider down since 2023-11-14T22:18:20Z (5 min): id.example did not answer in time; next attempt in 12 s; "
        + "the held token serves for 2 h", Self.token(.application, for: 8000, Self.down), upstream: Self.failing)
    try expect(
      "provider_refuses",
      "provider refuses since 2023-11-14T22:18:20Z (5 min): metadata answered with status 404; next attempt in 12 s",
      Self.token(.application, AcquisitionError(.metadata(status: 404), retryAfter: 60)))
    try expect(
      "upstream_failing", "upstream failing since 2023-11-14T22:13:20Z (10 min): Connection refused", nil,
      upstream: Self.failing)
  }

  @Test func `programs get what the line says, member by member`() throws {
    let need = SignInRequirement(claims: try Claims(json: #"{"access_token":{}}"#), maxAge: 60, since: Self.now)
    let status = try Self.status(Self.token(.account("a"), for: 90), need: need, upstream: Self.failing, link: "/x")
    #expect(
      status.json.canonicalText() == """
        {"account":"a","application":"contoso","as":"account","line":\(JSONValue.string(status.line).canonicalText()),\
        "name":"graph","scopes":["User.Read"],"sign_in":{"claims":"{\\"access_token\\":{}}",\
        "command":"bearer-proxy login -c p.yaml --route graph","link":"/x","max_age":60,"reason":"upstream_challenge",\
        "since":1700000600},"state":"sign_in_needed","token":{"expires_in":90,"expires_on":1700000690,\
        "former_credential":false,"held":true,"refreshing":false},\
        "upstream":{"failures":3,"reason":"Connection refused","since":1700000000}}
        """)
  }

  @Test(arguments: [
    (-5, "0 s"), (0, "0 s"), (119, "119 s"), (120, "2 min"), (7199, "119 min"), (7200, "2 h"), (172_800, "2 d"),
  ])
  func `a length of time is one number and one unit`(seconds: Int64, expected: String) {
    #expect(words(seconds: seconds) == expected)
  }

  @Test func `an upstream fails from the first failure on, until it answers`() {
    let condition = UpstreamCondition(routes: 2)
    condition.answered(0)
    #expect(condition.failure(of: 0) == nil)
    condition.failed(0, "a", now: 5)
    condition.failed(0, "b", now: 9)
    #expect(condition.failure(of: 0) == UpstreamCondition.Failure(since: 5, reason: "b", count: 2))
    #expect(condition.failure(of: 1) == nil)
    condition.answered(1)
    #expect(condition.failure(of: 0) != nil)
    condition.answered(0)
    #expect(condition.failure(of: 0) == nil)
  }
}
