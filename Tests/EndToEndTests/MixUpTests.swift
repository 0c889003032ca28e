// Two identity providers, of which one attacks the other by mix-up: it sends people who sign in on to the honest one,
// to be handed that one's code.

import DemoProvider
import FoundationEssentials
import Glibc
import TestSupport
import Testing

/// The provider that attacks; see Tests/peers/mixup_provider.py.
private struct MixUpProvider {
  let peer: PythonPeer

  init(in directory: TemporaryDirectory, honest: DemoServices, redirectPath: String?) async throws {
    let authorize = "\(honest.providerOrigin)/\(DemoDirectory.Sample.tenant)/oauth2/v2.0/authorize"
    peer = try await PythonPeer(
      "mixup_provider.py",
      [
        "--honest", authorize, "--client", DemoDirectory.Sample.desk, "--scope",
        "api://orders/Orders.Read openid profile offline_access",
      ] + (redirectPath.map { ["--redirect-path", $0] } ?? []), in: directory)
  }

  var issuer: String { "http://127.0.0.1:\(peer.port)" }

  /// The requests that its token endpoint received.
  func stolen() async throws -> String { try await curl([issuer + "/testing/stolen"]).body }
}

@Suite("Mix-up", .keepsSecrets, .timeLimit(.minutes(3))) struct MixUpTests {
  private let demo: DemoScene
  private var honest: DemoServices { demo.services }
  private var directory: TemporaryDirectory { demo.directory }

  init() throws { demo = try DemoScene() }

  /// A proxy with a route at the honest provider, and another application and its route; `more` are keys of `desk`.
  private func proxy(_ application: String, _ route: String, more: String = "") async throws -> ProxyUnderTest {
    try await ProxyUnderTest(
      in: directory,
      """
      listeners: [{address: "127.0.0.1:PORT", sign_in: true}]
      cache: {file: cache.json}
      applications:
        desk: \(demo.application(DemoDirectory.Sample.desk, more))
        \(application)
      defaults: {\(demo.tls)}
      routes:
      \(demo.route("orders"))
        \(route)
      """)
  }

  /// A proxy with a route at each provider; `more` are further keys of both applications.
  private func proxy(_ evil: MixUpProvider, more: String = "") async throws -> ProxyUnderTest {
    try await proxy(
      "evil: {authority: \"\(evil.issuer)\", client_id: evil\(more)}",
      "- {name: weather, path: /weather/, upstream: \"http://127.0.0.1:1/\", application: evil, token: {scopes: [a]}}",
      more: more)
  }

  /// The honest provider's redirect for a person who was sent to the other one: the path and query; nil: none.
  private func answer(to address: String) async throws -> ProviderEnd? {
    let sent = try await curl([address])
    let on = try #require(sent["location"], "\(sent.status)")
    #expect(on.hasPrefix(honest.providerOrigin))
    do {
      return try await ProviderEnd(of: demo.person(), at: on)
    } catch {
      return nil
    }
  }

  /// Opens the page of a route and presses its button. Returns the address to which the browser is sent.
  private func begin(_ route: String, _ origin: String, jar: String) async throws -> String {
    let page = try await browse("\(origin)/.bearer/sign-in?route=\(route)", jar: jar)
    try #require(page.body.contains("name=\"seal\""), "\(page.body)")
    let begun = try await browse("\(origin)/.bearer/sign-in", form(of: page, ["route": route]), jar: jar)
    return try #require(begun["location"], "\(begun.body)")
  }

  /// Goes to the page of the route at the attacker, to its button, and back with what the honest provider answered.
  private func attackPages(_ port: Int) async throws -> Answer? {
    let (origin, jar) = ("http://localhost:\(port)", directory.file("jar"))
    guard let end = try await answer(to: begin("weather", origin, jar: jar)) else { return nil }
    let path = try #require(URLComponents(string: end.target)).path
    return try await browse("\(origin)\(path)?\(end.query)", jar: jar)
  }

  @Test(arguments: [nil, "/.bearer/callback/desk", "/.bearer/callback"])
  func `the code of one provider is never handed to another, by the pages`(redirectPath: String?) async throws {
    let evil = try await MixUpProvider(in: directory, honest: honest, redirectPath: redirectPath)
    let proxy = try await proxy(evil)
    let end = try await attackPages(proxy.port)
    // The honest provider itself refuses a redirect URI that is not registered.
    #expect((end == nil) == (redirectPath == nil))
    if let end { #expect(end.status == 400 && end.heading == "Another application&#39;s sign-in", "\(end.body)") }
    #expect(try await evil.stolen() == "")
    // The honest provider's own people sign in as ever.
    let jar = directory.file("own-jar")
    let own = try await ProviderEnd(of: demo.person(), at: begin("orders", "http://localhost:\(proxy.port)", jar: jar))
    #expect(own.target == "http://localhost:\(proxy.port)/.bearer/callback/desk")
    let done = try await browse("\(own.target)?\(own.query)", jar: jar)
    #expect(done.heading == "You are signed in", "\(done.body)")
    #expect(try await proxy.get("/orders/list").status == 200)
  }

  @Test func `with a redirect URI shared by choice, the mix-up attack is as documented`() async throws {
    let evil = try await MixUpProvider(in: directory, honest: honest, redirectPath: nil)
    let proxy = try await proxy(evil, more: ", redirect_uri: shared")
    _ = try await attackPages(proxy.port)
    // This shows that the tests beside it attack.
    let stolen = try await evil.stolen()
    #expect(stolen.contains("code=") && stolen.contains("code_verifier="))
    withExtendedLifetime(proxy) {}
  }

  @Test(arguments: [nil, "/.bearer/callback/desk", ""])
  func `the code of one provider is never handed to another, by login`(redirectPath: String?) async throws {
    let evil = try await MixUpProvider(in: directory, honest: honest, redirectPath: redirectPath)
    let proxy = try await proxy(evil)
    let login = try Login(proxy.configuration, ["--route", "weather"])
    let asked = try #require(URLComponents(string: try await login.address()))
    let redirect = try #require(asked.queryItems?.first { $0.name == "redirect_uri" }?.value)
    #expect(redirect.hasSuffix("/.bearer/callback/evil"))
    if let end = try await answer(to: asked.string ?? "") {
      let port = try #require(URLComponents(string: redirect)?.port)
      let path = try #require(URLComponents(string: end.target)).path
      let page = try await curl(["http://localhost:\(port)\(path)?\(end.query)"])
      #expect(page.status == 404, "\(page.body)")
    } else {
      #expect(redirectPath == nil)
    }
    #expect(try await evil.stolen() == "")
    login.process.send(SIGTERM)
  }

  @Test func `with one provider the redirect URIs are those that registrations always had`() async throws {
    let proxy = try await proxy(
      "daemon: {authority: \"http://127.0.0.1:1\", client_id: daemon, client_secret: s3cret-of-another-provider}",
      "- {name: own, path: /own/, upstream: \"http://127.0.0.1:1/\", application: daemon, "
        + "token: {as: application, scopes: [x]}}")
    let login = try Login(proxy.configuration, ["--route", "orders"])
    let asked = try #require(URLComponents(string: try await login.address()))
    let redirect = try #require(asked.queryItems?.first { $0.name == "redirect_uri" }?.value)
    #expect(URLComponents(string: redirect)?.path == "")
    #expect(proxy.everythingWritten.contains("http://localhost:\(proxy.port)/.bearer/callback\""))
    login.process.send(SIGTERM)
  }
}
