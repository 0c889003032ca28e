import Bytes
import FoundationEssentials
import HTTP
import Testing
import Tokens

@Suite struct AuthorizationTests {
  /// In place of SHA-256, which this module does not have.
  static func digest(_ bytes: [UInt8]) -> [UInt8] { Array(bytes.reversed()) }

  static func session(state: String = "s") -> AuthorizationSession {
    AuthorizationSession(state: state, nonceSeed: "az", verifier: "v~1", digest: digest)
  }

  @Test func `a session is made of random bytes, and its public halves of digests`() {
    var asked: [Int] = []
    let session = AuthorizationSession(
      random: { count in
        asked.append(count)
        return [UInt8](repeating: UInt8(asked.count), count: count)
      }, digest: Self.digest)
    #expect(asked == [16, 16, 32])
    #expect(session.state == Base64URL.encode([UInt8](repeating: 1, count: 16)))
    #expect(session.verifier.revealed() == Base64URL.encode([UInt8](repeating: 3, count: 32)))
    #expect(session.verifier.count == 43)
    #expect(session.challenge == Base64URL.encode(Array(session.verifier.revealed().utf8.reversed())))
    let seed = Base64URL.encode([UInt8](repeating: 2, count: 16))
    #expect(session.nonce == seed.utf8.reversed().map { "0" + String($0, radix: 16) }.map { $0.suffix(2) }.joined())
  }

  @Test func `the address holds all that was asked for, and not the verifier`() throws {
    var request = AuthorizationRequest(
      endpoint: try HTTPURL("https://id.example/authorize?p=b2c"), clientID: "c 1",
      redirectURI: "http://localhost:8400",
      terms: SignInTerms(scopes: try ScopeSet(["api://a/read"])), session: Self.session(state: "s&1"))
    let least = """
      https://id.example/authorize?p=b2c&client_id=c%201&response_type=code&redirect_uri=http%3A%2F%2Flocalhost%3A8400&\
      scope=api%3A%2F%2Fa%2Fread%20offline_access%20openid%20profile&state=s%261&code_challenge=MX52&\
      code_challenge_method=S256&nonce=7a61&client_info=1
      """
    #expect(request.url == least)
    request.terms.extraScopes = try ScopeSet(["api://b/write"])
    request.responseMode = .formPost
    request.terms.prompt = .selectAccount
    request.terms.loginHint = "a@b.example"
    request.terms.domainHint = DomainHint("b.example")
    request.terms.maxAge = 60
    request.terms.claims = try Claims(json: #"{"id_token":{}}"#)
    for part in [
      "scope=api%3A%2F%2Fa%2Fread%20api%3A%2F%2Fb%2Fwrite%20offline_access%20openid%20profile&",
      "response_mode=form_post&", "prompt=select_account&", "login_hint=a%40b.example&domain_hint=b.example&",
      "max_age=60&",
      "claims=%7B%22id_token%22%3A%7B%7D%7D",
    ] {
      #expect(request.url.contains(part))
    }
    #expect(!request.url.contains("X-AnchorMailbox"), "that is for Entra")
    #expect(!request.url.contains("v~1") && !request.url.contains("v%7E1"))
  }

  @Test(
    arguments: [
      (nil, "prompt=consent&access_type=offline"),
      (.selectAccount, "prompt=select_account%20consent&access_type=offline"),
      (.consent, "prompt=consent&access_type=offline"), (Prompt.none, "prompt=none&access_type=offline"),
    ] as [(Prompt?, String)])
  func `parameters request a refresh token if no scope does`(prompt: Prompt?, expected: String) throws {
    var request = AuthorizationRequest(
      endpoint: try HTTPURL("https://accounts.google.com/a"), clientID: "c", redirectURI: "http://localhost",
      terms: SignInTerms(scopes: try ScopeSet(["x"])), session: Self.session())
    request.offlineAccess = .parameter
    request.terms.prompt = prompt
    #expect(request.url.contains("&scope=openid%20profile%20x&") && request.url.hasSuffix("&" + expected))
  }

  @Test func `a pushed request has the browser's parameters and the application's proof`() throws {
    let request = AuthorizationRequest(
      endpoint: try HTTPURL("https://i/a"), clientID: "c", redirectURI: "http://localhost",
      terms: SignInTerms(scopes: try ScopeSet(["x"])), session: Self.session())
    let json = """
      {"issuer": "https://i", "token_endpoint": "https://i/t", "pushed_authorization_request_endpoint": "https://i/p"}
      """
    let metadata = try ProviderMetadata(json: Array(json.utf8), authority: Authority("https://i"))
    let pushed = try #require(
      ProviderForm(
        pushing: request,
        of: ClientAuthentication(request.clientID, at: metadata, .secret(Secret("s3")), placement: .body)))
    let query = try #require(request.url.split(separator: "?").last)
    #expect(String(decoding: pushed.body, as: UTF8.self) == "\(query)&client_secret=s3")
    #expect(pushed.endpoint.description == "https://i/p")
    #expect(request.url(pushedAs: "urn:x:1") == "https://i/a?client_id=c&request_uri=urn%3Ax%3A1")
    func reply(_ status: Int, _ json: String) throws -> String {
      try ProviderAnswer(status: status, body: Array(json.utf8)).requestURI(sent: pushed.sentSecrets, now: UnixTime(0))
    }
    #expect(try reply(201, #"{"request_uri": "urn:x:1", "expires_in": 60}"#) == "urn:x:1")
    for json in ["{}", #"{"request_uri": ""}"#, #"{"request_uri": "a b"}"#, "<html>"] {
      #expect(throws: TokenFailure(.unintelligible, status: 201)) { try reply(201, json) }
    }
    #expect(throws: TokenFailure(.refused(TokenErrorReply(error: "invalid_request")), status: 400)) {
      try reply(400, #"{"error": "invalid_request"}"#)
    }
  }

