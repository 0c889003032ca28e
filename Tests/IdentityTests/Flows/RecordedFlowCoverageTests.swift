// The test of each recorded flow, and the recordings that this product has no grant for. Of those, the answers
// are read and sorted all the same: that much applies.

import Bytes
import Testing
import Tokens

@testable import Identity

@Suite
struct RecordedFlowCoverageTests {
  /// Every recorded flow with its test, and each omission with its reason.
  static let flows: [String: String] = [
    "01-silent-hit-then-expiry-buffer": "SilentFlowTests",
    "02-aging-token-refresh-ok": "SilentFlowTests",
    "03-aging-token-refresh-fails": "SilentFlowTests",
    "04-expired-error-and-throttle": "SilentFlowTests",
    "05-claims-challenge-and-capabilities": "SilentFlowTests",
    "07-foci-join": "SilentFlowTests, with and without families",
    "08-auth-code-pkce": "TokensTests/AuthorizationTests, and below what ends it",
    "09-device-code": "TokensTests/DeviceCodeTests",
    "10-client-credentials-secret": "ApplicationFlowTests",
    "11-client-assertion": "below, the answers; assertions are left out: the only credential is a secret",
    "12-on-behalf-of": "below, the answers; requests are left out: no such grant, and no cache of its tokens",
    "13-generic-oidc": "ApplicationFlowTests; its third call is 08's with another authority, see AuthorizationTests",
    "14-adfs": "SilentFlowTests; its password sign-in below, the answer: no such grant",
    "15-managed-identity": "below, the answers; requests are left out: no such application",
    "16-ropc": "below, the answer; requests are left out: no such grant",
    "19-realm-isolation-and-signout": "SilentFlowTests",
    "21-oidc-realm-collision": "ApplicationFlowTests",
    "22-user-token-served-as-app-token": "ApplicationFlowTests",
  ]

  @Test func `every recorded flow is accounted for`() throws {
    #expect(try FlowRecording.names() == Self.flows.keys.sorted())
  }

  typealias Granted = (flow: String, call: Int, token: String, expiresIn: Int64, hasRefreshToken: Bool)

  @Test(
    arguments: [
      ("08-auth-code-pkce", 1, "AT", 3599, true), ("11-client-assertion", 2, "AT-app", 3599, false),
      ("11-client-assertion", 3, "AT-app", 3599, false), ("12-on-behalf-of", 0, "AT-obo", 3599, true),
      ("12-on-behalf-of", 1, "AT-obo2", 3599, true), ("14-adfs", 0, "AT-adfs", 3600, true),
      ("15-managed-identity", 0, "AT-imds", 86_399, false), ("15-managed-identity", 2, "AT-imds-ua", 3599, false),
      ("15-managed-identity", 4, "AT-appsvc", 3600, false), ("15-managed-identity", 6, "AT-ml", 3600, false),
      ("16-ropc", 0, "AT", 3599, true),
    ] as [Granted])
  func `whatever the grant was, its answer is read`(row: Granted) throws {
    let call = try FlowRecording(row.flow).calls[row.call]
    let exchange = try #require(call.exchanges.last { $0.body.contains("access_token") })
    let reply = try exchange.reply(at: call.now)
    #expect(reply.accessToken == Secret(row.token) && reply.expiresIn == row.expiresIn)
    #expect((reply.refreshToken != nil) == row.hasRefreshToken)
    #expect(reply.accessToken == call.token.map { Secret($0) })
  }

  typealias Refused = (flow: String, call: Int, expected: TokenErrorClass)

  @Test(
    arguments: [
      ("12-on-behalf-of", 3, .signInNeeded), ("15-managed-identity", 3, .configuration),
      // msal-python turns App Service's 500 into `invalid_scope`; here a server error is one.
      ("15-managed-identity", 5, .transient),
    ] as [Refused])
  func `whatever the grant was, its refusal is sorted`(row: Refused) throws {
    let call = try FlowRecording(row.flow).calls[row.call]
    let exchange = try #require(call.exchanges.last)
    let failure = try #require(throws: TokenFailure.self) { try exchange.reply(at: call.now) }
    #expect(failure.errorClass == row.expected)
  }

  // As far as it applies: the claims are kept for the next sign-in.
  @Test func `obo-claims: flow 12: a refusal's claims and reason are kept`() throws {
    let call = try FlowRecording("12-on-behalf-of").calls[3]
    let failure = try #require(throws: TokenFailure.self) { try call.posts[0].reply(at: call.now) }
    guard case .refused(let reply) = failure.cause else {
      Issue.record("not a refusal")
      return
    }
    #expect(InteractionReason(reply) == .basicAction)
    #expect(reply.claims?.text == #"{"access_token":{"polids":{"essential":true,"values":["p1"]}}}"#)
  }

  // Errors that end the sign-in before anything is sent.
  @Test func `code-pkce: flow 08: another state and a refusal end the sign-in, and only the refusal's code is told`()
    throws
  {
    let state = "TTTTTTTTTTTTTTTTTTTTTT"
    let issuer = ReplyIssuer("https://login.microsoftonline.com/organizations/v2.0", isPromised: false, isExact: true)
    let (wrong, denied) = (
      Array("code=C&state=evil".utf8), Array("error=access_denied&error_description=no&state=\(state)".utf8)
    )
    #expect(throws: AuthorizationReplyError.self) {
      try AuthorizationReply(form: wrong, state: state, issuer: issuer)
    }
    let refusal = try #require(throws: AuthorizationReplyError.self) {
      try AuthorizationReply(form: denied, state: state, issuer: issuer)
    }
    #expect(try FlowRecording("08-auth-code-pkce").calls[3].result["error"]?.text == "access_denied")
    #expect(refusal == .refused(TokenErrorReply(error: "access_denied", description: "no")))
  }

  // There is no password grant here; tokens that msal-python files after one are served like those of any sign-in.
  @Test func `flow 16: what a sign-in by password leaves is filed as it is recorded`() throws {
    let flow = try FlowReplay("16-ropc")
    let call = flow.recording.calls[0]
    let exchange = try #require(call.posts.first)
    let metadata = try #require(flow.recording.metadata.values.first)
    let authority = try flow.authority(0)
    var document = CacheDocument()
    document.add(
      IssuedTokens(
        try exchange.reply(at: call.now), clientID: try #require(call.app["client_id"]?.text),
        environment: authority.environments[0],
        realm: try ProviderMetadata(json: Array(metadata.utf8), authority: authority).realm, grantType: "password",
        requested: try ScopeSet(["https://graph.microsoft.com/User.Read"]), usernameHint: exchange.form?["username"]),
      now: call.now)
    #expect(JSONValue(json: document.text()) == call.cacheAfter)
  }
}
