// A person who signs in with the demonstration's provider, for proxies that share the cache's file.

import DemoProvider
import FoundationEssentials
import TestSupport
import Testing

/// The demonstration's provider, an upstream that answers every caller, and any number of proxies in front of it.
struct DeskScene {
  let directory: TemporaryDirectory
  let settings: DemoSettings
  let services: DemoServices
  let nginx: NginxUpstream
  /// The file that the proxies share.
  let cache: String

  /// `cache` is the path of the file, if not in the scene's own directory.
  init(cache: String? = nil) async throws {
    directory = try TemporaryDirectory()
    var settings = DemoSettings(directory: directory.path)
    settings.behaviour.deviceInterval = 1
    self.settings = settings
    services = try DemoServices(settings)
    let authority = try await CertificateAuthority(in: directory)
    nginx = try await NginxUpstream(in: directory, certificate: authority.issue("upstream"))
    self.cache = cache ?? directory.file("cache.json")
  }

  /// A proxy with the route `/orders/` for Alice, and these `routes`, in a directory of its own; `place` keeps its
  /// tokens, in place of the scene's file. `top` comes before the applications, `applications` behind the first.
  func proxy(
    place: String? = nil, top: String = "", applications: String = "", routes: String = "",
    environment: [String: String] = [:]
  ) async throws -> (
    proxy: ProxyUnderTest, directory: TemporaryDirectory
  ) {
    let own = try TemporaryDirectory()
    let proxy = try await ProxyUnderTest(
      in: own, environment: environment,
      """
      cache: \(place ?? "{file: \"\(cache)\"}")
      \(top)
      applications:
        desk:
          authority: "\(services.issuer)"
          client_id: \(DemoDirectory.Sample.desk)
          tls: {ca_file: "\(settings.authorityPath)"}
      \(applications)
      routes:
        - {name: orders, path: /orders/, upstream: "http://127.0.0.1:\(nginx.port)/echo/", application: desk,
           token: {account: alice@contoso.example, scopes: ["api://orders/Orders.Read"]}}
      \(routes)

      """)
    return (proxy, own)
  }

  /// Signs Alice in with a proxy's configuration.
  func signIn(_ proxy: ProxyUnderTest) async throws {
    let login = try await Login.run(
      proxy.configuration, ["--route", "orders", "--device-code"],
      person: SigningInPerson(trust: settings.authorityPath), in: directory)
    try #require(login.status == 0, "\(login.errors)")
  }

  /// Has access tokens live so long from now on. Who presents a refresh token that was replaced loses everything.
  func lifetime(_ seconds: Int) async throws {
    let behaviour = #"{"access_token_lifetime": \#(seconds), "refuse_replaced": true, "device_interval": 1}"#
    let answer = try await curl([
      "--cacert", settings.authorityPath, "-d", behaviour, services.providerOrigin + "/testing/behaviour",
    ])
    try #require(answer.status == 200, "\(answer.body)")
  }

  /// Ends the provider.
  func stop() async { await services.stop() }

  /// The number of token requests at the provider.
  func tokenRequests() async throws -> Int {
    let answer = try await curl(["--cacert", settings.authorityPath, services.providerOrigin + "/testing/requests"])
    return try JSONDecoder().decode([String: Int].self, from: Data(answer.body.utf8))["token"] ?? 0
  }

  /// True if the cache's file holds access tokens, and all of them expired at least a second ago.
  func allAreExpired() throws -> Bool {
    struct Document: Decodable {
      struct Entry: Decodable { var expires_on: String }
      var AccessToken: [String: Entry]?
    }
    let document = try JSONDecoder().decode(Document.self, from: Data(textOfFile(cache).utf8))
    let ends = (document.AccessToken ?? [:]).values.compactMap { Double($0.expires_on) }
    return !ends.isEmpty && ends.allSatisfy { $0 < Date().timeIntervalSince1970 }
  }
}
