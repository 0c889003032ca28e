import Bytes
import Testing
import Tokens

@Suite struct CachedAccountTests {
  private static func accounts() throws -> [CachedAccount] {
    try document().accounts(authority: Authority("https://login.microsoftonline.com/common"), clientID: "c")
  }

  /// The document of the first rows.
  private static func document(_ count: Int = 5) throws -> CacheDocument {
    let rows: [(home: String, realm: String, local: JSONValue, username: String, host: String)] = [
      ("a.t1", "t1", .string("a"), "Alice@contoso.example", "login.microsoftonline.com"),
      ("a.t1", "t2", .string("guest-a"), "alice_contoso#EXT#@fabrikam.example", "sts.windows.net"),
      ("b.t2", "t2", .null, "bob@fabrikam.example", "login.microsoftonline.com"),
      ("c.t3", "t3", .string("c"), "carol@elsewhere.example", "id.example"),
      ("", "t3", .string("d"), "nobody@elsewhere.example", "login.microsoftonline.com"),
      ("other", "t2", .null, "bob@fabrikam.example", "login.microsoftonline.com"),
    ]
    let entries = rows.prefix(count).enumerated().map { index, row -> (String, JSONValue) in
      (
        "key-\(index)",
        .object([
          "home_account_id": .string(row.home), "realm": .string(row.realm), "local_account_id": row.local,
          "username": .string(row.username), "environment": .string(row.host),
        ])
      )
    }
    let root = JSONValue.object(["Account": .object(Dictionary(uniqueKeysWithValues: entries))])
    return try CacheDocument(text: Array(root.canonicalText().utf8))
  }

  @Test func `guest-account: a person in two tenants is one account, named as at home`() throws {
    let accounts = try Self.accounts()
    #expect(accounts.map(\.homeAccountID) == ["a.t1", "b.t2"])
    #expect(accounts[0].username == "Alice@contoso.example")
    #expect(accounts[0].realms == ["t1", "t2"])
    #expect(accounts[0].tenants == ["t1", "t2"])
    #expect(accounts[0].localAccountIDs == ["a", "guest-a"])
    #expect(accounts[1].localAccountIDs.isEmpty)
  }

  @Test(arguments: ["common", "organizations", "consumers"])
  func `a sign-in without a tenant is shown with the person's own tenant`(realm: String) throws {
    var document = CacheDocument()
    document.add(try CacheFixture.issued("AT", scopes: "A", realm: realm), now: CacheFixture.now)
    let authority = try Authority("https://login.microsoftonline.com/\(realm)")
    let person = try #require(document.signedInAccounts(at: authority, clientID: CacheFixture.client).first)
    #expect(person.account.realms == [realm])
    #expect(person.account.tenants == [CacheFixture.realm])
    #expect(person.tokens.map(\.tenant) == [CacheFixture.realm])
  }

  @Test(
    arguments: [
      ("alice@CONTOSO.example", "a.t1"), ("a.t1", "a.t1"), ("a", "a.t1"), ("guest-a", "a.t1"),
      ("bob@fabrikam.example", "b.t2"), ("alice_contoso#ext#@fabrikam.example", "a.t1"),
      ("carol@elsewhere.example", nil),
      ("", nil), ("A.T1", nil),
    ] as [(String, String?)])
  func `a name means an account or none`(name: String, home: String?) throws {
    let meant = try Self.accounts().filter { $0.isCalled(name) }
    #expect(meant.map(\.homeAccountID) == (home.map { [$0] } ?? []))
  }

  @Test func `without a name the only account is meant, never one of several`() throws {
    let authority = try Authority("https://login.microsoftonline.com/common")
    for (accounts, name, reason) in [
      (5, nil, .accountAmbiguous), (2, nil, .noTokens), (0, nil, .noAccount),
      (6, "BOB@fabrikam.example", .accountAmbiguous),
    ] as [(Int, String?, InteractionReason)] {
      let key = AcquisitionKey(
        authority: authority, clientID: "c", credential: CredentialVersion(0), subject: .account(name),
        scopes: try ScopeSet(["A"]), claims: nil)
      let lookup = try Self.document(accounts).lookup(for: key, realm: nil, now: UnixTime(0))
      #expect(lookup.grant.reason == reason)
      #expect(lookup.account?.homeAccountID == (reason == .noTokens ? "a.t1" : nil))
    }
  }
}
