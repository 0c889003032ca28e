import Bytes
import Testing
import Tokens

@Suite struct CacheLookupTests {
  typealias Fixture = CacheFixture

  @Test(
    arguments: [
      ("A", "exact"), ("a", "exact"), ("B", "wide"), ("A B", "wide"), ("b a", "wide"), ("C", nil), ("A C", nil),
      ("D", "longest"), ("", "exact"),
    ] as [(String, String?)])
  func
    `exact-before-superset, scope-subset-case: the narrowest token with the scopes is found, then the longest-lived`(
      scopes: String, found: String?
    ) throws
  {
    let document = try Fixture.document(accessTokens: [
      Fixture.accessTokenEntry("wide", target: "A B X"), Fixture.accessTokenEntry("exact", target: "A"),
      Fixture.accessTokenEntry("shorter", target: "D E", ["expires_on": .string("1700003599")]),
      Fixture.accessTokenEntry("longest", target: "D F", ["expires_on": .string("1700003600")]),
    ])
    #expect(try document.found(Fixture.query(), scopes) == found)
  }

  // Libraries store scopes that describe the sign-in beside the others, or do not.
  @Test func `exact-before-superset: openid and the like make no token wider`() throws {
    let document = try Fixture.document(accessTokens: [
      Fixture.accessTokenEntry("wide", target: "A B"),
      Fixture.accessTokenEntry("exact", target: "A offline_access openid profile"),
    ])
    #expect(try document.found(Fixture.query(), "A") == "exact")
    #expect(try document.found(Fixture.query(), "A B") == "wide")
  }

  @Test func `scope-case-collision: of two targets that differ in case one entry is left, and found in any case`()
    throws
  {
    var document = CacheDocument()
    document.add(try Fixture.issued("AT-1", scopes: "User.Read"), now: Fixture.now)
    document.add(try Fixture.issued("AT-2", scopes: "user.read"), now: Fixture.now)
    #expect(document[.accessToken].count == 1)
    for scopes in ["User.Read", "user.read", "USER.READ"] {
      #expect(try document.found(Fixture.query(), scopes) == "AT-2")
    }
  }

  @Test func `legacy-keys: entries under an older library's keys are found by their members`() throws {
    var entries: [String: JSONValue] = [:]
    entries["\(Fixture.home)-\(Fixture.host)-ACCESSTOKEN-\(Fixture.client)-\(Fixture.realm)-A".uppercased()] =
      Fixture.accessTokenEntry("AT", target: "A")
    let refresh = JSONValue.object([
      "secret": .string("RT"), "home_account_id": .string(Fixture.home), "environment": .string(Fixture.host),
      "client_id": .string(Fixture.client),
    ])
    let document = try Fixture.document(
      JSONValue.object(["AccessToken": .object(entries), "RefreshToken": .object(["RT.KEY": refresh])]).canonicalText())
    #expect(try document.found(Fixture.query(), "A") == "AT")
    #expect(document.refreshTokens(Fixture.query()).map { $0.secret.revealed() } == ["RT"])
  }

  // Every row differs in one way from a token that is found.
  @Test(
    arguments: [
      ([:], true), (["token_type": .string("bearer")], true), (["token_type": .null], true),
      (["kid": .string("")], true),
      (["expires_on": .integer(1_700_003_600)], true), (["cached_at": .integer(1_699_999_000)], true),
      (["cached_at": .null], true), (["environment": .string("LOGIN.microsoftonline.com")], true),
      (["x_vendor": .array([])], true),
      (["token_type": .string("ssh-cert")], false), (["token_type": .string("pop")], false),
      (["key_id": .string("k")], false), (["keyid": .string("k")], false), (["kid": .string("k")], false),
      (["ext_cache_key": .string("x")], false), (["ext": .object(["a": .string("b")])], false),
      (["requested_claims": .string("{}")], false), (["user_assertion_hash": .string("h")], false),
      (["expires_on": .null], false), (["expires_on": .string("abc")], false),
      (["expires_on": .string("1700000000")], false),
      (["expires_on": .string("1699999999")], false), (["cached_at": .string("1700000001")], false),
      (["target": .null], false), (["target": .integer(1)], false), (["target": .string("other")], false),
      (["secret": .string("")], false), (["secret": .null], false), (["secret": .string("<tombstone>")], false),
      (["realm": .string("organizations")], false), (["environment": .string("sts.windows.net")], false),
      (["client_id": .string("other")], false), (["home_account_id": .string("uid-b.x")], false),
      (["home_account_id": .null], false),
    ] as [([String: JSONValue], Bool)])
  func `key-id-and-ext, odd-values: only a plain, valid bearer token of the owner, tenant and host is found`(
    members: [String: JSONValue], isFound: Bool
  ) throws {
    let document = try Fixture.document(accessTokens: [Fixture.accessTokenEntry("AT", target: "A", members)])
    #expect(try (document.found(Fixture.query(), "A") == "AT") == isFound)
    // The entry is kept as it was.
    #expect(document.value == (try Fixture.document(document.value.canonicalText())).value)
    let entry = document.value.members?["AccessToken"]?.members?["KEY-0"]
    #expect(entry == Fixture.accessTokenEntry("AT", target: "A", members))
  }

