// People of a provider that we did not write (Authlib): authorization code with PKCE and nonce, an ID token of its own,
// no client_info, and refresh tokens of which the second use ends everything that came of the sign-in.

import FoundationEssentials
import TestSupport
import Testing

@Suite(
  .keepsSecrets, .timeLimit(.minutes(5)),
  .enabled(
    if: FileManager.default.isExecutableFile(atPath: testsDirectory + "/../.venv/bin/python"),
    "Tests/run makes the Python environment .venv"))
struct RotationTests {
  private let directory: TemporaryDirectory
  private static let password = "kettle-harbour-7"

  init() throws { directory = try TemporaryDirectory() }

  private func provider(_ arguments: [String]) async throws -> OpenIDProvider {
    try await OpenIDProvider(
      in: directory,
      ["--client", "desk:", "--person", "ann@id.example:\(Self.password)", "--realm", "alpha", "--realm", "beta"]
        + arguments)
  }

  /// One application and one route for each realm; the upstream is the realm's own resource server, which verifies each
  /// token.
  private func configuration(_ provider: OpenIDProvider, realms: [String] = ["alpha"], scopes: String = "orders.read")
    -> String
  {
    let applications = realms.map { "  \($0): {authority: \"\(provider.issuer(ofRealm: $0))\", client_id: desk}\n" }
    let routes = realms.map { realm in
      """
        - {name: \(realm), path: /\(realm)/, upstream: "\(provider.issuer(ofRealm: realm))/api/", application: \(realm),
           token: {account: ann@id.example, scopes: [\(scopes)]}}

      """
    }
    return "cache: {file: \"\(directory.file("cache.json"))\"}\napplications:\n\(applications.joined())"
      + "routes:\n\(routes.joined())"
  }

  private func login(_ proxy: ProxyUnderTest, _ realm: String) async throws -> CommandResult {
    try await Login.run(
      proxy.configuration, ["--application", realm],
      person: SigningInPerson(user: "ann@id.example", password: Self.password), in: directory)
  }

  @Test func `two proxies of one cache renew a person's token in turn, and no refresh token is used twice`()
    async throws
  {
    let provider = try await provider(["--expires-in", "4"])
    let first = try await ProxyUnderTest(in: directory, configuration(provider))
    let other = try TemporaryDirectory()
    let second = try await ProxyUnderTest(in: other, configuration(provider))
    #expect(try await first.get("/alpha/whoami").status == 401)

    let login = try await login(first, "alpha")
    #expect(login.status == 0, "\(login.errors)")
    #expect(login.output.hasPrefix("ann@id.example is signed in to alpha\n"))
    #expect(try await eventually { try await first.get("/alpha/whoami").status == 200 })
    #expect(try await eventually { try await second.get("/alpha/whoami").status == 200 })

    // Three lives of a token, and then some. Every call is answered by the resource server, which judges the token.
    var refused: [String] = []
    let end = ContinuousClock.now + .seconds(14)
    while ContinuousClock.now < end {
      for proxy in [first, second] {
        let answer = try await proxy.get("/alpha/whoami")
        if answer.status != 200 { refused.append("\(answer.status) \(answer.body)") }
      }
    }
    #expect(refused == [])
    #expect(try await provider.requests(to: "rotated", realm: "alpha") >= 3)
    #expect(try await provider.requests(to: "reused", realm: "alpha") == 0)
    #expect(try await provider.requests(to: "authorize", realm: "alpha") == 2)

    // Past every expiry, so that nothing is renewed behind: whoever calls waits for one refresh.
    try await Task.sleep(for: .seconds(5))
    async let one = first.get("/alpha/whoami")
    async let two = second.get("/alpha/whoami")
    #expect(try await [one.status, two.status] == [200, 200])
    #expect(try await provider.requests(to: "reused", realm: "alpha") == 0)

    let logout = try await run([binary(), "logout", "-c", first.configuration, "--account", "ann@id.example"])
    #expect(logout.status == 0, "\(logout.errors)")
    for proxy in [first, second] {
      #expect(try await eventually { try await proxy.get("/alpha/whoami").status == 401 })
    }
    #expect(!directory.read("cache.json").contains("ann@id.example"))
  }

