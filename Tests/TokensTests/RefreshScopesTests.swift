import Bytes
import Testing
import Tokens

@Suite struct RefreshScopesTests {
  private typealias Fixture = CacheFixture
  private static let issuer = "https://id.example/realms/demo"

  /// Refresh tokens whose entries have these targets; nil is an entry without one. Later ones are newer.
  private static func tokens(_ targets: [String?]) throws -> [HeldRefreshToken] {
    let entries = targets.enumerated().map { index, target in
      var members: [String: JSONValue] = [
        "credential_type": .string("RefreshToken"), "secret": .string("RT-\(index)"),
        "home_account_id": .string(Fixture.home), "environment": .string(Fixture.host),
        "client_id": .string(Fixture.client), "last_modification_time": .string("\(1_700_000_000 + index)"),
      ]
      members["target"] = target.map(JSONValue.string)
      return ("KEY-\(index)", JSONValue.object(members))
    }
    let document = JSONValue.object(["RefreshToken": .object(Dictionary(uniqueKeysWithValues: entries))])
    return try Fixture.document(document.canonicalText()).refreshTokens(Fixture.query())
  }

  @Test(
    arguments: [
      // Granted scopes are requested, and the granted ones among the reserved scopes.
      ("orders.read", "orders.read openid profile offline_access", ["orders.read openid profile offline_access"]),
      ("orders.read", "orders.read openid profile", ["orders.read openid profile"]),
      ("orders.read", "orders.read orders.write", ["orders.read"]),
      ("orders.read", "Orders.Read OpenID", ["orders.read OpenID"]),
      // A grant that does not cover the wanted scopes adds only its reserved ones.
      ("stock.read", "orders.read openid", ["stock.read openid"]),
      // Nothing is known: MSAL's request, and then the bare scopes.
      ("orders.read", nil, ["orders.read openid profile offline_access", "orders.read"]),
      ("orders.read", "", ["orders.read openid profile offline_access", "orders.read"]),
      // No scope is named for a route without scopes.
      ("", "orders.read openid", [""]), ("", nil, [""]),
    ] as [(String, String?, [String])])
  func `a refresh asks for what was granted`(wanted: String, target: String?, asked: [String]) throws {
    let token = try #require(try Self.tokens([target]).first)
    let sets = token.scopesToRequest(try ScopeSet(parameter: wanted), at: try Authority(Self.issuer))
    #expect(sets == (try asked.map { try ScopeSet(parameter: $0) }))
  }

  @Test(arguments: [
    "https://login.microsoftonline.com/contoso.example", "https://contoso.b2clogin.com/contoso/b2c_1_in",
    "https://contoso.ciamlogin.com", "https://fs.example/adfs",
  ])
  func `Microsoft's providers are asked as every MSAL asks, whatever was granted`(authority: String) throws {
    let token = try #require(try Self.tokens(["User.Read"]).first)
    let sets = token.scopesToRequest(try ScopeSet(["Mail.Read"]), at: try Authority(authority))
    #expect(sets == [try ScopeSet(parameter: "Mail.Read offline_access openid profile")])
  }

  @Test(
    arguments: [
      // Newest first, in each kind.
      ("a", ["a openid", "a b", "b"], ["RT-1", "RT-0", "RT-2"]),
      ("b", ["a openid", nil, "c"], ["RT-1", "RT-2", "RT-0"]),
      ("A", ["a", "b"], ["RT-0", "RT-1"]), ("", ["a", "b"], ["RT-1", "RT-0"]),
    ] as [(String, [String?], [String])])
  func `the refresh token whose grant covers the scopes is tried first`(
    wanted: String, targets: [String?], order: [String]
  ) throws {
    let ordered = HeldRefreshToken.ordered(try Self.tokens(targets), for: try ScopeSet(parameter: wanted))
    #expect(ordered.map { $0.secret.revealed() } == order)
  }

  @Test func `a sign-in's refresh token has the granted scopes, or the requested ones if the reply has none`()
    throws
  {
    for (scope, target) in [(nil, "a b offline_access openid profile"), ("a openid", "a openid")] as [(String?, String)]
    {
      var document = CacheDocument()
      var issued = try Fixture.issued(
        "AT", scopes: "a", refreshToken: "RT", extra: scope.map { #", "scope": "\#($0)""# } ?? "")
      issued.authorized = try ScopeSet(parameter: "a b").decorated
      document.add(issued, now: Fixture.now)
      let token = try #require(document.refreshTokens(Fixture.query()).first)
      #expect(token.granted == (try ScopeSet(parameter: target)))
      #expect(try document.found(Fixture.query(), "a") == "AT")
    }
  }
}
