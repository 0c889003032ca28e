import Bytes
import Testing
import Tokens

@Suite struct AccessTokenValidationTests {
  struct Row: Sendable, CustomTestStringConvertible {
    var testDescription: String
    var header: String
    var claims: String
    var rejection: JWTRefusal?
    var authority = "https://id.example"
  }

  private static let entra = "https://login.microsoftonline.com/contoso.onmicrosoft.com"

  private static let rows = [
    Row(testDescription: "RFC 9068", header: #""typ":"at+jwt","#, claims: #""client_id":"c","scope":"a""#),
    Row(testDescription: "RFC 9068, any case", header: #""typ":"at+JWT","#, claims: #""client_id":"c""#),
    Row(testDescription: "RFC 9068, in full", header: #""typ":"application/at+jwt","#, claims: #""client_id":"c""#),
    Row(testDescription: "at+jwt with a nonce", header: #""typ":"at+jwt","#, claims: #""nonce":"n""#),
    Row(testDescription: "no type, nothing said", header: "", claims: #""sub":"workload""#),
    Row(testDescription: "SPIFFE", header: #""typ":"JOSE","#, claims: #""sub":"spiffe://a/b""#),
    Row(
      testDescription: "Kubernetes", header: "",
      claims: #""kubernetes.io":{"namespace":"a"},"sub":"system:serviceaccount:a:b""#),
    Row(
      testDescription: "a Google service account", header: #""typ":"JWT","#,
      claims: #""azp":"1234","email":"a@b.example","sub":"1234""#),
    Row(
      testDescription: "Keycloak, older, with the nonce of the sign-in", header: #""typ":"JWT","#,
      claims: #""typ":"Bearer","azp":"api","nonce":"n","scope":"openid""#),
    Row(
      testDescription: "Keycloak, an application's own", header: #""typ":"JWT","#,
      claims: #""typ":"Bearer","azp":"api""#),
    Row(
      testDescription: "Entra 2.0", header: #""typ":"JWT","#, claims: #""azp":"app","scp":"a","ver":"2.0""#,
      authority: entra),
    Row(
      testDescription: "Entra 1.0, an application's own", header: #""typ":"JWT","#,
      claims: #""appid":"app","idtyp":"app","roles":["r"]"#, authority: entra),
    Row(
      testDescription: "Entra, for the application that asked", header: #""typ":"JWT","#,
      claims: #""azp":"api","scp":"a""#,
      authority: entra),
    // Not access tokens.
    Row(testDescription: "logout", header: #""typ":"logout+jwt","#, claims: "", rejection: .headerType),
    Row(testDescription: "event", header: #""typ":"secevent+jwt","#, claims: "", rejection: .headerType),
    Row(testDescription: "DPoP proof", header: #""typ":"dpop+jwt","#, claims: #""htm":"GET""#, rejection: .headerType),
    Row(testDescription: "request", header: #""typ":"oauth-authz-req+jwt","#, claims: "", rejection: .headerType),
    Row(
      testDescription: "introspection", header: #""typ":"token-introspection+jwt","#, claims: #""scope":"a""#,
      rejection: .headerType),
    Row(testDescription: "empty type", header: #""typ":"","#, claims: "", rejection: .headerType),
    Row(
      testDescription: "another application/", header: #""typ":"application/logout+jwt","#, claims: "",
      rejection: .headerType),
    Row(
      testDescription: "logout without a type", header: #""typ":"JWT","#,
      claims: #""events":{"http://schemas.openid.net/event/backchannel-logout":{}},"sid":"s""#, rejection: .purpose),
    Row(
      testDescription: "Keycloak refresh", header: #""typ":"JWT","#, claims: #""typ":"Refresh""#, rejection: .purpose),
    Row(testDescription: "Keycloak logout", header: #""typ":"JWT","#, claims: #""typ":"Logout""#, rejection: .purpose),
    Row(
      testDescription: "Keycloak ID", header: #""typ":"JWT","#, claims: #""typ":"ID","azp":"x""#, rejection: .idToken),
    Row(testDescription: "Cognito ID", header: "", claims: #""token_use":"id""#, rejection: .idToken),
    Row(testDescription: "ID, nonce", header: #""typ":"JWT","#, claims: #""nonce":"n""#, rejection: .idToken),
    Row(testDescription: "ID, at_hash", header: "", claims: #""at_hash":"h","client_id":"c""#, rejection: .idToken),
    Row(testDescription: "ID, c_hash", header: "", claims: #""c_hash":"h""#, rejection: .idToken),
    Row(testDescription: "ID, audience and party the same", header: "", claims: #""azp":"api""#, rejection: .idToken),
    Row(
      testDescription: "Entra ID without a nonce", header: #""typ":"JWT","#,
      claims: #""name":"Ann","oid":"1","ver":"2.0","roles":["r"]"#, rejection: .idToken, authority: entra),
    // Bound to a key.
    Row(testDescription: "DPoP-bound", header: "", claims: #""scope":"a","cnf":{"jkt":"k"}"#, rejection: .confirmation),
    Row(
      testDescription: "key of its own", header: "", claims: #""scope":"a","cnf":{"jwk":{}}"#,
      rejection: .confirmation),
    Row(testDescription: "nothing said", header: "", claims: #""scope":"a","cnf":{}"#, rejection: .confirmation),
    Row(
      testDescription: "another certificate", header: "", claims: #""scope":"a","cnf":{"x5t#S256":"AgI"}"#,
      rejection: .confirmation),
    Row(
      testDescription: "this certificate and a key", header: "",
      claims: #""scope":"a","cnf":{"x5t#S256":"AQID","jkt":"k"}"#, rejection: .confirmation),
    Row(testDescription: "this certificate", header: "", claims: #""scope":"a","cnf":{"x5t#S256":"AQID"}"#),
  ]

  @Test(arguments: rows) func `a token is an access token, or is not for a reason`(row: Row) throws {
    let rest = row.claims.isEmpty ? "" : "," + row.claims
    let parts = [#"{\#(row.header)"alg":"RS256"}"#, #"{"iss":"i","aud":"api"\#(rest)}"#, "signature"]
    let token = try SignedJWT(parts.map { Base64URL.encode(Array($0.utf8)) }.joined(separator: "."))
    let rule = AccessTokenValidation(try Authority(row.authority))
    var found: JWTRefusal?
    do throws(JWTRefusal) {
      try rule.judge(token, certificate: [1, 2, 3])
    } catch {
      found = error
    }
    #expect(found == row.rejection)
  }

  @Test func `without a certificate none is the right one`() throws {
    let parts = [#"{"alg":"RS256"}"#, #"{"scope":"a","cnf":{"x5t#S256":""}}"#, "signature"]
    let token = try SignedJWT(parts.map { Base64URL.encode(Array($0.utf8)) }.joined(separator: "."))
    #expect(throws: JWTRefusal.confirmation) {
      try AccessTokenValidation(Authority("https://id.example")).judge(token, certificate: [])
    }
  }
}
