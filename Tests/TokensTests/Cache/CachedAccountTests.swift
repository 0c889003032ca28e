import Bytes
import Testing
import Tokens

@Suite struct CachedAccountTests {
  private static func accounts() throws -> [CachedAccount] {
    let rows: [(home: String, realm: String, local: JSONValue, username: String, host: String)] = [
      ("a.t1", "t1", .string("a"), "Alice@contoso.example", "login.microsoftonline.com"),
      ("a.t1", "t2", .string("guest-a"), "alice_contoso#EXT#@fabrikam.example", "sts.windows.net"),
      ("b.t2", "t2", .null, "bob@fabrikam.example", "login.microsoftonline.com"),
      ("c.t3", "t3", .string("c"), "carol@elsewhere.example", "id.example"),
      ("", "t3", .string("d"), "nobody@elsewhere.example", "login.microsoftonline.com"),
    ]
    let entries = rows.enumerated().map { index, row -> (String, JSONValue) in
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
      .accounts(environments: EntraCloud.global.hosts)
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
    let choice = AccountChoice(try Self.accounts(), named: name)
    guard let home else {
      #expect(choice == .none)
      return
    }
    guard case .chosen(let account) = choice else {
      Issue.record("\(choice)")
      return
    }
    #expect(account.homeAccountID == home)
  }

  @Test func `without a name the only account is meant, never one of several`() throws {
    let accounts = try Self.accounts()
    #expect(AccountChoice(accounts, named: nil) == .ambiguous(accounts))
    #expect(AccountChoice([accounts[0]], named: nil) == .chosen(accounts[0]))
    #expect(AccountChoice([], named: nil) == .none)
    var twin = accounts[1]
    twin.homeAccountID = "other"
    #expect(AccountChoice([accounts[1], twin], named: "BOB@fabrikam.example") == .ambiguous([accounts[1], twin]))
  }
}
