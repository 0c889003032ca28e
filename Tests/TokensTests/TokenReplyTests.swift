import Bytes
import Testing
import Tokens

@Suite struct TokenReplyTests {
  private static let now = UnixTime(1_700_000_000)

  private static func read(
    _ json: String, status: Int = 200, retryAfter: String? = nil
  ) throws(TokenFailure) -> TokenReply {
    try TokenReply(
      ProviderAnswer(status: status, retryAfter: retryAfter, body: Array(json.utf8)), sent: .none, now: now)
  }

  @Test(
    arguments: [
      (#""expires_in": 3599"#, 3599, nil),
      (#""expires_in": "3599""#, 3599, nil),
      (#""expires_in": 3599.9"#, 3599, nil),
      (#""expires_on": 1700003600"#, 3600, nil),
      (#""expires_on": "1700003600""#, 3600, nil),
      (#""expires_in": 100, "expires_on": "1700003600""#, 100, nil),
      (#""x": 1"#, 600, nil),
      (#""expires_in": null"#, 600, nil),
      (#""expires_in": 7200, "refresh_in": 3600"#, 7200, 3600),
      (#""expires_in": 7200, "refresh_in": "3600""#, 7200, 3600),
      (#""expires_in": 7200, "refresh_in": 7200"#, 7200, nil),
      (#""expires_in": 7200, "refresh_in": 0"#, 7200, nil),
    ] as [(String, Int64, Int64?)])
  func `lifetimes come as numbers or strings, in or on`(members: String, life: Int64, refresh: Int64?) throws {
    let reply = try Self.read(#"{"access_token": "AT", "token_type": "Bearer", \#(members)}"#)
    #expect(reply.expiresIn == life)
    #expect(reply.refreshIn == refresh)
    #expect(reply.accessToken.revealed() == "AT")
  }

  @Test(arguments: ["\"Bearer\"", "\"bearer\"", "\"BEARER\"", "null"])
  func `a bearer token is one in any letter case, or by default`(type: String) throws {
    #expect(try Self.read(#"{"access_token": "AT", "token_type": \#(type)}"#).accessToken.count == 2)
  }

  static let long = String(repeating: "x", count: TokenReply.limit)

  @Test func `the longest token is accepted`() throws {
    #expect(try Self.read(#"{"access_token": "\#(Self.long)"}"#).accessToken.count == TokenReply.limit)
  }

  @Test(
    arguments: [
      (200, "", .unintelligible), (200, "[]", .unintelligible), (200, "{", .unintelligible),
      (200, "<html>ok</html>", .unintelligible), (503, "", .unintelligible), (429, "<html>no</html>", .unintelligible),
      (500, #"{"access_token": "AT"}"#, .unintelligible),
      (200, "{}", .noAccessToken), (200, #"{"access_token": ""}"#, .noAccessToken),
      (200, #"{"access_token": 7}"#, .noAccessToken), (200, #"{"access_token": null}"#, .noAccessToken),
      (200, #"{"access_token": "AT", "token_type": "pop"}"#, .tokenType),
      (200, #"{"access_token": "AT", "token_type": "N_A"}"#, .tokenType),
      (200, #"{"access_token": "A T"}"#, .unusableToken), (200, #"{"access_token": "AT\r\nX: y"}"#, .unusableToken),
      (200, #"{"access_token": "\u00e9"}"#, .unusableToken), (200, #"{"access_token": "\#(long)x"}"#, .unusableToken),
      (200, #"{"access_token": "AT", "expires_in": 0}"#, .lifetime),
      (200, #"{"access_token": "AT", "expires_in": -5}"#, .lifetime),
      (200, #"{"access_token": "AT", "expires_on": 1700000000}"#, .lifetime),
    ] as [(Int, String, TokenFailure.Cause)])
  func `an answer without a usable token is a transient failure`(status: Int, json: String, cause: TokenFailure.Cause) {
    let error = #expect(throws: TokenFailure.self) { try Self.read(json, status: status) }
    #expect(error?.cause == cause)
    #expect(error?.errorClass == .transient)
    #expect(error?.status == status)
  }

  @Test(arguments: [200, 400, 401])
  func `an error member makes an error of every status`(status: Int) {
    let json = """
      {"error": "invalid_client", "error_description": "AADSTS7000215: Invalid client secret provided.\\r\\nTrace",
       "error_codes": [7000215], "correlation_id": "c-1", "access_token": "AT"}
      """
    let reply = TokenErrorReply(
      error: "invalid_client", codes: [7_000_215],
      description: "AADSTS7000215: Invalid client secret provided.  Trace", correlationID: "c-1")
    #expect(throws: TokenFailure(.refused(reply), status: status, retryAfter: 120)) {
      try Self.read(json, status: status, retryAfter: "120")
    }
  }

  @Test func `codes are read from the description if they are nowhere else, and claims if they are JSON`() throws {
    let json = """
      {"error": "interaction_required", "suberror": "basic_action", "error_description": "AADSTS50076: MFA",
       "claims": "{\\"access_token\\":{\\"polids\\":{\\"essential\\":true}}}"}
      """
    let error = try #require(throws: TokenFailure.self) { try Self.read(json, status: 400) }
    let reply = try #require(error.reply)
    #expect(reply.codes == [50_076])
    #expect(reply.suberror == "basic_action")
    #expect(reply.claims?.text == #"{"access_token":{"polids":{"essential":true}}}"#)
    #expect(error.errorClass == .signInNeeded)
  }

  @Test(
    arguments: [
      ("a b", nil, "a b"), ("a b", "a", "a"), ("a b", "A c", "A c"), ("urn:x/read", "openid", "urn:x/read"),
      ("", "a b", "a b"),
      ("a", "", "a"), ("a", "b\\\"", "a"),
    ] as [(String, String?, String)])
  func `response-scope-wins, adfs-scope-openid: granted scopes are the reply's unless it shares none`(
    asked: String, scope: String?, granted: String
  ) throws {
    let member = scope.map { #", "scope": "\#($0)""# } ?? ""
    let reply = try Self.read(#"{"access_token": "AT"\#(member)}"#)
    #expect(reply.grantedScopes(requested: try ScopeSet(parameter: asked)).description == granted)
  }

  @Test func `recorded replies of Entra are read`() throws {
    let flow = try RecordedFlow(named: "client-credentials-secret")
    let answered = flow.calls.filter(\.sendsTokenRequest)
    #expect(answered.count == 2)
    for call in answered {
      do throws(TokenFailure) {
        let reply = try TokenReply(
          ProviderAnswer(status: call.status, body: Array(call.reply.utf8)), sent: .none, now: flow.now)
        #expect(reply.accessToken.revealed() == call.result["access_token"]?.text)
        #expect(reply.expiresIn == call.result["expires_in"]?.seconds)
      } catch {
        #expect(error.reply?.error == call.result["error"]?.text)
        #expect(error.reply?.codes == [7_000_215])
        #expect(error.errorClass == .configuration)
      }
    }
  }
}
