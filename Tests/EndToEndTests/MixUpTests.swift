// Two identity providers, of which one attacks the other by mix-up: it sends people who sign in on to the honest one,
// to be handed that one's code.

import DemoProvider
import FoundationEssentials
import Glibc
import TestSupport
import Testing

/// The provider that attacks; see Tests/peers/mixup_provider.py.
private struct MixUpProvider {
  let port: Int
  let process: ChildProcess

  init(in directory: TemporaryDirectory, honest: DemoServices, redirectPath: String?) async throws {
    process = try ChildProcess(
      "mix-up-\(UUID().uuidString.prefix(4))",
      [
        "/usr/bin/python3", testsDirectory + "/peers/mixup_provider.py",
        "--honest", "\(honest.providerOrigin)/\(DemoDirectory.Sample.tenant)/oauth2/v2.0/authorize",
        "--client", DemoDirectory.Sample.desk, "--scope", "api://orders/Orders.Read openid profile offline_access",
      ] + (redirectPath.map { ["--redirect-path", $0] } ?? []), in: directory)
    port = try await announcedPort(of: process)
  }

  var issuer: String { "http://127.0.0.1:\(port)" }

  /// The requests that its token endpoint received.
  func stolen() async throws -> String { try await curl([issuer + "/testing/stolen"]).body }
}

