// The proxy and the real msal and msal-extensions packages as applications of one cache file. At Microsoft's hosts each
// serves what the other signed in. At other issuers, of which several may share a host, the proxy serves what msal
// signed in, and not the other way round.

import DemoProvider
import FoundationEssentials
import TestSupport
import Testing

@Suite(.keepsSecrets, .timeLimit(.minutes(5)))
struct InteropTests {
  private let demo: DemoScene
  private typealias Sample = DemoDirectory.Sample

  init() throws {
    // A client that presents a replaced refresh token loses its session: none does here.
    demo = try DemoScene { $0.behaviour.refusesReplacedTokens = true }
  }

  private func proxy() async throws -> ProxyUnderTest {
    try await demo.proxy([demo.route("orders", account: Sample.alice)])
  }

  /// The report of msal's side: see Tests/peers/msal_peer.py.
  private struct Told: Decodable {
    var token: String?
    var error: String?
    var description: String?
    var posts: Int?
    var accounts: [String]?
  }

  private func msal(_ words: String...) async throws -> Told {
    let output = try await succeed(
      peer(
        "msal_peer.py",
        [
          "--ca", demo.settings.authorityPath, "--origin", demo.services.providerOrigin, "--cache",
          demo.directory.file("cache.json"),
        ]) + words)
    return try JSONDecoder().decode(Told.self, from: Data(output.utf8))
  }

  /// The identifier of the token that the API saw; nil if the proxy did not get there.
  private func seen(_ proxy: ProxyUnderTest) async throws -> String? {
    let answer = try await proxy.get("/orders/list")
    guard answer.status == 200 else { return nil }
    #expect(answer.body.contains(Sample.alice))
    return answer.body.firstMatch(of: /"identifier"\s*:\s*"([^"]+)"/).map { String($0.1) }
  }

  @Test func `a sign-in with msal serves the running proxy, and each renews with the other's tokens`()
    async throws
  {
    let proxy = try await proxy()
    let nobody = try await proxy.get("/orders/list")
    #expect(nobody.status == 401 && nobody.body.contains("no_account"))
    try await demo.lifetime(4)
    let signedIn = try await msal("sign-in")
    #expect(signedIn.error == nil, "\(signedIn)")

    var last = signedIn.token
    #expect(try await eventually { try await seen(proxy) != nil })
    for _ in 0..<3 {
      let ours = try #require(try await seen(proxy))
      #expect(ours != last)
      // Its last token has expired, and no request uses the proxy, so that it renews nothing in the background.
      try await Task.sleep(for: .seconds(4))
      let theirs = try await msal("silent")
      #expect(theirs.error == nil && theirs.posts == 1, "\(theirs)")
      last = theirs.token
    }
    #expect(try await seen(proxy) != nil)

    #expect(try await msal("sign-out").accounts == [Sample.alice])
    #expect(try await eventually { try await proxy.get("/orders/list").status == 401 })
  }

  // Nothing tells msal which issuer of a host a refresh token is from, so it gets to see none of ours.
  @Test func `msal leaves an issuer's sign-in of ours alone, and signing out ends both sign-ins there`() async throws {
    let proxy = try await proxy()
    let login = try await Login.run(
      proxy.configuration, ["--route", "orders", "--device-code"], person: demo.person())
    #expect(login.status == 0, "\(login.errors)")
    #expect(login.output.hasPrefix("alice@contoso.example is signed in to desk\n"))
    #expect(try await eventually { try await seen(proxy) != nil })
    #expect(try await msal("accounts").accounts == [])

    // Two sign-ins of one person at one issuer, each renewed by the one that made it.
    let signedIn = try await msal("sign-in")
    #expect(signedIn.error == nil, "\(signedIn)")
    for _ in 0..<2 {
      let theirs = try await msal("silent", "--force")
      #expect(theirs.error == nil && theirs.posts == 1, "\(theirs)")
      #expect(try await seen(proxy) != nil)
    }
    try await demo.lifetime(3)

    // A proxy that starts anew, and has never seen a refresh token of its own.
    try await proxy.process.stop()
    let again = try await self.proxy()
    #expect(try await seen(again) != nil)
    let logout = try await again.command(["logout", "--account", Sample.alice])
    #expect(logout.status == 0, "\(logout.errors)")
    #expect(try await msal("accounts").accounts == [])
    #expect(!demo.directory.read("cache.json").contains(Sample.alice))
    #expect(try await eventually { try await again.get("/orders/list").status == 401 })
  }
}

@Suite(.keepsSecrets, .timeLimit(.minutes(5)))
struct EntraCacheTests {
  @Test func `a token that msal files while the proxy runs is served, and no provider is asked`() async throws {
    let directory = try TemporaryDirectory()
    let upstream = try await PythonPeer("scripted_upstream.py", in: directory)
    let authority = "https://login.microsoftonline.com/\(SignedInPerson.tenant)"
    let proxy = try await ProxyUnderTest(
      in: directory, environment: ["HOME": directory.path],
      """
      cache: {file: cache.json}
      applications: {known: {authority: "\(authority)", client_id: \(SignedInPerson.client)}}
      routes:
        - {name: api, path: /api/, upstream: "http://127.0.0.1:\(upstream.port)/", application: known,
           token: {scopes: [User.Read]}}

      """)
    #expect(try await proxy.get("/api/seen").status == 401)
    try await succeed(peer("cache_peer.py", ["add", directory.file("cache.json"), "late", "1"]))
    #expect(
      try await eventually {
        try await proxy.get("/api/seen").body.contains("Authorization: Bearer at-late0\r\n")
      })
    #expect(try await metricSum(proxy, "bearer_proxy_token_requests_total") == 0)
  }
}
