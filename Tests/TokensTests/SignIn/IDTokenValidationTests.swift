import Bytes
import Testing
import Tokens

@Suite("ID token validation") struct IDTokenValidationTests {
  static let good = #"{"iss":"https://i","aud":"c","exp":2000,"nonce":"n","auth_time":1400}"#

  struct Row: Sendable, CustomTestStringConvertible {
    var name: String
    var claims = good
    var alg = "RS256"
    var authority = "https://i"
    var issuer = "https://i"
    var nonce: String? = "n"
    var mayLackNonce = false
    var maxAge: Int64?
    var now: Int64 = 1500
    var verdict = SignatureVerdict.valid
    var rejection: JWTRefusal?
    var testDescription: String { name }
  }

  private static let entra = "https://login.microsoftonline.com/common"
  private static let template = "https://login.microsoftonline.com/{tenantid}/v2.0"
  private static func entraClaims(_ issuer: String, tenant: String) -> String {
    #"{"iss":"https://login.microsoftonline.com/\#(issuer)/v2.0","aud":"c","exp":2000,"nonce":"n","tid":"\#(tenant)"}"#
  }

  static let rows: [Row] = [
    Row(name: "all is well"), Row(name: "PS256", alg: "PS256"),
    Row(name: "a device code has no nonce", claims: good.replacing(#","nonce":"n""#, with: ""), nonce: nil),
    Row(name: "unsigned", alg: "none", rejection: .algorithm("none")),
    Row(name: "forged", verdict: .invalid, rejection: .signature),
    Row(name: "unknown key", verdict: .unknownKey, rejection: .unknownKey(identifier: "k")),
    // 81 nonce
    Row(name: "another nonce", claims: good.replacing(#""n""#, with: #""N""#), rejection: .nonce),
    Row(name: "no nonce", claims: good.replacing(#","nonce":"n""#, with: ""), rejection: .nonce),
    Row(name: "no nonce, with PKCE", claims: good.replacing(#","nonce":"n""#, with: ""), mayLackNonce: true),
    Row(
      name: "another nonce, with PKCE", claims: good.replacing(#""n""#, with: #""N""#), mayLackNonce: true,
      rejection: .nonce),
    Row(
      name: "Google without its scheme", claims: good.replacing("https://i", with: "accounts.google.com"),
      authority: "https://accounts.google.com", issuer: "https://accounts.google.com"),
    Row(name: "another without its scheme", claims: good.replacing("https://i", with: "i"), rejection: .issuer("i")),
    Row(
      name: "another issuer", claims: good.replacing("https://i", with: "https://j"), rejection: .issuer("https://j")),
    Row(name: "another application", claims: good.replacing(#""c""#, with: #""d""#), rejection: .audience(["d"])),
    Row(name: "several applications, asked for by us", claims: good.replacing(#""c""#, with: #"["d","c"],"azp":"c""#)),
    Row(
      name: "several applications, asked for by another",
      claims: good.replacing(#""c""#, with: #"["d","c"],"azp":"d""#), rejection: .authorizedParty("d")),
    Row(
      name: "several applications, asked for by nobody", claims: good.replacing(#""c""#, with: #"["d","c"]"#),
      rejection: .authorizedParty(nil)),
    Row(name: "two minutes late", now: 2119),
    Row(name: "a second later", now: 2120, rejection: .expired(at: UnixTime(2000))),
    Row(name: "young enough", maxAge: 0, now: 1520),
    Row(name: "too old", maxAge: 0, now: 1521, rejection: .age(authenticatedAt: UnixTime(1400))),
    Row(
      name: "of unknown age", claims: good.replacing(#","auth_time":1400"#, with: ""), maxAge: 3600,
      rejection: .age(authenticatedAt: nil)),
    Row(
      name: "Entra's template is filled with the token's tenant", claims: entraClaims("t-1", tenant: "t-1"),
      authority: entra, issuer: template),
    Row(
      name: "a tenant that is not the issuer's", claims: entraClaims("t-1", tenant: "t-2"), authority: entra,
      issuer: template, rejection: .issuer("https://login.microsoftonline.com/t-1/v2.0")),
    Row(
      name: "a tenant that is a path", claims: entraClaims("t/x", tenant: "t/x"), authority: entra, issuer: template,
      rejection: .issuer("https://login.microsoftonline.com/t/x/v2.0")),
    Row(
      name: "nobody else has templates", claims: entraClaims("t-1", tenant: "t-1"), authority: "https://i",
      issuer: template, rejection: .issuer("https://login.microsoftonline.com/t-1/v2.0")),
  ]

  @Test(arguments: rows) func `nonce: a token is believed when every condition holds, else the reason is told`(row: Row)
    throws
  {
    let header = #"{"alg":"\#(row.alg)","kid":"k"}"#
    let token = try SignedJWT("\(Base64URL.encode(Array(header.utf8))).\(Base64URL.encode(Array(row.claims.utf8))).AA")
    var rule = IDTokenValidation(
      issuer: row.issuer, authority: try Authority(row.authority), clientID: "c", nonce: row.nonce, maxAge: row.maxAge)
    rule.mayLackNonce = row.mayLackNonce
    func accept() throws(JWTRefusal) -> JWTClaims {
      try rule.accept(token, now: UnixTime(row.now)) { _, _ in row.verdict }
    }
    if let rejection = row.rejection {
      #expect(throws: rejection) { try accept() }
    } else {
      #expect(try accept() == token.claims)
    }
  }
}