@Suite("Mix-up", .keepsSecrets, .timeLimit(.minutes(3))) struct MixUpTests {
  private let directory: TemporaryDirectory
  private let settings: DemoSettings
  private let honest: DemoServices

  init() throws {
    directory = try TemporaryDirectory()
    settings = DemoSettings(directory: directory.path)
    honest = try DemoServices(settings)
  }

  /// A proxy with a route at each provider; `more` are further keys of both applications.
  private func proxy(_ evil: MixUpProvider, port: Int, more: String = "") async throws -> ProxyUnderTest {
    try await ProxyUnderTest(
      in: directory, port: port,
      """
      listeners: [{address: "127.0.0.1:\(port)", sign_in: true}]
      cache: {file: cache.json}
      applications:
        desk: {authority: "\(honest.issuer)", client_id: \(DemoDirectory.Sample.desk)\(more),
               tls: {ca_file: "\(settings.authorityPath)"}}
        evil: {authority: "\(evil.issuer)", client_id: evil\(more)}
      routes:
        - {name: orders, path: /orders/, upstream: "\(honest.apiOrigin)/api/", application: desk,
           tls: {ca_file: "\(settings.authorityPath)"}, token: {scopes: ["api://orders/Orders.Read"]}}
        - {name: weather, path: /weather/, upstream: "http://127.0.0.1:1/", application: evil, token: {scopes: \
      [weather]}}

      """)
  }

  /// The honest provider's redirect for a person who was sent to the other one: the path and query; nil: none.
  private func answer(to address: String) async throws -> (path: String, query: String)? {
    let sent = try await curl([address])
    let on = try #require(sent["location"], "\(sent.status)")
    #expect(on.hasPrefix(honest.providerOrigin))
    struct End: Decodable {
      var target: String
      var parameters: [String: String]
    }
    let text: String
    do {
      text = try await SigningInPerson(trust: settings.authorityPath).answer(to: on)
    } catch {
      return nil
    }
    let end = try JSONDecoder().decode(End.self, from: Data(text.utf8))
    let query = end.parameters.map { "\($0.key)=\(encoded($0.value))" }.joined(separator: "&")
    return (try #require(URLComponents(string: end.target)).path, query)
  }

  /// Goes to the page of the route at the attacker, to its button, and back with what the honest provider answered.
  private func attackPages(_ port: Int) async throws -> Answer? {
    let (origin, jar) = ("http://localhost:\(port)", directory.file("jar"))
    let page = try await curl(["-b", jar, "-c", jar, "\(origin)/.bearer/sign-in?route=weather"])
    let seal = try #require(page.body.between("name=\"seal\" value=\"", "\""))
    let begun = try await curl([
      "-b", jar, "-c", jar, "--data-urlencode", "route=weather", "--data-urlencode", "seal=\(seal)",
      "\(origin)/.bearer/sign-in",
    ])
    guard let answer = try await answer(to: #require(begun["location"])) else { return nil }
    return try await curl(["-b", jar, "-c", jar, "\(origin)\(answer.path)?\(answer.query)"])
  }

  @Test(arguments: [nil, "/.bearer/callback/desk", "/.bearer/callback"])
  func `the code of one provider is never handed to another, by the pages`(redirectPath: String?) async throws {
    let evil = try await MixUpProvider(in: directory, honest: honest, redirectPath: redirectPath)
    let port = try freePort()
    let proxy = try await proxy(evil, port: port)
    let end = try await attackPages(port)
    // The honest provider itself refuses a redirect URI that is not registered.
    #expect((end == nil) == (redirectPath == nil))
    if let end { #expect(end.status == 400 && end.heading == "Another application&#39;s sign-in", "\(end.body)") }
    #expect(try await evil.stolen() == "")
    // The honest provider's own people sign in as ever.
    let jar = directory.file("own-jar")
    let page = try await curl(["-b", jar, "-c", jar, "http://localhost:\(port)/.bearer/sign-in?route=orders"])
    let seal = try #require(page.body.between("name=\"seal\" value=\"", "\""))
    let begun = try await curl([
      "-b", jar, "-c", jar, "--data-urlencode", "route=orders", "--data-urlencode", "seal=\(seal)",
      "http://localhost:\(port)/.bearer/sign-in",
    ])
    let text = try await SigningInPerson(trust: settings.authorityPath).answer(to: try #require(begun["location"]))
    struct End: Decodable {
      var target: String
      var parameters: [String: String]
    }
    let own = try JSONDecoder().decode(End.self, from: Data(text.utf8))
    #expect(own.target == "http://localhost:\(port)/.bearer/callback/desk")
    let query = own.parameters.map { "\($0.key)=\(encoded($0.value))" }.joined(separator: "&")
    let done = try await curl(["-b", jar, "-c", jar, "\(own.target)?\(query)"])
    #expect(done.heading == "You are signed in", "\(done.body)")
    #expect(try await proxy.get("/orders/list").status == 200)
    await honest.stop()
  }

  @Test func `with a redirect URI shared by choice, the mix-up attack is as documented`() async throws {
    let evil = try await MixUpProvider(in: directory, honest: honest, redirectPath: nil)
    let port = try freePort()
    let proxy = try await proxy(evil, port: port, more: ", redirect_uri: shared")
    _ = try await attackPages(port)
    // This shows that the tests beside it attack.
    let stolen = try await evil.stolen()
    #expect(stolen.contains("code=") && stolen.contains("code_verifier="))
    withExtendedLifetime(proxy) {}
    await honest.stop()
  }

  @Test(arguments: [nil, "/.bearer/callback/desk", ""])
  func `the code of one provider is never handed to another, by login`(redirectPath: String?) async throws {
    let evil = try await MixUpProvider(in: directory, honest: honest, redirectPath: redirectPath)
    let proxy = try await proxy(evil, port: try freePort())
    let login = try Login(proxy.configuration, ["--route", "weather"], in: directory)
    let asked = try #require(URLComponents(string: try await login.address()))
    let redirect = try #require(asked.queryItems?.first { $0.name == "redirect_uri" }?.value)
    #expect(redirect.hasSuffix("/.bearer/callback/evil"))
    if let answer = try await answer(to: asked.string ?? "") {
      let port = try #require(URLComponents(string: redirect)?.port)
      let page = try await curl(["http://localhost:\(port)\(answer.path)?\(answer.query)"])
      #expect(page.status == 404, "\(page.body)")
    } else {
      #expect(redirectPath == nil)
    }
    #expect(try await evil.stolen() == "")
    login.process.send(SIGTERM)
    await honest.stop()
  }

  @Test func `with one provider the redirect URIs are those that registrations always had`() async throws {
    let port = try freePort()
    let proxy = try await ProxyUnderTest(
      in: directory, port: port,
      """
      listeners: [{address: "127.0.0.1:\(port)", sign_in: true}]
      cache: {file: cache.json}
      applications:
        desk: {authority: "\(honest.issuer)", client_id: \(DemoDirectory.Sample.desk),
               tls: {ca_file: "\(settings.authorityPath)"}}
        daemon: {authority: "http://127.0.0.1:1", client_id: daemon, client_secret: s3cret-of-another-provider}
      routes:
        - {name: orders, path: /orders/, upstream: "\(honest.apiOrigin)/api/", application: desk,
           tls: {ca_file: "\(settings.authorityPath)"}, token: {scopes: ["api://orders/Orders.Read"]}}
        - {name: own, path: /own/, upstream: "http://127.0.0.1:1/", application: daemon,
           token: {as: application, scopes: [x]}}

      """)
    let login = try Login(proxy.configuration, ["--route", "orders"], in: directory)
    let asked = try #require(URLComponents(string: try await login.address()))
    let redirect = try #require(asked.queryItems?.first { $0.name == "redirect_uri" }?.value)
    #expect(URLComponents(string: redirect)?.path == "")
    #expect(proxy.everythingWritten.contains("http://localhost:\(port)/.bearer/callback\""))
    login.process.send(SIGTERM)
    await honest.stop()
  }
}
