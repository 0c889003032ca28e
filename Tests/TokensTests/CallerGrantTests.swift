import Bytes
import Testing
import Tokens

@Suite struct CallerGrantTests {
  private static func request(
    _ grant: TokenGrant, scopes: String = "a b", claims: Claims? = nil, parameters: TokenParameters = .none,
    secret: Secret? = Secret("s")
  ) throws -> TokenRequest {
    let json = #"{"issuer": "https://id.example", "token_endpoint": "https://id.example/token"}"#
    return TokenRequest(
      ClientAuthentication(
        "app", at: try ProviderMetadata(json: Array(json.utf8), authority: Authority("https://id.example")),
        secret.map { .secret($0) }, placement: .body), grant: grant, scopes: try ScopeSet(parameter: scopes),
      claims: claims, parameters: parameters)
  }

  private static func body(
    _ grant: TokenGrant, scopes: String = "a b", claims: Claims? = nil, parameters: TokenParameters = .none
  ) throws -> String {
    String(decoding: try request(grant, scopes: scopes, claims: claims, parameters: parameters).body, as: UTF8.self)
  }

  private static let assertion = Secret("e30.e30.c2ln")
  private static let actor = ExchangeTerms.ActorFile(path: "actor.jwt", type: TokenTypeURN.jwt)
  private static let jwtBearer = "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer"
  private static let exchange = "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Atoken-exchange"
  private static let accessToken = "urn%3Aietf%3Aparams%3Aoauth%3Atoken-type%3Aaccess_token"

  @Test func `on behalf of someone, the assertion is theirs and no refresh token is asked for`() throws {
    #expect(
      try Self.body(.jwtBearer(Self.assertion, isOnBehalfOf: true), claims: Claims(json: #"{"a":1}"#))
        == "\(Self.jwtBearer)&client_id=app&assertion=e30.e30.c2ln&scope=a%20b&requested_token_use=on_behalf_of"
        + "&client_info=1&claims=%7B%22a%22%3A1%7D&client_secret=s")
    #expect(
      try Self.body(.jwtBearer(Self.assertion, isOnBehalfOf: false), scopes: "")
        == "\(Self.jwtBearer)&client_id=app&assertion=e30.e30.c2ln&client_secret=s")
  }

