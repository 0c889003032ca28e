import Bytes
import Testing
import Tokens

@Suite struct NeedBroughtTests {
  struct Row: Sendable, CustomTestStringConvertible {
    var testDescription: String
    var claims: String?
    var contexts: [String] = []
    var maxAge: Int64?
    var scopes = ""
    /// The token's claims; nil is a token that only the API can read.
    var token: String?
    var held = "A"
    var age: Int64 = 10
    var isRefused = false
    var isBroughtByAnother = true
    var isBroughtByUs = false
  }

  private static let context = #"{"access_token":{"acrs":{"essential":true,"value":"c1"}}}"#
  private static let event = #"{"access_token":{"nbf":{"essential":true,"value":"1700000005"}}}"#

  static let rows = [
    Row(testDescription: "an opaque token", claims: context),
    Row(testDescription: "older than the need", claims: context, age: -1, isBroughtByAnother: false),
    Row(testDescription: "of the need's second", claims: context, age: 0),
    Row(
      testDescription: "the refused one, of the need's second", claims: context, age: 0, isRefused: true,
      isBroughtByAnother: false),
    Row(testDescription: "the context", claims: context, token: #"{"acrs":["c1"]}"#, isBroughtByUs: true),
    Row(testDescription: "another context", claims: context, token: #"{"acrs":["c2"]}"#, isBroughtByAnother: false),
    Row(testDescription: "after the event", claims: event, token: #"{"iat":1700000010}"#, isBroughtByUs: true),
    Row(testDescription: "before the event", claims: event, token: #"{"iat":1700000001}"#, isBroughtByAnother: false),
    Row(testDescription: "the scope", scopes: "B", held: "A B", isBroughtByUs: true),
    Row(testDescription: "without the scope", scopes: "B", isBroughtByAnother: false),
    Row(testDescription: "the way", contexts: ["mfa"], token: #"{"acr":"mfa"}"#, isBroughtByUs: true),
    Row(testDescription: "another way", contexts: ["mfa"], token: #"{"acr":"pwd"}"#, isBroughtByAnother: false),
    Row(testDescription: "a way that is not told", contexts: ["mfa"], token: "{}"),
    Row(testDescription: "just signed in", maxAge: 60, token: #"{"auth_time":1700000009}"#, isBroughtByUs: true),
    Row(testDescription: "long ago", maxAge: 60, token: #"{"auth_time":1699990000}"#, isBroughtByAnother: false),
  ]

  @Test(arguments: rows)
  func `a need is over when a token shows it, or another program's says nothing against it`(row: Row) throws {
    var need = SignInRequirement(
      claims: try row.claims.map { try Claims(json: $0) }, scopes: try ScopeSet(parameter: row.scopes),
      authenticationContexts: row.contexts, maxAge: row.maxAge, since: UnixTime(1_700_000_000))
    let token = row.token.map { "e30.\(Base64URL.encode(Array($0.utf8))).x" } ?? "opaque"
    need.refused = SignInRequirement.mark(of: Secret(row.isRefused ? token : "the refused one"))
    #expect(SignInRequirement(need.json) == need)
    for (isAnothers, expected) in [(true, row.isBroughtByAnother), (false, row.isBroughtByUs)] {
      #expect(
        need.isBrought(
          by: Secret(token), scopes: try ScopeSet(parameter: row.held), obtainedAt: need.since + row.age,
          isAnothers: isAnothers) == expected)
    }
  }
}
