import HTTP
import Testing

@Suite struct ConnectionAuthenticationTests {
  @Test(arguments: [
    ("Authorization: NTLM TlRMTVNTUAABAAAA", true), ("authorization: negotiate YII", true),
    ("Authorization: Basic YTpi\r\nAuthorization: NTLM x", true), ("Authorization: Kerberos x", true),
    ("Authorization: Nego2 x", true), ("Authorization: CredSSP x", true), ("Authorization: ,NTLM x", true),
    ("Authorization: Bearer x", false), ("Authorization: Basic bnRsbQ==", false), ("Authorization: NTLMv3 x", false),
    ("Authorization:", false), ("X-Authorization: NTLM x", false), ("Accept: */*", false),
  ])
  func `a request's credentials begin it, or do not`(line: String, isUsed: Bool) throws {
    let uses = withRequest("GET / HTTP/1.1\r\nHost: a\r\n\(line)\r\n\r\n") {
      ConnectionAuthentication.isUsed(by: $0.fields, in: $1)
    }
    #expect(uses == isUsed)
  }

  @Test(arguments: [
    ("WWW-Authenticate: NTLM", true), ("WWW-Authenticate: Negotiate", true),
    ("WWW-Authenticate: Basic realm=\"a\", NTLM", true),
    ("WWW-Authenticate: Bearer\r\nWWW-Authenticate: Negotiate oY", true),
    ("WWW-Authenticate: CREDSSP", true), ("Persistent-Auth: true", true), ("persistent-auth: TRUE", true),
    ("Persistent-Auth: false", false), ("Proxy-Support: Session-Based-Authentication", true),
    ("Proxy-Support: none", false), ("WWW-Authenticate: Bearer realm=\"a\"", false),
    ("WWW-Authenticate: Digest x=1", false),
    ("Proxy-Authenticate: NTLM", false), ("Content-Type: a/b", false),
  ])
  func `a response offers or completes it, or does not`(line: String, isAnswered: Bool) {
    let answers = withResponse("HTTP/1.1 401 Unauthorized\r\n\(line)\r\n\r\n") {
      ConnectionAuthentication.isAnswered(by: $0.fields, in: $1)
    }
    #expect(answers == isAnswered)
  }
}
