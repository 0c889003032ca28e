import Bytes
import Testing
import Tokens

@Suite struct SignedInAccountTests {
  private static let now = UnixTime(1_700_000_000)

  private static func document(_ sections: String) throws -> CacheDocument {
    try CacheDocument(text: Array(sections.utf8))
  }

  private static func account(_ home: String, _ name: String, _ environment: String) -> String {
    #""a-\#(home)-\#(environment)": {"home_account_id": "\#(home)", "environment": "\#(environment)", "realm": "t1", "#
      + #""username": "\#(name)"}"#
  }

  private static func token(
    _ home: String, _ target: String, _ expires: Int64, client: String = "c", more: String = "",
    environment: String = "login.windows.net"
  ) -> String {
    """
    "\(home)-\(target)-\(client)-\(environment)": {"secret": "AT", "home_account_id": "\(home)", "environment": \
    "\(environment)",
      "client_id": "\(client)", "realm": "t1", "target": "\(target)", "expires_on": "\(expires)"\(more)}
    """
  }

  @Test func `each person has tenants and the application's tokens, usable or not, and never a token`() throws {
    let document = try Self.document(
      """
      {"Account": {\(Self.account("u.t", "alice@c.example", "login.windows.net")),
                   \(Self.account("v.t", "bob@c.example", "login.microsoftonline.com"))},
       "AccessToken": {\(Self.token("u.t", "Mail.Read User.Read", 1_700_000_001)), \
      \(Self.token("u.t", "A.Read", 1_700_000_000)),
                       \(Self.token("u.t", "B.Read", 1_800_000_000, client: "d")),
                       \(Self.token("u.t", "C.Read", 1_800_000_000, more: #", "ext_cache_key": "x""#))},
       "RefreshToken": {"r": {"secret": "RT", "home_account_id": "u.t", "environment": "login.windows.net", \
      "client_id": "c"}}}
      """)
    let authority = try Authority("https://login.microsoftonline.com/common")
    let found = document.signedInAccounts(at: authority, clientID: "c")
    #expect(found.map(\.account.username) == ["alice@c.example", "bob@c.example"])
    #expect(found[0].tokens.map { $0.scopes.joined(separator: " ") } == ["A.Read", "Mail.Read User.Read"])
    #expect(found[0].tokens.map { $0.isUsable(at: Self.now) } == [false, true])
    #expect(found.map(\.canRefresh) == [true, false])
    #expect(found[1].tokens.isEmpty)
    #expect(document.environment(ofAccount: "u.t", at: authority) == "login.windows.net")
    #expect(document.environment(ofAccount: "v.t", at: authority) == "login.microsoftonline.com")
    #expect(document.environment(ofAccount: "w.t", at: authority) == "login.microsoftonline.com")
    #expect(document.environment(ofAccount: nil, at: authority) == "login.microsoftonline.com")
    #expect(document.signedInAccounts(at: try Authority("https://login.microsoftonline.us/t"), clientID: "c").isEmpty)
  }

  @Test func `of two issuers on one host, each has its own people and tokens`() throws {
    func idToken(_ home: String, _ issuer: String) -> String {
      let claims = Base64URL.encode(Array(#"{"iss":"\#(issuer)","sub":"\#(home)"}"#.utf8))
      return
        #""i-\#(home)": {"secret": "e30.\#(claims).e30", "home_account_id": "\#(home)", "environment": "idp.example", "#
        + #""client_id": "c"}"#
    }
    let alpha = try Authority("https://idp.example/realms/alpha")
    let named = #", "ext_cache_key": "https://idp.example/realms/alpha""#
    let document = try Self.document(
      """
      {"Account": {\(Self.account("a", "ann", "idp.example")), \(Self.account("b", "ben", "idp.example"))},
       "IdToken": {\(idToken("a", "https://idp.example/realms/alpha")), \
      \(idToken("b", "https://idp.example/realms/beta"))},
       "AccessToken": {\(Self.token("a", "x", 1, environment: "idp.example")),
          \(Self.token("a", "y", 1, more: named, environment: "idp.example"))}}
      """)
    let found = document.signedInAccounts(at: alpha, clientID: "c")
    #expect(found.map(\.account.username) == ["ann"])
    #expect(found[0].tokens.map(\.scopes) == [["y"]])
  }

  @Test(arguments: [
    ("https://login.microsoftonline.com/common", "login.microsoftonline.com", nil),
    ("https://sts.windows.net/t", "sts.windows.net", nil),
    ("https://westus.login.microsoft.com/t", "login.microsoftonline.com", nil),
    ("https://fs.example/adfs", "fs.example", nil), ("https://t.b2clogin.com/t/b2c_1", "t.b2clogin.com", nil),
    ("https://ID.example:8443/realms/a/", "https://id.example:8443/realms/a", "https://id.example:8443/realms/a"),
  ])
  func `an authority has one host for new entries, and strangers are kept apart`(
    text: String, environment: String, isolation: String?
  ) throws {
    let authority = try Authority(text)
    #expect(authority.environment == environment)
    #expect(authority.isolation == isolation)
    #expect(authority.accountAuthority == (authority.kind == .adfs ? .federationServices : .standard))
  }
}
