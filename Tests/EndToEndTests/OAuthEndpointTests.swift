// The endpoints of a provider of Authlib's that only some providers have: pushed requests, revocation, and OAuth's
// metadata.

import TestSupport
import Testing

@Suite("Endpoints that some providers have", .keepsSecrets, .timeLimit(.minutes(4)))
struct OAuthEndpointTests {
  private let directory: TemporaryDirectory
  private let authority: CertificateAuthority

  init() async throws {
    directory = try TemporaryDirectory()
    authority = try await CertificateAuthority(in: directory)
  }

  private func provider(_ arguments: [String]) async throws -> OpenIDProvider {
    try await OpenIDProvider(
      in: directory, https: authority.issue("provider"),
      OpenIDProvider.desk + ["--signs-in", OpenIDProvider.client, "--ca-file", authority.file] + arguments)
  }

  private func proxy(
    _ provider: OpenIDProvider, secret: String = "", _ listeners: String = ""
  ) async throws -> ProxyUnderTest {
    try await ProxyUnderTest(
      in: directory,
      listeners
        + annsConfiguration(
          provider.issuer, client: secret.isEmpty ? "desk" : OpenIDProvider.client + secret, trust: authority))
  }

  private func signIn(_ proxy: ProxyUnderTest) async throws -> CommandResult {
    try await Login.run(
      proxy.configuration, ["--route", "hers"],
      person: OpenIDProvider.ann(trust: authority.file))
  }

  @Test(arguments: ["", ", client_secret: \"\(OpenIDProvider.secret)\""])
  func `a provider that wants to know first what is asked for is told, and the browser brings the name alone`(
    secret: String
  ) async throws {
    let provider = try await provider(["--requires-pushed"])
    let proxy = try await proxy(provider, secret: secret)
    let login = try Login(proxy.configuration, ["--route", "hers"])
    let address = try await login.address()
    #expect(address.contains("request_uri=urn") && !address.contains("code_challenge"), "\(address)")
    _ = try await OpenIDProvider.ann(trust: authority.file)
      .authorize(address)
    let result = try await login.result()
    #expect(result.status == 0, "\(result.errors)")
    #expect(try await eventually { try await proxy.get("/hers/whoami").status == 200 })
    #expect(try await provider.requests(to: "par") == 1)
  }

  @Test func `the sign-in pages push, too`() async throws {
    let provider = try await provider(["--requires-pushed"])
    let proxy = try await proxy(provider, "listeners:\n  - {address: \"127.0.0.1:PORT\", sign_in: true}\n")
    let (origin, jar) = ("http://localhost:\(proxy.port)", directory.file("jar"))
    let page = try await browse("\(origin)/.bearer/sign-in?route=hers", jar: jar)
    let begun = try await browse("\(origin)/.bearer/sign-in", form(of: page), jar: jar)
    let location = try #require(begun["location"], "\(begun.status) \(begun.body)")
    #expect(location.hasPrefix("\(provider.issuer)/authorize?client_id=desk&request_uri=urn"), "\(location)")
    #expect(try await provider.requests(to: "par") == 1)
    withExtendedLifetime(proxy) {}
  }

  @Test func `a sign-out revokes the tokens; if that fails, nothing is removed`() async throws {
    let provider = try await provider(["--revokes"])
    let proxy = try await proxy(provider)
    #expect(try await signIn(proxy).status == 0)
    let before = directory.read("cache.json")
    try await provider.behave(#"{"endpoint": "revoke", "status": 503}"#)
    let words = [try binary(), "logout", "-c", proxy.configuration, "--account", "ann@id.example", "--revoke"]
    let failed = try await run(words)
    #expect(
      failed.status == 1 && failed.errors.contains("were not revoked, so nothing was removed"), "\(failed.errors)")
    #expect(directory.read("cache.json") == before)
    try await provider.behave("{}")
    let done = try await run(words)
    #expect(
      done.status == 0
        && done.output == "ann@id.example is signed out of desk, and the provider has ended the tokens\n",
      "\(done.output)\(done.errors)")
    #expect(try await provider.requests(to: "revoked") == 1)
    #expect(!directory.read("cache.json").contains("refreshtoken"))
    #expect(try await eventually { try await proxy.get("/hers/whoami").status == 401 })
  }

  @Test func `a provider without a revocation endpoint is named, and nothing is removed`() async throws {
    let provider = try await provider([])
    let proxy = try await proxy(provider)
    #expect(try await signIn(proxy).status == 0)
    let words = [try binary(), "logout", "-c", proxy.configuration, "--account", "ann@id.example"]
    let refused = try await run(words + ["--revoke"])
    #expect(refused.status == 1 && refused.errors.contains("metadata has no revocation_endpoint"), "\(refused.errors)")
    #expect(directory.read("cache.json").contains("refreshtoken"))
    #expect(try await run(words).status == 0)
  }
}
