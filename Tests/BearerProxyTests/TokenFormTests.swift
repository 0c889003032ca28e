// The forms in which programs get a token of `token --format`.

import HTTP
import Testing
import Tokens

@testable import Bytes
@testable import bearer_proxy

@Suite struct TokenFormTests {
  private static let given = GivenToken(token: "AT-1", expiresOn: UnixTime(1_700_003_599), expiresIn: 3599)
  private static let upstream = "https://git.example:8443/team/"

  static let rows: [(TokenForm, String)] = [
    (.plain, "AT-1\n"),
    (
      .json, #"{"access_token":"AT-1","expires_in":3599,"expires_on":1700003599,"token_type":"Bearer"}"# + "\n"
    ),
    // git-credential(1): capabilities come before what depends on them.
    (
      .git(GitRequest(["capability[]=authtype", "capability[]=state", "protocol=https"]), username: "oauth2"),
      "capability[]=authtype\nauthtype=Bearer\ncredential=AT-1\nephemeral=1\npassword_expiry_utc=1700003599\n"
    ),
    // As Azure DevOps demands.
    (
      .git(
        GitRequest([
          "capability[]=authtype", "wwwauth[]=Bearer authorization_uri=https://login.example/t",
          "wwwauth[]=Basic realm=\"https://git.example\"", "wwwauth[]=TFS-Federated",
        ]), username: "oauth2"),
      "capability[]=authtype\nauthtype=Bearer\ncredential=AT-1\nephemeral=1\npassword_expiry_utc=1700003599\n"
    ),
    (
      .git(GitRequest(["capability[]=authtype", "wwwauth[]=Basic realm=\"Bearer\""]), username: "oauth2"),
      "username=oauth2\npassword=AT-1\npassword_expiry_utc=1700003599\n"
    ),
    (
      .git(GitRequest(["wwwauth[]=Bearer", "protocol=https", "host=git.example"]), username: "oauth2"),
      "username=oauth2\npassword=AT-1\npassword_expiry_utc=1700003599\n"
    ),
    (
      .git(GitRequest(["protocol=https", "host=git.example"]), username: "oauth2"),
      "username=oauth2\npassword=AT-1\npassword_expiry_utc=1700003599\n"
    ),
    (
      .git(GitRequest(["username=alice", "capability[]=state"]), username: "oauth2"),
      "username=alice\npassword=AT-1\npassword_expiry_utc=1700003599\n"
    ),
    (
      .kubectl("client.authentication.k8s.io/v1"),
      #"{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","#
        + #""status":{"expirationTimestamp":"2023-11-14T23:13:19Z","token":"AT-1"}}"# + "\n"
    ),
    (
      .docker(server: "https://registry.example", username: "oauth2"),
      #"{"Secret":"AT-1","ServerURL":"https://registry.example","Username":"oauth2"}"# + "\n"
    ),
  ]

  @Test(arguments: rows)
  func `each program gets its own form`(form: TokenForm, text: String) { #expect(form.text(Self.given) == text) }

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
  func `git gets a token for the upstream of the route and for no other server`(
    lines: [String], isFor: Bool
  ) throws {
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
