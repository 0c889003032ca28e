import Bytes
import Testing
import Tokens

@Suite("JWT validation") struct JWTValidationTests {
  static let rule = JWTValidation(issuers: ["https://i/t/v2.0"], audiences: ["api://a", "a-id"], leeway: 10)
  static let good = #"{"iss":"https://i/t/v2.0","aud":"api://a","exp":2000,"nbf":1000,"oid":"o"}"#

  struct Row: Sendable, CustomTestStringConvertible {
    var name: String
    var header = #"{"alg":"RS256","kid":"k"}"#
    var claims = good
    var now: Int64 = 1500
    var verdict = SignatureVerdict.valid
    var rejection: JWTRefusal?
    var testDescription: String { name }
  }

  static let rows: [Row] = [
    Row(name: "all is well"),
    Row(name: "one of several audiences is ours", claims: good.replacing(#""api://a""#, with: #"["x","a-id"]"#)),
    Row(name: "no nbf", claims: good.replacing(#""nbf":1000,"#, with: "")),
    Row(name: "unsigned", header: #"{"alg":"none"}"#, rejection: .algorithm("none")),
    Row(name: "symmetric", header: #"{"alg":"HS256"}"#, rejection: .algorithm("HS256")),
    Row(name: "allowed elsewhere", header: #"{"alg":"PS256"}"#, rejection: .algorithm("PS256")),
    Row(name: "other letters", header: #"{"alg":"rs256"}"#, rejection: .algorithm("rs256")),
    Row(name: "crit", header: #"{"alg":"RS256","crit":["b64"]}"#, rejection: .criticalExtension),
    Row(name: "forged", verdict: .invalid, rejection: .signature),
    Row(name: "forged and expired", now: 9999, verdict: .invalid, rejection: .signature),
    Row(name: "unknown key", verdict: .unknownKey, rejection: .unknownKey(identifier: "k")),
    Row(name: "other issuer", claims: good.replacing("v2.0", with: "v2.0/"), rejection: .issuer("https://i/t/v2.0/")),
    Row(name: "no issuer", claims: #"{"aud":"api://a","exp":2000}"#, rejection: .issuer(nil)),
    Row(name: "other audience", claims: good.replacing("api://a", with: "api://b"), rejection: .audience(["api://b"])),
    Row(
      name: "audience in other letters", claims: good.replacing("api://a", with: "API://A"),
      rejection: .audience(["API://A"])),
    Row(name: "no audience", claims: good.replacing(#""aud":"api://a","#, with: ""), rejection: .audience([])),
    Row(name: "no expiry", claims: good.replacing(#""exp":2000,"#, with: ""), rejection: .withoutExpiry),
    Row(name: "the last second", now: 2009),
    Row(name: "one second late", now: 2010, rejection: .expired(at: UnixTime(2000))),
    Row(name: "the first second", now: 990),
    Row(name: "one second early", now: 989, rejection: .notYetValid(from: UnixTime(1000))),
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
