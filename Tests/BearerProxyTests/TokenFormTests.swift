// The forms in which programs get a token of `token --format`.

import HTTP
import Testing
import Tokens

@testable import Bytes
@testable import bearer_proxy

@Suite struct TokenFormTests {
  private static let given = GivenToken(token: "AT-1", expiresOn: UnixTime(1_700_003_599), expiresIn: 3599)
  private static let upstream = "https://git.example:8443/team/"

  private static let bearer = """
    capability[]=authtype
    authtype=Bearer
    credential=AT-1
    ephemeral=1
    password_expiry_utc=1700003599

    """

  private static func password(of user: String) -> String {
    "username=\(user)\npassword=AT-1\npassword_expiry_utc=1700003599\n"
  }

  static let gitRows: [([String], String)] = [
    // git-credential(1): capabilities come before what depends on them.
    (["capability[]=authtype", "capability[]=state", "protocol=https"], bearer),
    // As Azure DevOps demands.
    (
      [
        "capability[]=authtype", "wwwauth[]=Bearer authorization_uri=https://login.example/t",
        "wwwauth[]=Basic realm=\"https://git.example\"", "wwwauth[]=TFS-Federated",
      ], bearer
    ),
    (["capability[]=authtype", "wwwauth[]=Basic realm=\"Bearer\""], password(of: "oauth2")),
    (["wwwauth[]=Bearer", "protocol=https", "host=git.example"], password(of: "oauth2")),
    (["protocol=https", "host=git.example"], password(of: "oauth2")),
    (["username=alice", "capability[]=state"], password(of: "alice")),
  ]

  @Test(arguments: gitRows)
  func `git gets what it says that it can handle`(lines: [String], text: String) {
    #expect(TokenForm.git(GitRequest(lines), username: "oauth2").text(Self.given) == text)
  }

  static let rows: [(TokenForm, String)] = [
    (.plain, "AT-1"),
    (.json, #"{"access_token":"AT-1","expires_in":3599,"expires_on":1700003599,"token_type":"Bearer"}"#),
    (
      .kubectl("client.authentication.k8s.io/v1"),
      #"{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","#
        + #""status":{"expirationTimestamp":"2023-11-14T23:13:19Z","token":"AT-1"}}"#
    ),
    (
      .docker(server: "https://registry.example", username: "oauth2"),
      #"{"Secret":"AT-1","ServerURL":"https://registry.example","Username":"oauth2"}"#
    ),
  ]

  @Test(arguments: rows)
  func `each program gets its own form`(form: TokenForm, text: String) {
    #expect(form.text(Self.given) == text + "\n")
  }

  @Test(arguments: [
    (["protocol=https", "host=git.example:8443"], true), (["protocol=https", "host=GIT.example:8443"], true),
    (["protocol=https", "host=git.example:8443", "path=team/app.git"], true),
    (["protocol=https", "host=git.example:8443", "path=other/app.git"], false),
    (["protocol=https", "host=git.example:8443", "path=team-2/app.git"], false),
    (["protocol=http", "host=git.example:8443"], false), (["protocol=https", "host=git.example"], false),
    (["protocol=https", "host=evil.example:8443"], false), (["protocol=https", "host=git.example:8443@evil"], false),
    (["protocol=https", "host=evil.example/git.example:8443"], false), (["host=git.example:8443"], false),
    // The host is a host, and a port: git would ask another one than this command reads.
    (["protocol=https", "host=git.example:8443/x.evil.test"], false),
    (["protocol=https", "host=git.example:8443?evil.test"], false),
    (["protocol=https", "host=git.example:8443/@evil.test"], false),
    (["protocol=https", "host=git.example:8443#evil.test"], false),
    (["protocol=https", "host=git.example:8443\\evil.test"], false),
    (["protocol=https", "host=git.example:8443/"], false), (["protocol=https", "host= git.example:8443"], false),
    (["protocol=https://git.example:8443/?", "host=evil.test"], false),
    (["protocol=https", "host=git.example:8443", "path=team/"], true),
    (["protocol=https", "host=git.example:8443", "path=team/100%.git"], true),
    (["protocol=https", "host=git.example:8443", "path=team/a..b/...git"], true),
    (["protocol=https", "host=git.example:8443", "path=team/../other"], false),
    (["protocol=https", "host=git.example:8443", "path=team/./app.git"], false),
    (["protocol=https", "host=git.example:8443", "path=team//app.git"], false),
    (["protocol=https", "host=git.example:8443", "path=team/%2e%2E/other"], false),
    (["protocol=https", "host=git.example:8443", "path=team/.%2e/other"], false),
    (["protocol=https", "host=git.example:8443", "path=team/x%2f..%2f../other"], false),
    (["protocol=https", "host=git.example:8443", "path=team/..\\other"], false),
    (["protocol=https", "host=git.example:8443", "path=team/%5c..%5cother"], false),
    (["protocol=https"], false), ([], false), (["protocol=ssh", "host=git.example:8443"], false),
  ])
  func `git gets a token for the upstream of the route and for no other server`(lines: [String], isFor: Bool) throws {
    #expect(GitRequest(lines).isFor(try HTTPURL(Self.upstream)) == isFor)
  }

  @Test(arguments: [
    ("git.example:8443", true), ("https://git.example:8443", true), ("https://git.example:8443/v2/", true),
    ("http://git.example:8443", false), ("git.example", false), ("evil.example", false), ("", false),
    ("GIT.example:8443", true), ("HTTPS://git.example:8443", true), ("git.example:8443/x", false),
    ("git.example:8443?evil.test", false), ("git.example:8443/@evil.test", false), ("git.example:8443@evil", false),
    ("https://git.example:8443?evil.test", false), ("https://git.example:8443@evil.test/", false),
    ("https://git.example:8443\\@evil.test/", false), ("://git.example:8443", false),
    ("https:///git.example:8443", false), ("git.example:8443/https://git.example:8443/", false),
  ])
  func `docker gets one for the upstream, too`(server: String, isFor: Bool) throws {
    #expect(TokenForm.isServer(server, try HTTPURL(Self.upstream)) == isFor)
  }

  @Test(arguments: [
    (#"{"apiVersion":"client.authentication.k8s.io/v1beta1","kind":"ExecCredential"}"#, "v1beta1"),
    (#"{"apiVersion":"client.authentication.k8s.io/v1"}"#, "v1"), (#"{"apiVersion":"v7"}"#, "v1"), ("{", "v1"),
    (nil, "v1"),
  ])
  func `kubectl gets the version that it asks for`(info: String?, version: String) {
    let environment = info.map { ["KUBERNETES_EXEC_INFO": $0] } ?? [:]
    #expect(TokenForm.kubectlVersion(environment) == "client.authentication.k8s.io/\(version)")
  }
}
