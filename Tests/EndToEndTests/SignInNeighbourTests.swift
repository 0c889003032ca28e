// The sign-in pages beside other services of the same host: cookies that those set, and paths that some servers would
// take for the pages'.

import Glibc
import TestSupport
import Testing

@Suite("Sign-in pages beside their neighbours", .timeLimit(.minutes(10))) struct SignInNeighbourTests {
  /// Cookies in the form of curl's jar, as another service of the host sets them.
  private func plant(_ stage: SignInStage, _ cookies: [(path: String, value: String)]) throws {
    let name = "bearer-sign-in-\(stage.proxy.port)"
    let lines = cookies.map { "localhost\tFALSE\t\($0.path)\tFALSE\t0\t\(name)\t\($0.value)\n" }
    try stage.directory.write(
      "# Netscape HTTP Cookie File\n\n" + stage.directory.read("jar") + lines.joined(), to: "jar")
  }

  @Test func `cookies that another service of the host sets end no sign-in`() async throws {
    let cookies = [
      ("/", String(repeating: "A", count: 43)), ("/.bearer/sign-in", String(repeating: "B", count: 43)),
      ("/.bearer/callback", String(repeating: "C", count: 43)),
    ]
    let stage = try await SignInStage()
    try plant(stage, cookies)
    let page = try await stage.browse(SignInStage.link)
    #expect(page.heading == "Sign in", "\(page.body)")
    // Those that come between the page and its button, too.
    try plant(stage, cookies)
    let begun = try await stage.press(page)
    #expect(begun.status == 303, "\(begun.body)")
    let back = try await stage.browse(stage.atTheProvider(begun))
    #expect(back["location"] == stage.origin + "/my/orders/list?a=1&b=2", "\(back.body)")
  }

  @Test(.enabled(if: getuid() == 0, "only root can be another user of this machine"))
  func `another user's 1,100 sign-ins end no other sign-in, and the metadata are requested once`()
    async throws
  {
    let stage = try await SignInStage()
    let path = try await stage.atTheProvider(stage.press(stage.browse(SignInStage.link)))
    let before = try await stage.demo.requests(to: "discovery")
    let begun = try await succeed(
      [
        "setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "/usr/bin/python3", "-c",
        textOfFile(testsDirectory + "/peers/sign_in_flood.py"), "\(stage.proxy.port)", SignInStage.link, "1100",
      ], within: .seconds(400))
    #expect(begun == "1100\n")
    #expect(try await stage.demo.requests(to: "discovery") == before)
    let back = try await stage.browse(path)
    #expect(back["location"] == stage.origin + "/my/orders/list?a=1&b=2", "\(back.body)")
  }

  @Test func `whether a path is the pages' is decided on its normal form, and no route sees an answer of a provider`()
    async throws
  {
    let authority = try await CertificateAuthority()
    let nginx = try await NginxUpstream(certificate: authority.issue("upstream"))
    let proxy = try await ProxyUnderTest(
      """
      listeners: [{address: "127.0.0.1:PORT", sign_in: true}]
      routes: [{name: all, path: /, upstream: "http://127.0.0.1:\(nginx.port)/echo/", token: none}]

      """)
    let query = "?code=C-1&state=S-1"
    for (path, status) in [
      ("/.bearer/callback", 400), ("/%2ebearer/callback", 400), ("/%2Ebearer/callback", 400),
      ("/.be%61rer/callback", 400), ("/x/../.bearer/callback", 400), ("/./.bearer/callback", 400),
      ("/%2e%2e/.bearer/callback", 400), ("/x/%2e%2e/.bearer/callback", 400), ("/.bearer/y/../callback", 400),
      ("//.bearer/callback", 400), ("///.bearer/callback", 400), ("/%2F.bearer/callback", 400),
      ("/.bearer%2Fcallback", 400), ("/.bearer%2fcallback", 400), ("/.bearer;a=b/callback", 400),
      ("/.bearer%3Ba/callback", 400), ("/;a/.bearer/callback", 400), ("/%252ebearer/callback", 400),
      ("/\\.bearer/callback", 400), ("/.BEARER/callback", 404), ("/.bearer", 404), ("/.bearer/", 404),
      ("/x%2Fy/../.bearer/callback", 400),
    ] {
      let answer = try await curl(["--path-as-is", proxy.url(path + query)])
      #expect(answer.status == status, "\(path): \(answer.status)")
      #expect(answer.echoed("uri") == nil, "\(path) reached a route")
    }
    // Pages are found by every spelling of their own path.
    let form = try await curl(["--path-as-is", "http://localhost:\(proxy.port)/x/../%2Ebearer/sign-in?route=none"])
    #expect(form.heading == "Unknown link")
    // A neighbour's cookies and paths stay its own.
    for path in [
      "/bearer/callback", "/.bearerx/callback", "/x/.bearer/callback", "/.well-known/callback", "/a%20b", "/a;b/c",
      "//bearer/x", "/.be/arer/callback",
    ] {
      let answer = try await curl(["--path-as-is", proxy.url(path + query)])
      #expect(answer.echoed("uri") == "/echo\(path)\(query)", "\(path): \(answer.status) \(answer.body)")
    }
    withExtendedLifetime(proxy) {}
    #expect(!nginx.accessLog.contains { $0.contains(".bearer/callback?code") && !$0.contains("/x/.bearer/") })
  }
}
