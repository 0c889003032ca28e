// Entries that stay text: they may differ in nothing from decoded ones.

import Bytes
import Testing
import Tokens

@Suite struct CacheEntryTests {
  typealias Fixture = CacheFixture

  /// One entry in equivalent spellings; the last ones are not plain.
  static let spellings = [
    #"{"secret":"AT","client_id":"c","home_account_id":"h","environment":"E.example","target":"A "#
      + #"b","expires_on":"1700003600","realm":"r","cached_at":"1","kid":null}"#,
    "{ \"realm\" :\t\"r\",\r\n\n\"kid\": null, \"secret\" : \"AT\" , \"client_id\": \"c\",\"home_account_id\":\n       "
      + "                 \"h\", \"environment\": \"E.example\", \"target\": \"A b\", \"cached_at\": \"1\", "
      + "\"expires_on\": \"1700003600\" }",
    #"{"secret":"old","client_id":"other","kid":"k","secret":"AT","client_id":"c","home_account_id":"h","#
      + #""environment":"E.example","target":"A b","expires_on":"1700003600","realm":"r","cached_at":"1","kid":null}"#,
    #"{"secret":"A\u0054","client_id":"c","home_account_id":"h","environment":"E.example","target":"A "#
      + #"b","expires_on":"1700003600","realm":"r","cached_at":"1","kid":null}"#,
    #"{"secret":"AT","client_id":"c","home_account_id":"h","environment":"E.example","target":"A "#
      + #"b","expires_on":1700003600,"realm":"r","cached_at":1.5,"kid":null}"#,
    #"{"secret":"AT","client_i\u0064":"c","home_account_id":"h","environment":"E.example","target":"A "#
      + #"b","expires_on":"1700003600","realm":"r","cached_at":"1","kid":null,"x":"é"}"#,
  ]

  @Test func `of a section that occurs twice the last one counts, even if it is no object`() throws {
    let document = try Fixture.document(#"{"AccessToken": {"k": {"secret": "s"}}, "AccessToken": []}"#)
    #expect(document[.accessToken].isEmpty)
    #expect(try CacheDocument(text: document.text()).text() == document.text())
  }

  @Test(arguments: spellings)
  func `an entry is found by what it says, however it is spelled`(entry: String) throws {
    let document = try Fixture.document("{\"AccessToken\": {\"k\": \(entry)}}")
    let query = CacheQuery(environments: ["e.example"], realm: "r", clientID: "c", homeAccountID: "h")
    let token = try #require(document.accessToken(query, scopes: try ScopeSet(parameter: "a B"), now: Fixture.now))
    #expect(token.secret == Secret("AT"))
    #expect(token.isPlainBearer)
    #expect(token.environment == "e.example")
    let stored = try #require(document[.accessToken]["k"])
    #expect(stored["client_id"] == "c" && stored["kid"] == nil && stored["secret"] == nil && stored["nothing"] == nil)
    #expect(
      try Fixture.document("{\"AccessToken\": {\"k\": \(Self.spellings[0])}}")[.accessToken]["k"]?["target"] == "A b")
    for other in ["", "C", "cc"] {
      var query = query
      query.clientID = other
      #expect(document.accessToken(query, scopes: try ScopeSet(parameter: "A"), now: Fixture.now) == nil)
    }
  }

  @Test func `an unchanged entry is written byte for byte, beside a changed one`() throws {
    let foreign = "{\n\"secret\": \"x\"   ,\"n\":  null,\"home_account_id\":\"somebody\"}"
    var document = try Fixture.document("{\"RefreshToken\": {\"f\": \(foreign), \"f\\\"2\": {\"n\": 1e2}}}")
    document.add(try Fixture.issued("AT", scopes: "A", refreshToken: "RT"), now: Fixture.now)
    let text = String(decoding: document.text(), as: UTF8.self)
    #expect(text.contains("\"f\": " + foreign + ",\n"))
    #expect(text.contains("\"RT\""))
    let again = try CacheDocument(text: document.text())
    #expect(again.value == document.value)
    #expect(again[.refreshToken] == document[.refreshToken])
  }

  @Test func `a key or a section that occurs twice is one, and the last one counts`() throws {
    let document = try Fixture.document(
      """
      {"Account": {"a": {"home_account_id": "h1", "environment": "e", "username": "U"}, "b": 1,
                   "a": {"home_account_id": "h2", "environment": "e", "username": "V"}},
       "Account": {"b": {"home_account_id": "h3", "environment": "e", "username": "W"}, "a": {"environment": "e"}}}
      """)
    #expect(document.homeAccountIDs == ["h3"])
    let authority = try Authority("https://e/adfs")
    for (name, homes) in [("u", []), ("v", []), ("w", ["h3"])] {
      #expect(document.accounts(authority: authority, clientID: "c", named: name).map(\.homeAccountID) == homes)
    }
  }

  @Test func `every mistake is reported with its place when the text is read`() throws {
    let text = Array(
      ("{\"RefreshToken\": {\"k\": {\"secret\": \"0123456789abcdef\",\n  \"n\": null, \"x\": \"\"}}, \"Account\": "
        + "{\"é\": {}}}").utf8)
    _ = try CacheDocument(text: text)
    func problem(_ text: [UInt8]) -> JSONTextError? {
      do throws(JSONTextError) {
        _ = try JSONValue(text: text)
        return nil
      } catch {
        return error
      }
    }
    for end in 1..<text.count {
      let error = try #require(problem(Array(text[..<end])))
      #expect(throws: CacheDocumentError.text(error), "\(end)") { try CacheDocument(text: Array(text[..<end])) }
    }
    for index in text.indices.dropFirst() {
      for byte in [0x00, 0x0A, 0x20, 0x22, 0x2C, 0x3A, 0x5C, 0x6E, 0x7B, 0x7D, 0x80, 0xFF] as [UInt8] {
        var changed = text
        changed[index] = byte
        if let error = problem(changed) {
          #expect(throws: CacheDocumentError.text(error), "\(index) \(byte)") { try CacheDocument(text: changed) }
        } else {
          let document = try CacheDocument(text: changed)
          #expect(document.value == JSONValue(json: changed), "\(index) \(byte)")
        }
      }
    }
  }

  @Test func `a document that was changed leaves its copies as they were`() throws {
    var document = CacheDocument()
    document.add(try Fixture.issued("AT", scopes: "A", refreshToken: "RT-1"), now: Fixture.now)
    let read = try CacheDocument(text: document.text())
    var changed = read
    let held = try #require(read.refreshTokens(Fixture.query()).first)
    changed.rotate(held, to: Secret("RT-2"), obtainedAt: Fixture.now + 1)
    changed.removeAccount(home: "nobody", environments: [Fixture.host], clientID: Fixture.client)
    #expect(read.refreshTokens(Fixture.query()).map(\.secret) == [Secret("RT-1")])
    #expect(changed.refreshTokens(Fixture.query()).map(\.secret) == [Secret("RT-2")])
    #expect(read.text() == document.text())
  }
}