  static let refused: [(String, AuthorizationReplyError)] = [
    ("", .state), ("code=C", .state), ("state=&code=C", .state), ("state=other&code=C", .state),
    ("state=S&code=C", .state), ("state=other&error=access_denied", .state), ("state=s", .withoutCode),
    ("state=s&code=", .withoutCode), ("state=s&state=s&code=C", .malformed), ("state=s&code=C&code=D", .malformed),
    ("state=s&code=%", .malformed), ("state=s&code=%zz", .malformed), ("state=s&code=%ff", .malformed),
    ("state=s&code=C&iss=https%3A%2F%2Fevil.example", .issuer),
    (
      "state=s&error=access_denied&error_description=AADSTS65004%3A+no%0D%0Aforged&error_uri=u&code=C",
      .refused(TokenErrorReply(error: "access_denied", codes: [65004], description: "AADSTS65004: no  forged"))
    ),
    ("error=login_required&state=s", .refused(TokenErrorReply(error: "login_required"))),
  ]

  @Test(arguments: refused)
  func `an answer counts by its state first, then by what it says`(form: String, expected: AuthorizationReplyError)
    throws
  {
    let issuer = try Self.issuer("https://id.example")
    #expect(throws: expected) { try AuthorizationReply(form: Array(form.utf8), state: "s", issuer: issuer) }
  }

  /// The rule for the issuer in answers, for an issuer that is found at `authority`, by default the issuer itself.
  private static func issuer(
    _ issuer: String, at authority: String? = nil, isPromised: Bool = false
  ) throws -> ReplyIssuer {
    let authority = try Authority(authority ?? issuer)
    let json = """
      {"issuer": "\(issuer)", "token_endpoint": "\(authority.url.origin)/token",
       "authorization_response_iss_parameter_supported": \(isPromised)}
      """
    return ReplyIssuer(try ProviderMetadata(json: Array(json.utf8), authority: authority), authority: authority)
  }

  private static let id = "https://id.example"
  private static let entra = "https://login.microsoftonline.com"
  private static let tenant = "c0a7050d-0000-4000-8000-000000000001"
  private static let template = "\(entra)/{tenantid}/v2.0"

  /// The issuer and the authority that it is found at, whether it promises its name, and the name in the answer.
  static let issuers: [(String, String, at: String, isPromised: Bool, named: String?, AuthorizationReplyError?)] = [
    ("not promised, not named", id, id, false, nil, nil), ("not promised, named", id, id, false, id, nil),
    ("not promised, another", id, id, false, "https://evil.example", .issuer),
    ("promised, not named", id, id, true, nil, .issuerMissing), ("promised, empty", id, id, true, "", .issuerMissing),
    ("promised, named", id, id, true, id, nil),
    ("promised, another", id, id, true, "https://evil.example", .issuer),
    ("compared as text", id, id, true, "https://id.example/", .issuer),
    ("Entra promises nothing", template, "\(entra)/organizations", false, "\(entra)/x/v2.0", nil),
    ("any tenant of Entra's", template, "\(entra)/organizations", true, "\(entra)/\(tenant)/v2.0", nil),
    ("no tenant at all", template, "\(entra)/organizations", true, "\(entra)/\(tenant)/x/v2.0", .issuer),
    (
      "one tenant", "\(entra)/\(tenant)/v2.0", "\(entra)/\(tenant)", true,
      "\(entra)/c0a7050d-0000-4000-8000-000000000002/v2.0", .issuer
    ),
  ]

