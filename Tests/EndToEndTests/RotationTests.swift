// People of a provider that we did not write (Authlib): authorization code with PKCE and nonce, an ID token of its own,
// no client_info, and refresh tokens of which the second use ends everything that came of the sign-in.

import TestSupport
import Testing

@Suite(.keepsSecrets, .timeLimit(.minutes(5)))
struct RotationTests {
  private let directory: TemporaryDirectory

  init() throws { directory = try TemporaryDirectory() }

  private func provider(_ arguments: [String]) async throws -> OpenIDProvider {
    try await OpenIDProvider(OpenIDProvider.desk + ["--realm", "alpha"] + arguments)
  }

  private func configuration(_ provider: OpenIDProvider) -> String {
    annsConfiguration(provider.issuer(ofRealm: "alpha"), cache: directory.file("cache.json"))
  }

  private func login(_ proxy: ProxyUnderTest) async throws -> CommandResult {
    try await Login.run(
      proxy.configuration, ["--application", "desk"],
      person: OpenIDProvider.ann())
  }

  @Test func `two proxies of one cache renew a person's token in turn, and no refresh token is used twice`()
    async throws
  {
    let provider = try await provider(["--expires-in", "4"])
    let first = try await ProxyUnderTest(in: directory, configuration(provider))
    let other = try TemporaryDirectory()
    let second = try await ProxyUnderTest(in: other, configuration(provider))
    #expect(try await first.get("/hers/whoami").status == 401)

    let login = try await login(first)
    #expect(login.status == 0, "\(login.errors)")
    #expect(login.output.hasPrefix("ann@id.example is signed in to desk\n"))
    #expect(try await eventually { try await first.get("/hers/whoami").status == 200 })
    #expect(try await eventually { try await second.get("/hers/whoami").status == 200 })

    // Two lives of a token, and then some. Every call is answered by the resource server, which judges the token.
    var refused: [String] = []
    let end = ContinuousClock.now + .seconds(10)
    while ContinuousClock.now < end {
      for proxy in [first, second] {
        let answer = try await proxy.get("/hers/whoami")
        if answer.status != 200 { refused.append("\(answer.status) \(answer.body)") }
      }
    }
    #expect(refused == [])
    #expect(try await provider.requests(to: "rotated", realm: "alpha") >= 2)
    #expect(try await provider.requests(to: "reused", realm: "alpha") == 0)
    #expect(try await provider.requests(to: "authorize", realm: "alpha") == 2)

    // Past every expiry, so that nothing is renewed in the background: all callers wait for one refresh.
    try await Task.sleep(for: .seconds(5))
    async let one = first.get("/hers/whoami")
    async let two = second.get("/hers/whoami")
    #expect(try await [one.status, two.status] == [200, 200])
    #expect(try await provider.requests(to: "reused", realm: "alpha") == 0)

    let logout = try await first.command(["logout", "--account", "ann@id.example"])
    #expect(logout.status == 0, "\(logout.errors)")
    for proxy in [first, second] {
      #expect(try await eventually { try await proxy.get("/hers/whoami").status == 401 })
    }
    #expect(!directory.read("cache.json").contains("ann@id.example"))
  }

  @Test func `a refresh token that a thief used ends the sign-in, and callers are told to sign in`() async throws {
    let provider = try await provider(["--expires-in", "2"])
    let proxy = try await ProxyUnderTest(in: directory, configuration(provider))
    #expect(try await login(proxy).status == 0)
    #expect(try await eventually { try await proxy.get("/hers/whoami").status == 200 })
    // The thief redeems the token of the file, and the proxy is second.
    let stolen = try #require(
      directory.read("cache.json").firstMatch(of: /"RefreshToken".*?"secret":\s*"([^"]+)"/.dotMatchesNewlines()))
    let answer = try await curl([
      "-d", "grant_type=refresh_token&client_id=desk&refresh_token=\(stolen.1)",
      provider.issuer(ofRealm: "alpha") + "/token",
    ])
    #expect(answer.status == 200 || answer.status == 400)
    var last = 0
    #expect(
      try await eventually {
        last = try await proxy.get("/hers/whoami").status
        return last == 401
      }, "\(last)")
    #expect(try await login(proxy).status == 0)
    #expect(try await eventually { try await proxy.get("/hers/whoami").status == 200 })
  }
}
