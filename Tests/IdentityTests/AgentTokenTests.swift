// Agent identities: their blueprint's token proves each of them, what each has is its own, and their users' tokens are
// had without a person and kept nowhere.

import Testing
import Tokens

@testable import Identity

@Suite(.timeLimit(.minutes(5))) struct AgentTokenTests {
  private static let helper = "0a1b2c3d-0000-4000-8000-00000000000a"
  private static let other = "0a1b2c3d-0000-4000-8000-00000000000b"
  private static let user = "helper@contoso.example"

  private func blueprint(_ bench: Bench, secret: String = "s3cret", version: UInt64 = 0) throws -> Application {
    try bench.provider.application(.secret(Secret(secret)), clientID: "blueprint", version: version)
  }

  private func subscription(_ application: Application, user: String? = nil) throws -> TokenSubscription {
    let scopes = try ScopeSet(["orders.read"])
    return user.map { TokenSubscription(application: application, subject: .agentUser($0), scopes: scopes) }
      ?? TokenSubscription(application: application, scopes: scopes)
  }

  private static func first(_ agent: String) -> String {
    "grant_type=client_credentials&client_id=blueprint&scope=api%3A%2F%2FAzureADTokenExchange%2F.default"
      + "&fmi_path=\(agent)&client_secret=s3cret"
  }

  private static func proof(_ token: String) -> String {
    "&client_assertion_type=urn%3Aietf%3Aparams%3Aoauth%3Aclient-assertion-type%3Ajwt-bearer&client_assertion=\(token)"
  }

  @Test func `a token of the blueprint's for each agent proves it`() async throws {
    let bench = Bench()
    let blueprint = try blueprint(bench)
    let helper = try await bench.broker.bearer(for: subscription(blueprint.agent(Self.helper)))
    let other = try await bench.broker.bearer(for: subscription(blueprint.agent(Self.other)))
    #expect(helper.revealedToken() == "token-2" && other.revealedToken() == "token-4")
    #expect(
      await bench.provider.forms == [
        Self.first(Self.helper),
        "grant_type=client_credentials&client_id=\(Self.helper)&scope=orders.read" + Self.proof("token-1"),
        Self.first(Self.other),
        "grant_type=client_credentials&client_id=\(Self.other)&scope=orders.read" + Self.proof("token-3"),
      ])
    // The proof serves what else the agent asks for.
    _ = try await bench.broker.bearer(for: blueprint.agent(Self.helper).wish("ledger.read"))
    #expect(await bench.provider.forms.count == 5)
    #expect(await bench.provider.forms.last?.hasSuffix(Self.proof("token-1")) == true)
  }

  @Test func `the agent's own token brings its user's token, which is stored nowhere and shared with no one`()
    async throws
  {
    let bench = Bench()
    let helper = try blueprint(bench).agent(Self.helper)
    let users = try subscription(helper, user: Self.user)
    let value = try await bench.broker.bearer(for: users)
    #expect(value.revealedToken() == "token-3")
    #expect(
      await bench.provider.forms == [
        Self.first(Self.helper),
        "grant_type=client_credentials&client_id=\(Self.helper)&scope=api%3A%2F%2FAzureADTokenExchange%2F.default"
          + Self.proof("token-1"),
        "grant_type=user_fic&client_id=\(Self.helper)&user_federated_identity_credential=token-2"
          + "&username=helper%40contoso.example&scope=orders.read&requested_token_use=on_behalf_of&client_info=1"
          + Self.proof("token-1"),
      ])
    let cache = await bench.broker.store.snapshot()
    #expect(CacheSection.allCases.allSatisfy { cache[$0].isEmpty })
    #expect(try await bench.broker.bearer(for: users) === value)
    #expect(try await bench.token(subscription(helper)) == "token-4")
    #expect(try await bench.token(subscription(helper, user: Self.other)) == "token-6")
    #expect(await bench.provider.forms.last?.contains("&user_id=\(Self.other)&") == true)
    // The agent's own token in the cache is not its user's.
    #expect(await bench.broker.store.snapshot()[.accessToken].values.count == 1)
    #expect(try await bench.broker.bearer(for: users) === value)
  }

  @Test func `keys have agent, user, blueprint and the blueprint's credential`() throws {
    let bench = Bench()
    let one = try blueprint(bench)
    var registered = one
    registered.clientID = Self.helper
    var another = one
    another.clientID = "another-blueprint"
    let keys = try [
      subscription(one), subscription(one.agent(Self.helper)), subscription(one.agent(Self.other)),
      subscription(one.agent(Self.helper), user: Self.user), subscription(one.agent(Self.helper), user: Self.other),
      subscription(registered), subscription(another.agent(Self.helper)),
      subscription(blueprint(bench, version: 1).agent(Self.helper)),
    ].map(\.key)
    #expect(Set(keys).count == keys.count)
    #expect(Set(keys.map { $0.turn(of: nil) }).count == 5)
    #expect(
      keys.map(\.agent) == [nil, Self.helper, Self.other, Self.helper, Self.helper, nil, Self.helper, Self.helper])
    #expect(
      FederatedTokenSource.application(one, agent: Self.helper) != .application(one, agent: Self.other)
        && FederatedTokenSource.application(one, agent: Self.helper) != .application(one))
  }

  @Test func `an API's claims go into the agent user's request, and no sign-in is asked for`() async throws {
    let bench = Bench()
    let users = try subscription(blueprint(bench).agent(Self.helper), user: Self.user)
    let value = try await bench.broker.bearer(for: users)
    let claims = try Claims(json: #"{"access_token":{"acrs":{"value":"c1"}}}"#)
    #expect(try await bench.token(answering: .claims(claims), about: value, for: users) == "token-5")
    let forms = await bench.provider.forms
    #expect(forms.count == 5 && !forms[3].contains("claims=") && forms[4].contains("grant_type=user_fic"))
    #expect(forms[4].contains("&claims=%7B%22access_token%22"))
    let other = try subscription(blueprint(bench).agent(Self.helper), user: Self.other)
    let step = #"{"error": "interaction_required", "suberror": "basic_action", "claims": "{}"}"#
    await bench.provider.script(tokens: [.json(200, #"{"access_token": "t", "expires_in": 9}"#), .json(400, step)])
    let error = await #expect(throws: AcquisitionError.self) { try await bench.broker.bearer(for: other) }
    #expect(error?.reason == "token-request-rejected" && error?.interactionRequired == nil)
  }

  @Test func `a blueprint that is refused is named, and the agent is not asked for`() async throws {
    let bench = Bench()
    await bench.provider.script(tokens: [.json(401, #"{"error": "invalid_client"}"#)])
    let users = try subscription(blueprint(bench).agent(Self.helper), user: Self.user)
    let error = await #expect(throws: AcquisitionError.self) { try await bench.broker.bearer(for: users) }
    #expect(error?.detail == "application 'demo' gave no token that proves the application: invalid_client")
    #expect(await bench.provider.forms.count == 1)
  }

  @Test func `tokens of agents and their users are kept ready, and a caller's agent asks for the caller`() async throws
  {
    let bench = Bench()
    let helper = try blueprint(bench).agent(Self.helper)
    #expect(try subscription(helper, user: Self.user).key.subject.isUnattended)
    #expect(try subscription(helper).key.subject.isUnattended)
    let callers = TokenSubscription(
      application: helper, subject: .caller(nil, .onBehalfOf), scopes: try ScopeSet(["orders.read"])
    )
    .onBehalf(of: try CallerAssertion(unverified: Secret("assertion-of-ann")))
    #expect(try await bench.broker.bearer(for: callers).revealedToken() == "token-2")
    let form = try #require(await bench.provider.forms.last)
    #expect(
      form.contains("client_id=\(Self.helper)&assertion=assertion-of-ann&") && form.contains(Self.proof("token-1")))
  }
}
