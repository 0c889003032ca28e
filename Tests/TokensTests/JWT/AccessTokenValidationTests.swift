import Bytes
import Testing
import Tokens

@Suite struct AccessTokenValidationTests {
  static let rows: [(String, type: String?, claims: String, JWTRefusal?)] = [
    ("RFC 9068", "at+jwt", #""client_id":"c","scope":"a""#, nil),
    ("RFC 9068, any case", "at+JWT", #""client_id":"c""#, nil),
    ("RFC 9068, in full", "application/at+jwt", #""client_id":"c""#, nil),
    ("at+jwt with a nonce", "at+jwt", #""nonce":"n""#, nil),
    ("no type, nothing said", nil, #""sub":"workload""#, nil),
    ("SPIFFE", "JOSE", #""sub":"spiffe://a/b""#, nil),
    ("Kubernetes", nil, #""kubernetes.io":{"namespace":"a"},"sub":"system:serviceaccount:a:b""#, nil),
    ("a Google service account", "JWT", #""azp":"1234","email":"a@b.example","sub":"1234""#, nil),
    (
      "Keycloak, older, with the nonce of the sign-in", "JWT",
      #""typ":"Bearer","azp":"api","nonce":"n","scope":"openid""#, nil
    ),
    ("Keycloak, an application's own", "JWT", #""typ":"Bearer","azp":"api""#, nil),
    // Not access tokens.
    ("logout", "logout+jwt", "", .headerType),
    ("event", "secevent+jwt", "", .headerType),
    ("DPoP proof", "dpop+jwt", #""htm":"GET""#, .headerType),
    ("request", "oauth-authz-req+jwt", "", .headerType),
    ("introspection", "token-introspection+jwt", #""scope":"a""#, .headerType),
    ("empty type", "", "", .headerType),
    ("another application/", "application/logout+jwt", "", .headerType),
    (
      "logout without a type", "JWT", #""events":{"http://schemas.openid.net/event/backchannel-logout":{}},"sid":"s""#,
      .purpose
    ),
    ("Keycloak refresh", "JWT", #""typ":"Refresh""#, .purpose),
    ("Keycloak logout", "JWT", #""typ":"Logout""#, .purpose),
    ("Keycloak ID", "JWT", #""typ":"ID","azp":"x""#, .idToken),
    ("Cognito ID", nil, #""token_use":"id""#, .idToken),
    ("ID, nonce", "JWT", #""nonce":"n""#, .idToken),
    ("ID, at_hash", nil, #""at_hash":"h","client_id":"c""#, .idToken),
    ("ID, c_hash", nil, #""c_hash":"h""#, .idToken),
    ("ID, audience and party the same", nil, #""azp":"api""#, .idToken),
    // Bound to a key.
    ("DPoP-bound", nil, #""scope":"a","cnf":{"jkt":"k"}"#, .confirmation),
    ("key of its own", nil, #""scope":"a","cnf":{"jwk":{}}"#, .confirmation),
    ("nothing said", nil, #""scope":"a","cnf":{}"#, .confirmation),
    ("another certificate", nil, #""scope":"a","cnf":{"x5t#S256":"AgI"}"#, .confirmation),
    ("this certificate and a key", nil, #""scope":"a","cnf":{"x5t#S256":"AQID","jkt":"k"}"#, .confirmation),
    ("this certificate", nil, #""scope":"a","cnf":{"x5t#S256":"AQID"}"#, nil),
  ]

  static let entraRows: [(String, type: String?, claims: String, JWTRefusal?)] = [
    ("Entra 2.0", "JWT", #""azp":"app","scp":"a","ver":"2.0""#, nil),
    ("Entra 1.0, an application's own", "JWT", #""appid":"app","idtyp":"app","roles":["r"]"#, nil),
    ("Entra, for the application that asked", "JWT", #""azp":"api","scp":"a""#, nil),
    ("Entra ID without a nonce", "JWT", #""name":"Ann","oid":"1","ver":"2.0","roles":["r"]"#, .idToken),
  ]

  private func judge(
    _ type: String?, _ claims: String, _ authority: String, certificate: [UInt8] = [1, 2, 3]
  ) throws -> JWTRefusal? {
    let header = type.map { #"{"typ":"\#($0)","alg":"RS256"}"# } ?? #"{"alg":"RS256"}"#
    let parts = [header, #"{"iss":"i","aud":"api"\#(claims.isEmpty ? "" : "," + claims)}"#, "signature"]
    let token = try SignedJWT(parts.map { Base64URL.encode(Array($0.utf8)) }.joined(separator: "."))
    let rule = try Authority(authority)
    do throws(JWTRefusal) { try rule.judgeAccess(token, certificate: certificate) } catch { return error }
    return nil
  }

  @Test(arguments: rows)
  func `a token is an access token, or is not for a reason`(
    name: String, type: String?, claims: String, rejection: JWTRefusal?
  ) throws {
    #expect(try judge(type, claims, "https://id.example") == rejection)
  }

  @Test(arguments: entraRows)
  func `an access token of Entra's is told from an ID token`(
    name: String, type: String?, claims: String, rejection: JWTRefusal?
  ) throws {
    #expect(try judge(type, claims, "https://login.microsoftonline.com/contoso.onmicrosoft.com") == rejection)
  }

  @Test func `without a certificate none is the right one`() throws {
    let claims = #""scope":"a","cnf":{"x5t#S256":""}"#
    #expect(try judge(nil, claims, "https://id.example", certificate: []) == .confirmation)
  }
}
