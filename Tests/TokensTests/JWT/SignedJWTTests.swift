// The compact serialisation and its claims, read and written. RFC 7515 gives the first example.

import Bytes
import FoundationEssentials
import Testing

@testable import Tokens

@Suite("Signed JWT") struct SignedJWTTests {
  /// RFC 7515 appendix A.2, signature shortened to its first bytes.
  static let example =
    "eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ.cC4h"

  @Test func `the example of RFC 7515 is read`() throws {
    let token = try SignedJWT(Self.example)
    #expect(token.header.alg == "RS256")
    #expect(token.header.kid == nil)
    #expect(token.claims.issuer == "joe")
    #expect(token.claims.expiresAt == UnixTime(1_300_819_380))
    #expect(token.signature == [0x70, 0x2E, 0x21])
    #expect(String(decoding: token.signingInput, as: UTF8.self) == Self.example.dropLast(5))
  }

  @Test(arguments: [
    ("", JWTRefusal.parts), ("a.b", .parts), ("a.b.c.d", .parts), ("..", .json(.header)),
    ("e30=.e30.AA", .base64url(.header, .character(at: 3))), ("e30.e30.AA", .json(.header)),
    ("eyJhbGciOiJSUzI1NiJ9.W10.AA", .json(.claims)), ("eyJhbGciOiJSUzI1NiJ9.e30.A", .base64url(.signature, .length)),
    (String(repeating: "a", count: 65_537), .tooLong),
  ]) func `anything else is refused, with the place of the mistake`(text: String, expected: JWTRefusal) {
    #expect(throws: expected) { try SignedJWT(text) }
  }

  struct Row: Sendable, CustomTestStringConvertible {
    var testDescription: String
    var json: String
    var holds: @Sendable (JWTClaims) -> Bool
  }

  static let readable: [Row] = [
    Row(testDescription: "nothing", json: "{}") { $0 == JWTClaims() },
    Row(testDescription: "one audience", json: #"{"aud":"api://a"}"#) { $0.audiences == ["api://a"] },
    Row(testDescription: "several audiences", json: #"{"aud":["a","b"]}"#) { $0.audiences == ["a", "b"] },
    Row(testDescription: "fractions of seconds", json: #"{"exp":1700000000.9,"nbf":-1.5}"#) {
      $0.expiresAt == UnixTime(1_700_000_000) && $0.notBefore == UnixTime(-2)
    },
    Row(testDescription: "Entra version 1.0", json: #"{"appid":"x","ver":"1.0"}"#) { $0.application == "x" },
    Row(testDescription: "azp before appid", json: #"{"appid":"x","azp":"y"}"#) { $0.application == "y" },
    Row(testDescription: "scopes", json: #"{"scp":"User.Read  Mail.Read"}"#) {
      $0.scopes == ["User.Read", "Mail.Read"]
    },
    Row(testDescription: "Okta's scopes", json: #"{"scp":["a","b"]}"#) { $0.scopes == ["a", "b"] },
    Row(testDescription: "scopes of RFC 9068", json: #"{"scope":"a b"}"#) {
      $0.standardScopes == ["a", "b"] && $0.scopes.isEmpty
    },
    Row(testDescription: "one role as a string", json: #"{"roles":"Orders.Read"}"#) { $0.roles == ["Orders.Read"] },
    Row(testDescription: "null and unknown members", json: #"{"oid":null,"groups":[{"a":1}]}"#) { $0.object == nil },
  ]

  @Test(arguments: readable) func `claims are read in every form issuers use`(row: Row) throws {
    #expect(row.holds(try claims(row.json)))
  }

  @Test(arguments: [
    #"{"exp":"1700000000"}"#, #"{"exp":1e300}"#, #"{"aud":5}"#, #"{"aud":[5]}"#, #"{"iss":["a"]}"#, #"{"scp":[5]}"#,
    #"{"scope":{}}"#,
    #"{"#, #""text""#, "null",
  ]) func `a claim of the wrong type is no absent claim`(json: String) {
    #expect(throws: JWTRefusal.json(.claims)) { try claims(json) }
  }

  /// Texts that two readers of one token could read differently: PyJWT and joserfc take the last of two equal names, a
  /// BOM and UTF-16.
  static let ambiguous: [[UInt8]] = {
    let plain = #"{"iss":"a"}"#
    let wide: [UInt8] = plain.utf8.flatMap { [$0, 0] as [UInt8] }
    let texts = [
      #"{"iss":"a","iss":"b"}"#, #"{"iss":"a","i\u0073s":"b"}"#, #"{"x":{"y":[{"z":1,"z":2}]}}"#, #"{"iss":"a",}"#,
      #"{"x":[1,]}"#, #"{"iss":"a"} {}"#, #"{"x":01}"#, #"{"x":NaN}"#, #"{iss:"a"}"#, #"{"iss":"a"/**/}"#,
      "{'iss':'a'}", "{\"iss\":\"a\nb\"}", plain + "\0",
    ]
    let (mark, wideMark): ([UInt8], [UInt8]) = ([0xEF, 0xBB, 0xBF], [0xFF, 0xFE])
    let bytes: [[UInt8]] = [mark + Array(plain.utf8), wide, wideMark + wide, [0x7B, 0x22, 0xFF, 0x22]]
    return texts.map { Array($0.utf8) } + bytes
  }()

  @Test(arguments: ambiguous)
  func `a token that two readers could read differently is refused`(json: [UInt8]) throws {
    let part = Base64URL.encode(json)
    #expect(throws: JWTRefusal.json(.claims)) { try SignedJWT("eyJhbGciOiJSUzI1NiJ9.\(part).AA") }
    #expect(throws: JWTRefusal.json(.header)) { try SignedJWT("\(part).e30.AA") }
  }

  @Test func `an assembled value is parsed to the same parts`() throws {
    var claims = JWTClaims()
    claims.issuer = "https://localhost/t/v2.0"
    claims.subject = "s"
    claims.audiences = ["a", "b"]
    claims.expiresAt = UnixTime(1_700_003_600)
    claims.notBefore = UnixTime(1_700_000_000)
    claims.issuedAt = UnixTime(1_700_000_000)
    claims.tenant = "t"
    claims.object = "o"
    claims.application = "x"
    claims.roles = ["r"]
    claims.scopes = ["s1", "s2"]
    claims.identityType = "app"
    claims.version = "2.0"
    claims.tokenIdentifier = "u"
    let input = SignedJWT.signingInput(
      JSONValue(["alg": "PS256", "kid": "k", "typ": "JWT"]),
      JSONValue([
        "iss": claims.issuer, "sub": "s", "aud": claims.audiences, "exp": claims.expiresAt, "nbf": claims.notBefore,
        "iat": claims.issuedAt, "tid": "t", "oid": "o", "azp": "x", "roles": claims.roles, "scp": "s1 s2",
        "idtyp": "app", "ver": "2.0", "uti": "u",
      ]))
    let token = try SignedJWT(SignedJWT.compact(signingInput: input, signature: [1, 2, 3]).revealed())
    #expect(token.header == JWTHeader(alg: "PS256", kid: "k", typ: "JWT"))
    #expect(token.claims == claims)
    #expect(token.signingInput == input)
    #expect(token.signature == [1, 2, 3])
  }

  private func claims(_ json: String) throws(JWTRefusal) -> JWTClaims {
    try SignedJWT("eyJhbGciOiJSUzI1NiJ9.\(Base64URL.encode(Array(json.utf8))).AA").claims
  }
}
