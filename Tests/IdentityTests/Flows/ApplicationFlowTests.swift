// msal-python's recorded calls of applications in their own name, made again. If the outcome is another one, a comment
// has the reason.

import Bytes
import Testing
import Tokens

@testable import Identity

@Suite(.timeLimit(.minutes(5)))
struct ApplicationFlowTests {
  /// The recorded forms without `client_info`, which asks about the account of a sign-in; there is none here.
  private static func forms(_ flow: FlowReplay, _ index: Int) -> [[String: String]] {
    flow.recordedForms(index).map { $0.filter { $0.key != "client_info" } }
  }

  /// Differs: these providers' metadata list no way to authenticate, so the secret is in the `Authorization` field.
  private static func formsOfBasic(_ flow: FlowReplay, _ index: Int) -> [[String: String]] {
    forms(flow, index).map { $0.filter { $0.key != "client_id" && $0.key != "client_secret" } }
  }

  @Test
  func
    `cc-cache, remove-app-tokens: flow 10: one request serves until claims are asked for`()
    async throws
  {
    let flow = try FlowReplay("10-client-credentials-secret")
    let first = try await flow.call(0)
    #expect(first.answer == .token("AT-app") && first.forms == Self.forms(flow, 0) && first.cacheDifferences.isEmpty)
    let second = try await flow.call(1)
    #expect(second.answer == .token("AT-app") && second.forms.isEmpty)
    let challenged = try await flow.call(2)
    #expect(challenged.answer == .rejected("invalid_client") && challenged.forms == Self.forms(flow, 2))
    #expect(challenged.cacheDifferences.isEmpty)
  }

  @Test func `short-lived-token: flow 13: a token of five minutes is served, filed under its issuer`() async throws {
    let flow = try FlowReplay("13-generic-oidc")
    let first = try await flow.call(0)
    #expect(first.answer == .token("AT-oidc") && first.forms == Self.formsOfBasic(flow, 0))
    // Differs: two issuers may share a host, so their plain tokens are not filed as such (section 10, item 3).
    let token = try #require(await flow.document()[.accessToken].values.first)
    #expect(token["ext_cache_key"] != nil)
    #expect(first.cacheDifferences == ["AccessToken+", "AccessToken-", "AppMetadata+", "AppMetadata-"])
    // Differs: msal-python's buffer is the token's whole life, so that it never finds it.
    let second = try await flow.call(1, answers: [])
    #expect(second.answer == .token("AT-oidc") && second.forms.isEmpty)
    #expect(flow.recording.calls[1].token == "AT-oidc-2")
  }

  @Test func `two-issuers-one-host: flow 21: a realm gets no token of another realm on its host`() async throws {
    let flow = try FlowReplay("21-oidc-realm-collision")
    let alpha = try await flow.call(0)
    #expect(alpha.answer == .token("AT-of-realm-alpha") && alpha.forms == Self.formsOfBasic(flow, 0))
    // Differs: msal-python serves beta with alpha's token.
    #expect(flow.recording.calls[1].token == "AT-of-realm-alpha" && flow.recordedForms(1).isEmpty)
    let beta = try await flow.call(
      1, answers: [.json(200, #"{"token_type": "Bearer", "expires_in": 3600, "access_token": "AT-of-realm-beta"}"#)])
    #expect(beta.answer == .token("AT-of-realm-beta"))
    #expect(beta.endpoints == ["https://idp.example/realms/beta/protocol/openid-connect/token"])
    #expect(await flow.document()[.accessToken].count == 2)
  }

  @Test func `no-user-token-as-app-token: flow 22: a person's token without a person never serves the application`()
    async throws
  {
    let flow = try FlowReplay("22-user-token-served-as-app-token")
    let authority = try flow.authority(0)
    let call = flow.recording.calls[0]
    let reply = try #require(call.posts.first).reply(at: call.now)
    let issued = IssuedTokens(
      reply, clientID: "svc", environment: "idp.example", realm: "realms", grantType: "authorization_code",
      requested: try ScopeSet(["api.read"]), isolation: authority.isolation)
    // Differs: msal-python files it, and serves the application with it.
    try await flow.change { $0.add(issued, now: call.now) }
    #expect(await flow.document()[.accessToken].isEmpty && flow.recording.calls[1].token == "AT-of-a-user")
    let own = try await flow.call(
      1, answers: [.json(200, #"{"token_type": "Bearer", "expires_in": 3600, "access_token": "AT-of-svc"}"#)])
    #expect(own.answer == .token("AT-of-svc") && own.forms.map { $0["grant_type"] } == ["client_credentials"])
  }
}