  @Test func `alias, dotnet-document: tokens of another host of the same cloud are found`() throws {
    let document = try Fixture.document(
      """
      {"AccessToken": {"uid-a.\(Fixture.realm)-login.windows.net-accesstoken-x": {"credential_type": "AccessToken",
        "secret": "AT-net", "home_account_id": "\(Fixture.home)", "environment": "login.windows.net",
        "client_id": "\(Fixture.client)", "target": "User.Read openid", "realm": "\(Fixture.realm)",
        "cached_at": "1699999000", "expires_on": "1700003600", "ext_expires_on": "1700003600"}},
       "RefreshToken": {"uid-a.\(Fixture.realm)-login.windows.net-refreshtoken-x--": {"secret": "RT-net",
        "credential_type": "RefreshToken", "home_account_id": "\(Fixture.home)", "environment": "login.windows.net",
        "client_id": "\(Fixture.client)"}}}
      """)
    let aliases = try Authority("https://login.microsoftonline.com/x").environments
    #expect(try document.found(Fixture.query(environments: aliases), "user.read") == "AT-net")
    #expect(document.refreshTokens(Fixture.query(environments: aliases)).map(\.environment) == ["login.windows.net"])
    #expect(try document.found(Fixture.query(), "User.Read") == nil)
  }

  @Test
  func `several-rts, go-document, family-key: refresh tokens are tried newest first, the own ones before the family's`()
    throws
  {
    func entry(_ secret: String, _ members: [String: JSONValue]) -> (String, JSONValue) {
      (
        "key-\(secret)",
        .object(
          [
            "secret": .string(secret), "home_account_id": .string(Fixture.home), "environment": .string(Fixture.host),
            "client_id": .string(Fixture.client),
          ].merging(members) { $1 })
      )
    }
    let entries = [
      entry("old", ["last_modification_time": .string("100")]), entry("new", ["last_modification_time": .integer(300)]),
      entry("ageless", [:]), entry("fractional", ["last_modification_time": .string("200.5")]),
      entry(
        "sibling",
        ["client_id": .string("other"), "family_id": .string("1"), "last_modification_time": .string("900")]),
      entry("stranger", ["client_id": .string("other"), "last_modification_time": .string("900")]),
      entry("elsewhere", ["environment": .string("id.example")]), entry("somebody", ["home_account_id": .string("b")]),
      entry("<tombstone>", [:]),
    ]
    let root = JSONValue.object(["RefreshToken": .object(Dictionary(uniqueKeysWithValues: entries))])
    let document = try Fixture.document(root.canonicalText())
    let own = ["new", "fractional", "old", "ageless"]
    #expect(document.refreshTokens(Fixture.query()).map { $0.secret.revealed() } == own)
    #expect(document.refreshTokens(Fixture.query(), family: "1").map { $0.secret.revealed() } == own + ["sibling"])
    #expect(document.refreshTokens(Fixture.query(nil)).isEmpty)
  }

  // The access token belongs to the tenant, the refresh token does not.
  @Test func `realm-isolation: another tenant's access token is not found, its refresh token is`() throws {
    var document = CacheDocument()
    document.add(try Fixture.issued("AT", scopes: "A", refreshToken: "RT", realm: "organizations"), now: Fixture.now)
    #expect(try document.found(Fixture.query(realm: "organizations"), "A") == "AT")
    #expect(try document.found(Fixture.query(), "A") == nil)
    #expect(document.refreshTokens(Fixture.query()).map { $0.secret.revealed() } == ["RT"])
  }

  @Test func `two-issuers-one-host: two issuers on one host never see each other's tokens`() throws {
    var document = CacheDocument()
    let alpha = try Fixture.issued(
      "AT-alpha", scopes: "A", uid: nil, host: "idp.example", realm: "realms", grantType: "client_credentials",
      isolation: "https://idp.example/realms/alpha")
    let isFiled = document.add(alpha, now: Fixture.now)
    #expect(isFiled)
    func query(_ issuer: String?) -> CacheQuery {
      Fixture.query(nil, realm: "realms", environments: ["idp.example"], isolation: issuer)
    }
    #expect(try document.found(query("https://idp.example/realms/alpha"), "A") == "AT-alpha")
    #expect(try document.found(query("https://idp.example/realms/beta"), "A") == nil)
    #expect(try document.found(query(nil), "A") == nil)
  }

  @Test(
    arguments: [
      ("1699999000", nil, 3300), ("1699999000", "1700001000", 1000), (nil, nil, 3300), ("1700003500", nil, 3550),
      ("1699999000", "junk", 3300),
    ] as [(String?, String?, Int64)])
  func `a held token is renewed as a new one would be`(cachedAt: String?, refreshOn: String?, due: Int64) throws {
    var members: [String: JSONValue] = ["expires_on": .string("1700003600"), "cached_at": .null]
    members["cached_at"] = cachedAt.map(JSONValue.string) ?? .null
    members["refresh_on"] = refreshOn.map(JSONValue.string)
    let document = try Fixture.document(accessTokens: [Fixture.accessTokenEntry("AT", target: "A", members)])
    let late = UnixTime(1_700_003_550)
    let token = try #require(document.accessToken(Fixture.query(), scopes: try ScopeSet(["A"]), now: late))
    let lifetime = token.lifetime(jitter: 0)
    #expect(lifetime.refreshAt == Fixture.now + due)
    #expect(lifetime.expiresAt == Fixture.now + 3600)
  }
}
