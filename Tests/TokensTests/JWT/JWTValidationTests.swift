import Bytes
import Testing
import Tokens

@Suite("JWT validation") struct JWTValidationTests {
  static let rule = JWTValidation(issuers: ["https://i/t/v2.0"], audiences: ["api://a", "a-id"], leeway: 10)
  static let good = #"{"iss":"https://i/t/v2.0","aud":"api://a","exp":2000,"nbf":1000,"oid":"o"}"#

  struct Row: Sendable, CustomTestStringConvertible {
    var testDescription: String
    var header = #"{"alg":"RS256","kid":"k"}"#
    var claims = good
    var now: Int64 = 1500
    var verdict = SignatureVerdict.valid
    var rejection: JWTRefusal?
  }

  static let rows: [Row] = [
    Row(testDescription: "all is well"),
    Row(
      testDescription: "one of several audiences is ours", claims: good.replacing(#""api://a""#, with: #"["x","a-id"]"#)
    ),
    Row(testDescription: "no nbf", claims: good.replacing(#""nbf":1000,"#, with: "")),
    Row(testDescription: "unsigned", header: #"{"alg":"none"}"#, rejection: .algorithm("none")),
    Row(testDescription: "symmetric", header: #"{"alg":"HS256"}"#, rejection: .algorithm("HS256")),
    Row(testDescription: "allowed elsewhere", header: #"{"alg":"PS256"}"#, rejection: .algorithm("PS256")),
    Row(testDescription: "other letters", header: #"{"alg":"rs256"}"#, rejection: .algorithm("rs256")),
    Row(testDescription: "crit", header: #"{"alg":"RS256","crit":["b64"]}"#, rejection: .criticalExtension),
    Row(testDescription: "forged", verdict: .invalid, rejection: .signature),
    Row(testDescription: "forged and expired", now: 9999, verdict: .invalid, rejection: .signature),
    Row(testDescription: "unknown key", verdict: .unknownKey, rejection: .unknownKey(identifier: "k")),
    Row(
      testDescription: "other issuer", claims: good.replacing("v2.0", with: "v2.0/"),
      rejection: .issuer("https://i/t/v2.0/")
    ),
    Row(testDescription: "no issuer", claims: #"{"aud":"api://a","exp":2000}"#, rejection: .issuer(nil)),
    Row(
      testDescription: "other audience", claims: good.replacing("api://a", with: "api://b"),
      rejection: .audience(["api://b"])),
    Row(
      testDescription: "audience in other letters", claims: good.replacing("api://a", with: "API://A"),
      rejection: .audience(["API://A"])),
    Row(
      testDescription: "no audience", claims: good.replacing(#""aud":"api://a","#, with: ""), rejection: .audience([])),
    Row(testDescription: "no expiry", claims: good.replacing(#""exp":2000,"#, with: ""), rejection: .withoutExpiry),
    Row(testDescription: "the last second", now: 2009),
    Row(testDescription: "one second late", now: 2010, rejection: .expired(at: UnixTime(2000))),
    Row(testDescription: "the first second", now: 990),
    Row(testDescription: "one second early", now: 989, rejection: .notYetValid(from: UnixTime(1000))),
  ]

  @Test(arguments: rows) func `a token is believed when every condition holds, else the reason is told`(row: Row) throws
  {
    let token = try SignedJWT(
      "\(Base64URL.encode(Array(row.header.utf8))).\(Base64URL.encode(Array(row.claims.utf8))).AA")
    func accept() throws(JWTRefusal) -> JWTClaims {
      try Self.rule.accept(token, now: UnixTime(row.now)) { _, _ in row.verdict }
    }
    if let rejection = row.rejection {
      #expect(throws: rejection) { try accept() }
    } else {
      #expect(try accept() == token.claims)
    }
  }

  @Test func `the signature of a token by another algorithm is not even looked at`() throws {
    let token = try SignedJWT("\(Base64URL.encode(Array(#"{"alg":"none"}"#.utf8))).e30.")
    var looked = false
    #expect(throws: JWTRefusal.algorithm("none")) {
      try Self.rule.accept(token, now: UnixTime(1500)) { _, _ in
        looked = true
        return .valid
      }
    }
    #expect(!looked)
  }
}
