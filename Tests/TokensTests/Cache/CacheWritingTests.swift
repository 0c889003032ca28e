import Bytes
import Testing
import Tokens

@Suite struct CacheWritingTests {
  typealias Fixture = CacheFixture

  @Test func `unknown-preserved: unknown members are written back`() throws {
    let json = """
      {"AccessToken": {"k": {"secret": "AT", "x_vendor": {"a": [1, 2.5, null]}, "n": 7}, "odd": 3},
       "Vendor": {"x": [true]}, "IdToken": null, "RefreshToken": {"r": "text"}}
      """
    let document = try Fixture.document(json)
    #expect(document.value == JSONValue(json: Array(json.utf8)))
    #expect(document[.accessToken].count == 1)
  }

  @Test func `an empty text is an empty cache, another is refused with its place`() throws {
    #expect(try Fixture.document(" \n").text() == Array("{}".utf8))
    #expect(try Fixture.document("{}").text() == Array("{}".utf8))
    #expect(throws: CacheDocumentError.notAnObject) { try Fixture.document("[]") }
    #expect(throws: CacheDocumentError.notAnObject) { try Fixture.document("null") }
    #expect(throws: CacheDocumentError.text(JSONTextError(problem: .end, line: 2, column: 14))) {
      try Fixture.document("{\n\"AccessToken\"")
    }
    #expect(throws: CacheDocumentError.text(JSONTextError(problem: .end, line: 1, column: 3))) {
      try Fixture.document("\"x")
    }
  }

  @Test func `the text is indented ASCII in a stable order`() throws {
    let document = try Fixture.document(#"{"Account": {"b": {"username": "é😀"}, "a": {}}, "AccessToken": {}}"#)
    let expected = #"""
      {
          "Account": {
              "a": {},
              "b": {
                  "username": "\u00e9\ud83d\ude00"
              }
          }
      }
      """#
    #expect(String(decoding: document.text(), as: UTF8.self) == expected)
  }

  @Test func `merge-on-add: a newer reply goes over an entry and keeps what only that one has`() throws {
    var document = CacheDocument()
    let first = try Fixture.issued(
      "AT-1", scopes: "A", refreshToken: "RT-1", extra: #", "foci": "1", "refresh_in": 1800"#)
    let isFirstFiled = document.add(first, now: Fixture.now)
    #expect(isFirstFiled)
    // Another library's members.
    let text = String(decoding: document.text(), as: UTF8.self).replacing(
      #""credential_type""#, with: #""x_vendor": "keep", "credential_type""#)
    document = try Fixture.document(text)
    let isSecondFiled = document.add(
      try Fixture.issued("AT-2", scopes: "a", refreshToken: "RT-2"), now: Fixture.now + 10)
    #expect(isSecondFiled)

    let token = try #require(document[.accessToken].values.first)
    #expect(document[.accessToken].count == 1)
    #expect(token["x_vendor"] == "keep")
    #expect(token.secret == Secret("AT-2"))
    #expect(token["target"] == "a")
    #expect(token["cached_at"] == "1700000010")
    #expect(token["refresh_on"] == nil)
    let refresh = try #require(document[.refreshToken].values.first)
    #expect(refresh.secret == Secret("RT-2"))
    #expect(refresh["family_id"] == "1")
    #expect(document[.appMetadata].values.first?["family_id"] == "1")
  }

  @Test
  func `no-null-timestamps, refresh-in-becomes-refresh-on, expires-forms: every instant is written as decimal text`()
    throws
  {
    var document = CacheDocument()
    let extra = #", "refresh_in": 1800, "ext_expires_in": 7200"#
    document.add(try Fixture.issued("AT", scopes: "A", refreshToken: "RT", extra: extra), now: Fixture.now)
    let token = try #require(document[.accessToken].values.first)
    #expect(token["cached_at"] == "1700000000")
    #expect(token["expires_on"] == "1700003600")
    #expect(token["extended_expires_on"] == "1700007200")
    #expect(token["refresh_on"] == "1700001800")
    #expect(document[.refreshToken].values.first?["last_modification_time"] == "1700000000")
  }

  @Test(
    arguments: [
      ("B C", [:], false), ("b", [:], false), ("C D", [:], true), ("C openid profile", [:], true),
      ("A", ["realm": .string("other")], true), ("A", ["client_id": .string("other")], true),
      ("A", ["home_account_id": .null], true), ("A", ["environment": .string("sts.windows.net")], false),
      ("A", ["environment": .string("id.example")], true), ("A", ["kid": .string("k")], true),
      ("A", ["ext_cache_key": .string("x")], true), ("A", ["expires_on": .string("0")], false),
    ] as [(String, [String: JSONValue], Bool)])
  func `intersecting-scopes: a token that shares a resource's scope with a new one of the same owner goes`(
    target: String, members: [String: JSONValue], stays: Bool
  ) throws {
    var document = try Fixture.document(accessTokens: [Fixture.accessTokenEntry("old", target: target, members)])
    document.add(try Fixture.issued("new", scopes: "A B openid profile"), now: Fixture.now)
    #expect((document[.accessToken]["KEY-0"] != nil) == stays)
    #expect(try document.found(Fixture.query(), "A") == "new")
  }

  @Test
  func
    `no-user-token-as-app-token, add-app-only: tokens of people without a person are not filed`()
    throws
  {
    var document = CacheDocument()
    let isPersonsFiled = document.add(
      try Fixture.issued("AT", scopes: "A", uid: nil, refreshToken: "RT"), now: Fixture.now)
    #expect(!isPersonsFiled)
    #expect(document.text() == Array("{}".utf8))
    let own = try Fixture.issued("AT-app", scopes: "A", uid: nil, refreshToken: "RT", grantType: "client_credentials")
    let isOwnFiled = document.add(own, now: Fixture.now)
    #expect(isOwnFiled)
    #expect(try document.found(Fixture.query(nil), "A") == "AT-app")
    #expect(try document.found(Fixture.query(), "A") == nil)
    #expect(document[.refreshToken].isEmpty && document[.account].isEmpty)
  }

  @Test(
    arguments: [
      // The repeated write's time, the date of the other process's token, the time of the repetition.
      (0, 10, 20, "theirs"), (0, 20, 20, "theirs"), (10, 0, 20, "ours"), (10, 10, 20, "ours"), (0, 0, 0, "ours"),
      // A clock that is ahead.
      (0, 300, 20, "ours"), (0, 300, 0, "ours"),
    ] as [(Int64, Int64, Int64, String)])
  func `a repeated write that comes late replaces no token that another process has stored since`(
    arrival: Int64, other: Int64, repetition: Int64, stays: String
  ) throws {
    for (mine, theirs) in [("A", "A"), ("A B", "A C")] {
      for uid in [nil, "uid-a"] {
        let grant = uid == nil ? "client_credentials" : "authorization_code"
        var document = CacheDocument()
        document.add(
          try Fixture.issued("theirs", scopes: theirs, uid: uid, refreshToken: "theirs", grantType: grant),
          now: Fixture.now + other)
        document.add(
          try Fixture.issued("ours", scopes: mine, uid: uid, refreshToken: "ours", grantType: grant),
          now: Fixture.now + arrival, at: Fixture.now + repetition)
        #expect(document[.accessToken].values.map { $0.secret } == [Secret(stays)], "\(mine), \(theirs)")
        guard uid != nil, mine == theirs else { continue }
        #expect(document[.refreshToken].values.map { $0.secret } == [Secret(stays)])
      }
    }
  }

  @Test(
    arguments: [
      // The other token's scopes, the time of the repetition, and the life of the repeated write's token.
      ("C", 300, 3600, ["ours", "theirs"]), ("A B", 4000, 7200, ["ours"]),
      // It has ended itself.
      ("A B", 4000, 3600, ["theirs"]), ("C", 3600, 3600, ["theirs"]), ("C", 3599, 3600, ["ours", "theirs"]),
    ] as [(String, Int64, Int64, [String])])
  func `a repeated write that comes late is stored beside other scopes, and in the place of what has ended`(
    target: String, repetition: Int64, life: Int64, stay: [String]
  ) throws {
    var document = CacheDocument()
    let own = { try Fixture.issued($0, scopes: $1, uid: nil, expiresIn: $2, grantType: "client_credentials") }
    document.add(try own("theirs", target, 3600), now: Fixture.now + 10)
    document.add(try own("ours", "A B", life), now: Fixture.now, at: Fixture.now + repetition)
    #expect(document[.accessToken].values.compactMap { $0.secret?.revealed() }.sorted() == stay)
  }

  @Test func `concurrent-signout: a refresh that ends after the sign-out files nothing`() throws {
    var document = CacheDocument()
    document.add(try Fixture.issued("AT-1", scopes: "A", refreshToken: "RT-1"), now: Fixture.now)
    let redeemed = try #require(document.refreshTokens(Fixture.query()).first)
    document.removeAccount(home: Fixture.home, environments: [Fixture.host], clientID: Fixture.client)
    let renewed = try Fixture.issued(
      "AT-2", scopes: "A", refreshToken: "RT-2", grantType: "refresh_token", isSignIn: false)
    let isFiled = document.add(renewed, now: Fixture.now + 5)
    #expect(!isFiled)
    document.rotate(redeemed, to: Secret("RT-2"), obtainedAt: Fixture.now + 5)
    #expect(document[.accessToken].isEmpty && document[.refreshToken].isEmpty && document[.account].isEmpty)
  }

  // A newer token is never replaced by an older one.
  @Test(
    arguments: [
      ("RT-1", "100", 200, "RT-2"), ("RT-1", "300", 200, "RT-2"), ("RT-x", "150", 200, "RT-2"),
      ("RT-x", "200", 200, "RT-x"),
      ("RT-x", "300", 200, "RT-x"), ("RT-x", nil, 200, "RT-x"),
    ] as [(String, String?, Int64, String)])
  func
    `rt-kept-when-absent, rt-under-foreign-key: a rotated token replaces the one redeemed, or an older one`(
      stored: String, modifiedAt: String?, obtainedAt: Int64, expected: String
    ) throws
  {
    func document(_ secret: String, _ modified: String?) throws -> CacheDocument {
      var entry: [String: JSONValue] = [
        "secret": .string(secret), "home_account_id": .string(Fixture.home), "environment": .string(Fixture.host),
        "client_id": .string(Fixture.client), "x_vendor": .string("keep"),
      ]
      entry["last_modification_time"] = modified.map(JSONValue.string)
      return try Fixture.document(
        JSONValue.object(["RefreshToken": .object(["FOREIGN-KEY": .object(entry)])]).canonicalText())
    }
    let redeemed = try #require(try document("RT-1", "100").refreshTokens(Fixture.query()).first)
    var stored = try document(stored, modifiedAt)
    stored.rotate(redeemed, to: Secret("RT-2"), obtainedAt: UnixTime(obtainedAt))
    let entry = try #require(stored[.refreshToken]["FOREIGN-KEY"])
    #expect(stored[.refreshToken].count == 1)
    #expect(entry.secret == Secret(expected))
    #expect(entry["x_vendor"] == "keep")
    // A time that another machine's clock has set does not go back: otherwise the newest would be tried after older
    // ones.
    if expected == "RT-2" {
      #expect(entry["last_modification_time"] == "\(max(obtainedAt, modifiedAt.flatMap(Int64.init) ?? 0))")
    }
  }

  @Test func `every copy of a redeemed token is replaced, other tokens of the account are not`() throws {
    var document = CacheDocument()
    document.add(try Fixture.issued("AT", scopes: "A", refreshToken: "RT-1"), now: Fixture.now)
    document.add(try Fixture.issued("AT", scopes: "B", refreshToken: "RT-1"), now: Fixture.now + 1)
    document.add(try Fixture.issued("AT", scopes: "C", refreshToken: "RT-other"), now: Fixture.now + 2)
    let redeemed = try #require(document.refreshTokens(Fixture.query()).last)
    #expect(redeemed.secret == Secret("RT-1"))
    document.rotate(redeemed, to: Secret("RT-2"), obtainedAt: Fixture.now + 3)
    #expect(document.refreshTokens(Fixture.query()).map { $0.secret.revealed() } == ["RT-2", "RT-2", "RT-other"])
  }

  @Test func `bad-token: a condemned token is dropped with its copies, and only while it is the stored one`() throws {
    var document = CacheDocument()
    document.add(try Fixture.issued("AT", scopes: "A", refreshToken: "RT-1"), now: Fixture.now)
    document.add(try Fixture.issued("AT", scopes: "B", refreshToken: "RT-1"), now: Fixture.now)
    let sent = try #require(document.refreshTokens(Fixture.query()).first)
    var rotated = document
    rotated.rotate(sent, to: Secret("RT-2"), obtainedAt: Fixture.now + 1)
    rotated.drop(sent)
    #expect(rotated.refreshTokens(Fixture.query()).map { $0.secret.revealed() } == ["RT-2", "RT-2"])
    document.drop(sent)
    #expect(document.refreshTokens(Fixture.query()).isEmpty)
  }

  @Test
  func `remove-account, remove-family, remove-app-tokens: signing out takes the account's tokens, not those of others`()
    throws
  {
    var document = CacheDocument()
    let family = #", "foci": "1""#
    document.add(try Fixture.issued("a", scopes: "A", refreshToken: "RT-a", extra: family), now: Fixture.now)
    document.add(try Fixture.issued("b", scopes: "B", uid: "uid-b", refreshToken: "RT-b"), now: Fixture.now)
    document.add(
      try Fixture.issued("f", scopes: "F", refreshToken: "RT-family", extra: family, client: "sibling"),
      now: Fixture.now)
    document.add(try Fixture.issued("o", scopes: "O", refreshToken: "RT-other", client: "other"), now: Fixture.now)
    document.add(try Fixture.issued("app", scopes: "P", uid: nil, grantType: "client_credentials"), now: Fixture.now)
    document.removeAccount(home: Fixture.home, environments: [Fixture.host], clientID: Fixture.client)
    #expect(Set(document[.accessToken].values.compactMap { $0.secret?.revealed() }) == ["b", "app"])
    #expect(Set(document[.refreshToken].values.compactMap { $0.secret?.revealed() }) == ["RT-b", "RT-other"])
    #expect(document.homeAccountIDs == ["uid-b.\(Fixture.realm)"])
    #expect(document[.appMetadata].count == 3)
  }

  @Test func `no description of a document holds a secret`() throws {
    var document = CacheDocument()
    document.add(
      try Fixture.issued(
        "AT-secret", scopes: "A", refreshToken: "RT-secret", extra: #", "id_token": "e30.e30.IT-secret""#),
      now: Fixture.now)
    var shown = "\(document) \(document.refreshTokens(Fixture.query()))"
    dump(document, to: &shown)
    #expect(!shown.contains("-secret"))
    #expect(String(decoding: document.text(), as: UTF8.self).contains("RT-secret"))
  }
}