  @Test func `an exchange says what the subject is, and repeats audiences and resources`() throws {
    #expect(
      try Self.body(.tokenExchange(Self.assertion, ExchangeTerms()))
        == "\(Self.exchange)&client_id=app&subject_token=e30.e30.c2ln&subject_token_type=\(Self.accessToken)"
        + "&scope=a%20b&client_secret=s")
    let terms = ExchangeTerms(
      subjectType: "urn:example:session", requestedType: TokenTypeURN.jwt, actor: Self.actor)
    let parameters = try TokenParameters(audiences: ["two", "one"], resources: ["https://api.example/"])
    let jwt = "urn%3Aietf%3Aparams%3Aoauth%3Atoken-type%3Ajwt"
    #expect(
      try Self.body(
        .tokenExchange(Self.assertion, terms, actor: Secret("act")), scopes: "", parameters: parameters)
        == "\(Self.exchange)&client_id=app&subject_token=e30.e30.c2ln&subject_token_type=urn%3Aexample%3Asession"
        + "&requested_token_type=\(jwt)&actor_token=act&actor_token_type=\(jwt)"
        + "&audience=two&audience=one&resource=https%3A%2F%2Fapi.example%2F&client_secret=s")
  }

  @Test(arguments: [
    ("a@b.example", "username=a%40b.example"),
    ("0A1b2c3d-0000-4000-8000-00000000000a", "user_id=0A1b2c3d-0000-4000-8000-00000000000a"),
  ])
  func `an agent's user is named by what is known of it, and no refresh token is asked for`(
    user: String, member: String
  ) throws {
    #expect(
      try Self.body(.userFederation(Self.assertion, user: user))
        == "grant_type=user_fic&client_id=app&user_federated_identity_credential=e30.e30.c2ln&\(member)&scope=a%20b"
        + "&requested_token_use=on_behalf_of&client_info=1&client_secret=s")
  }

  @Test func `no secret of an exchange is shown when a provider repeats it`() throws {
    let subject = Secret("the-token-of-the-caller")
    let grants: [TokenGrant] = [
      .jwtBearer(subject, isOnBehalfOf: true), .userFederation(subject, user: "a@b.example"),
      .tokenExchange(
        subject, ExchangeTerms(actor: Self.actor), actor: Secret("the-token-of-the-actor")),
    ]
    for grant in grants {
      let request = try Self.request(grant, scopes: "", secret: nil)
      let body = #"{"error": "invalid_grant", "error_description": "bad the-token-of-the-caller"}"#
      let error = #expect(throws: TokenFailure.self) {
        try TokenReply(ProviderAnswer(status: 400, body: Array(body.utf8)), sent: request.sentSecrets, now: UnixTime(0))
      }
      #expect(error?.reply?.description?.contains("token-of") == false)
    }
  }

  static let replies: [(IssuedTokenKind, String, TokenFailure.Cause?)] = [
    (.bearer, #""token_type": "Bearer", "issued_token_type": "urn:ietf:params:oauth:token-type:access_token""#, nil),
    (.bearer, #""token_type": "Bearer", "issued_token_type": "urn:ietf:params:oauth:token-type:jwt""#, nil),
    (.bearer, #""token_type": "bearer""#, nil),
    (.bearer, #""token_type": "N_A", "issued_token_type": "urn:ietf:params:oauth:token-type:jwt""#, .tokenType),
    (.bearer, #""token_type": "DPoP""#, .tokenType),
    (
      .bearer, #""token_type": "Bearer", "issued_token_type": "urn:ietf:params:oauth:token-type:id_token""#,
      .issuedTokenType
    ),
    (
      .bearer, #""token_type": "Bearer", "issued_token_type": "urn:ietf:params:oauth:token-type:refresh_token""#,
      .issuedTokenType
    ),
    (.identityAssertion, #""token_type": "N_A", "issued_token_type": "urn:ietf:params:oauth:token-type:id-jag""#, nil),
    (
      .identityAssertion, #""token_type": "Bearer", "issued_token_type": "urn:ietf:params:oauth:token-type:id-jag""#,
      .tokenType
    ),
    (
      .identityAssertion, #""token_type": "N_A", "issued_token_type": "urn:ietf:params:oauth:token-type:jwt""#,
      .issuedTokenType
    ),
    (.identityAssertion, #""token_type": "N_A""#, .issuedTokenType),
  ]

  @Test(arguments: replies)
  func `an issued token must be of the requested type`(
    kind: IssuedTokenKind, members: String, cause: TokenFailure.Cause?
  ) {
    let body = "{\"access_token\": \"t\", \(members)}"
    do throws(TokenFailure) {
      _ = try TokenReply(
        ProviderAnswer(status: 200, body: Array(body.utf8)), sent: .none, expected: kind, now: UnixTime(0))
      #expect(cause == nil)
    } catch {
      #expect(error.cause == cause)
    }
  }

  @Test func `only an exchange for an identity assertion expects one`() {
    let terms = ExchangeTerms(requestedType: TokenTypeURN.identityAssertion)
    #expect(TokenGrant.tokenExchange(Self.assertion, terms).expected == .identityAssertion)
    #expect(TokenGrant.tokenExchange(Self.assertion, ExchangeTerms()).expected == .bearer)
    #expect(TokenGrant.jwtBearer(Self.assertion, isOnBehalfOf: true).expected == .bearer)
    #expect(TokenGrant.clientCredentials.expected == .bearer)
  }

  private static let exchangeGrant = CallerGrant.tokenExchange(ExchangeTerms())
  private static let claims = #"{"a":1}"#

  /// An error, its suberror and claims; the refusal is `.claims` if they are to be in the caller's next token.
  static let refusals: [(String, String?, claims: String?, CallerGrant, AssertionRefusal?)] = [
    ("interaction_required", "basic_action", claims, .onBehalfOf, wanted),
    ("invalid_grant", nil, claims, .onBehalfOf, wanted),
    ("consent_required", nil, claims, .onBehalfOf, wanted),
    ("invalid_grant", "consent_required", nil, .onBehalfOf, .consent),
    ("consent_required", nil, nil, .onBehalfOf, .consent),
    ("invalid_grant", nil, nil, .onBehalfOf, .invalidToken), ("invalid_grant", nil, nil, exchangeGrant, .invalidToken),
    ("interaction_required", nil, nil, .onBehalfOf, .invalidToken),
    ("login_required", nil, nil, .onBehalfOf, .invalidToken),
    ("invalid_token", nil, nil, exchangeGrant, .invalidToken),
    ("invalid_request", nil, nil, exchangeGrant, .invalidToken),
    ("access_denied", nil, nil, exchangeGrant, .denied),
    ("invalid_request", nil, nil, .onBehalfOf, nil), ("invalid_request", nil, nil, .jwtBearer, nil),
    ("invalid_client", nil, nil, .onBehalfOf, nil), ("unauthorized_client", nil, nil, .onBehalfOf, nil),
    ("invalid_scope", nil, nil, .onBehalfOf, nil), ("invalid_target", nil, nil, exchangeGrant, nil),
    ("unsupported_grant_type", nil, nil, .onBehalfOf, nil), ("temporarily_unavailable", nil, nil, .onBehalfOf, nil),
  ]

  private static var wanted: AssertionRefusal? {
    do throws(ClaimsError) { return .claims(try Claims(json: claims)) } catch { return nil }
  }

  @Test(arguments: refusals) func `a refusal says what the caller can do, or nothing of the caller`(
    error: String, suberror: String?, claims: String?, grant: CallerGrant, expected: AssertionRefusal?
  ) throws {
    let reply = TokenErrorReply(
      error: error, suberror: suberror, claims: try claims.map { claims in try Claims(json: claims) })
    #expect(AssertionRefusal(reply, grant: grant) == expected)
  }

  @Test func `one caller's failures pause seconds, whatever they are`() {
    for kind in [TokenErrorClass.configuration, .signInNeeded, .transient, .declined] {
      var throttle = Throttle(.caller)
      var now = UnixTime(1000)
      for pause in [1, 2, 4, 8, 16, 30, 30] as [Int64] {
        throttle.failed(kind, retryAfter: nil, now: now, jitter: 0)
        #expect(throttle.pause(at: now) == now + pause)
        now = now + pause
        #expect(throttle.pause(at: now) == nil)
      }
      throttle.failed(kind, retryAfter: 100, now: now, jitter: 0)
      #expect(throttle.pause(at: now) == now + 100)
      throttle.succeeded()
      throttle.failed(kind, retryAfter: nil, now: now, jitter: 0)
      #expect(throttle.pause(at: now) == now + 1)
    }
  }

  @Test func `a token does not outlive the one that it was exchanged for, nor is it renewed then`() {
    let lifetime = TokenLifetime(expiresIn: 3600, refreshIn: nil, now: UnixTime(0), jitter: 0)
    #expect(lifetime.ending(by: UnixTime(4000)) == lifetime)
    let ended = lifetime.ending(by: UnixTime(600))
    #expect(ended.freshness(at: UnixTime(599)) == .fresh)
    #expect(ended.freshness(at: UnixTime(600)) == .expired)
  }

  @Test func `an application of many tenants asks in that of the token, by its id alone`() throws {
    let tenant = "c0a7050d-0000-4000-8000-000000000001"
    for name in ["common", "organizations", "consumers"] {
      let authority = try Authority("https://login.microsoftonline.com/\(name)")
      #expect(authority.isOfManyTenants)
      #expect(authority.ofTenant(tenant) == (try Authority("https://login.microsoftonline.com/\(tenant)")))
      #expect(authority.ofTenant("contoso.example") == nil)
      #expect(authority.ofTenant("../\(tenant)") == nil)
    }
    for text in ["https://login.microsoftonline.com/contoso.example", "https://id.example/realms/one"] {
      #expect(try Authority(text).ofTenant(tenant) == nil)
      #expect(try !Authority(text).isOfManyTenants)
    }
  }
}