  @Test func `a sign-in at one realm is none at another realm of the same host`() async throws {
    // The worst case: both realms know Ann by one subject.
    let provider = try await provider(["--person", "ann@id.example:\(Self.password):subject-1"])
    let proxy = try await ProxyUnderTest(
      in: directory, configuration(provider, realms: ["alpha", "beta"]))
    #expect(try await login(proxy, "alpha").status == 0)
    #expect(try await eventually { try await proxy.get("/alpha/whoami").status == 200 })
    let stranger = try await proxy.get("/beta/whoami")
    #expect(stranger.status == 401 && stranger.body.contains("no_account"))
    #expect(try await provider.requests(to: "token", realm: "beta") == 0)

    #expect(try await login(proxy, "beta").status == 0)
    #expect(
      try await eventually {
        try await proxy.get("/beta/whoami").body.contains(provider.issuer(ofRealm: "beta"))
      })
    #expect(try await proxy.get("/alpha/whoami").body.contains(provider.issuer(ofRealm: "alpha")))
    #expect(try await provider.requests(to: "foreign", realm: "alpha") == 0)
    #expect(try await provider.requests(to: "foreign", realm: "beta") == 0)
  }

  @Test func `two realms with people of their own serve side by side, and one sign-out ends one`() async throws {
    let provider = try await provider([])
    let proxy = try await ProxyUnderTest(in: directory, configuration(provider, realms: ["alpha", "beta"]))
    for realm in ["alpha", "beta"] { #expect(try await login(proxy, realm).status == 0) }
    for realm in ["alpha", "beta"] {
      #expect(
        try await eventually {
          try await proxy.get("/\(realm)/whoami").body.contains("\"iss\":\"\(provider.issuer(ofRealm: realm))\"")
        })
    }
    let accounts = try await run([binary(), "accounts", "-c", proxy.configuration, "--json"])
    let listing = try Listing(accounts.output)
    #expect(listing.people(of: "alpha").count == 1 && listing.people(of: "beta").count == 1, "\(accounts.output)")

    // One name, two people: the id says whom.
    let both = try await run([binary(), "logout", "-c", proxy.configuration, "--account", "ann@id.example"])
    #expect(both.status == 1 && both.errors.contains("is several people"))
    let alpha = try #require(listing.people(of: "alpha").first)
    #expect(try await run([binary(), "logout", "-c", proxy.configuration, "--account", alpha]).status == 0)
    #expect(try await eventually { try await proxy.get("/alpha/whoami").status == 401 })
    #expect(try await proxy.get("/beta/whoami").status == 200)
  }

  @Test func `a refresh token that a thief used ends the sign-in, and callers are told to sign in`() async throws {
    let provider = try await provider(["--expires-in", "2"])
    let proxy = try await ProxyUnderTest(in: directory, configuration(provider))
    #expect(try await login(proxy, "alpha").status == 0)
    #expect(try await eventually { try await proxy.get("/alpha/whoami").status == 200 })
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
        last = try await proxy.get("/alpha/whoami").status
        return last == 401
      }, "\(last)")
    #expect(try await login(proxy, "alpha").status == 0)
    #expect(try await eventually { try await proxy.get("/alpha/whoami").status == 200 })
  }
}

/// The output of `accounts --json`.
private struct Listing: Decodable {
  private struct Application: Decodable {
    var application: String
    var accounts: [Account]
  }

  private struct Account: Decodable {
    var home_account_id: String
  }

  private var applications: [Application]

  init(_ text: String) throws {
    self = try JSONDecoder().decode(Listing.self, from: Data(text.utf8))
  }

  /// The ids of an application's people.
  func people(of name: String) -> [String] {
    applications.filter { $0.application == name }.flatMap(\.accounts).map(\.home_account_id)
  }
}