  @Test(arguments: issuers)
  func `an answer names the issuer that was asked, if that one promises it (RFC 9207)`(
    name: String, issuer: String, authority: String, isPromised: Bool, named: String?,
    expected: AuthorizationReplyError?
  ) throws {
    let issuer = try Self.issuer(issuer, at: authority, isPromised: isPromised)
    let named = named.map { "&iss=\($0)" } ?? ""
    func error(_ form: String) -> AuthorizationReplyError? {
      do throws(AuthorizationReplyError) {
        _ = try AuthorizationReply(form: Array(form.utf8), state: "s", issuer: issuer)
        return nil
      } catch {
        return error
      }
    }
    #expect(error("state=s&code=C\(named)") == expected)
    let refusal = error("state=s&error=access_denied\(named)")
    #expect(refusal == expected ?? .refused(TokenErrorReply(error: "access_denied")))
  }

  @Test(arguments: [
    "state=s&code=C+%26d", "code=C%20%26d&session_state=x&state=s&iss=https://id.example&client_info=e",
  ])
  func `a code is taken`(form: String) throws {
    let reply = try AuthorizationReply(form: Array(form.utf8), state: "s", issuer: Self.issuer("https://id.example"))
    #expect(reply.code == Secret("C &d"))
  }

  @Test func `code-pkce: address and token request are msal-python's`() throws {
    let vector = try FlowVector("08-auth-code-pkce")
    let flow = vector.calls[0].result
    // The recorded digests, by their inputs: this module has no SHA-256.
    let recorded = try #require(flow["auth_uri"]?.text.flatMap { URL(string: $0) })
    let theirs = RecordedFlow.members(ofForm: Array((recorded.query(percentEncoded: true) ?? "").utf8))
    let verifier = try #require(flow["code_verifier"]?.text)
    let challenge = try Base64URL.decode(#require(theirs["code_challenge"]))
    let nonce = try #require(theirs["nonce"])
    let session = AuthorizationSession(
      state: try #require(flow["state"]?.text), nonceSeed: try #require(flow["nonce"]?.text),
      verifier: verifier
    ) { text in
      if text == Array(verifier.utf8) { return challenge }
      return stride(from: 0, to: nonce.count, by: 2).map { UInt8(nonce.dropFirst($0).prefix(2), radix: 16) ?? 0 }
    }
    let scopes = try ScopeSet(["https://graph.microsoft.com/User.Read"])
    let claims = Claims(challenge: nil, capabilities: ["CP1"])
    var request = AuthorizationRequest(
      endpoint: try #require(vector.metadata.authorizationEndpoint), clientID: vector.clientID,
      redirectURI: "http://localhost:8400", terms: SignInTerms(scopes: scopes), session: session)
    request.responseMode = .formPost
    request.terms.prompt = .selectAccount
    request.terms.loginHint = "User.A@contoso.example"
    request.terms.domainHint = DomainHint(try #require(theirs["domain_hint"]))
    request.terms.claims = claims
    let address = try #require(URL(string: request.url))
    var ours = RecordedFlow.members(ofForm: Array((address.query(percentEncoded: true) ?? "").utf8))
    #expect(request.url.hasPrefix("https://login.microsoftonline.com/organizations/oauth2/v2.0/authorize?"))
    #expect(Set(theirs.keys) == Set(ours.keys) && ours["X-AnchorMailbox"] == "UPN:User.A@contoso.example")
    // Except for the spaces of msal-python's JSON.
    #expect(theirs["claims"]?.replacing(" ", with: "") == ours["claims"])
    ours["claims"] = theirs["claims"]
    #expect(ours.allSatisfy { theirs[$0.key] == $0.value })

    let exchange = try #require(vector.calls[1].exchanges.first)
    let token = TokenRequest(
      ClientAuthentication(vector.clientID, at: vector.metadata, nil),
      grant: .authorizationCode(
        Secret("AUTHCODE"), redirectURI: "http://localhost:8400", verifier: session.verifier), scopes: scopes,
      claims: claims)
    var form = RecordedFlow.members(ofForm: token.body)
    #expect(form["claims"] == exchange.form["claims"]?.replacing(" ", with: ""))
    form["claims"] = exchange.form["claims"]
    #expect(form == exchange.form)
    #expect(token.endpoint.description == exchange.url)
    #expect(vector.metadata.realm == "organizations")
  }

  // 14-adfs: the refresh of a provider that is not Entra is decorated and requests client_info too.
  @Test func `a refresh request is msal-python's`() throws {
    let vector = try FlowVector("14-adfs")
    let exchange = try #require(vector.calls[2].exchanges.first)
    let token = TokenRequest(
      ClientAuthentication(vector.clientID, at: vector.metadata, nil), grant: .refreshToken(Secret("RT-adfs")),
      scopes: try ScopeSet(["urn:x/read"]).decorated, claims: nil)
    #expect(RecordedFlow.members(ofForm: token.body) == exchange.form)
    #expect(token.endpoint.description == exchange.url)
    #expect(vector.metadata.realm == "adfs")
  }
}
