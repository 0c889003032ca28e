import Testing
import Tokens

@Suite struct ScopeSetTests {
  @Test(arguments: [
    (["b", "a", "B"], "B a b"),
    (["openid", "openid"], "openid"),
    ([], ""),
    (
      ["https://graph.microsoft.com/User.Read", "api://x/.default", "!"],
      "! api://x/.default https://graph.microsoft.com/User.Read"
    ),
  ])
  func `scope-sorting: words are sorted by code point, once each, joined by one space`(words: [String], target: String)
    throws
  {
    #expect(try ScopeSet(words).description == target)
  }

  @Test(arguments: ["", "a b", "a\"", "a\\b", "\u{7F}", "caf\u{E9}", "a\n", "\t"])
  func `a word outside RFC 6749's grammar is refused`(word: String) {
    #expect(throws: ScopeError.word(word)) { try ScopeSet(["ok", word]) }
  }

  @Test func `a parameter is split at spaces, however many`() throws {
    #expect(try ScopeSet(parameter: "  b   a ").words == ["a", "b"])
    #expect(try ScopeSet(parameter: "").isEmpty)
    #expect(throws: ScopeError.word("a\tb")) { try ScopeSet(parameter: "a\tb") }
  }

  @Test(arguments: [
    ("a", "a b", true), ("A", "a b", true), ("user.read", "User.Read", true), ("a b c", "a b", false), ("", "a", true),
    ("", "", true), ("a", "", false),
  ])
  func `covering ignores letter case`(wanted: String, held: String, covered: Bool) throws {
    #expect(try ScopeSet(parameter: wanted).isCovered(by: ScopeSet(parameter: held)) == covered)
  }

  @Test func `a union keeps order`() throws {
    #expect(try ScopeSet(parameter: "c a").union(ScopeSet(parameter: "b a")).description == "a b c")
  }
}
