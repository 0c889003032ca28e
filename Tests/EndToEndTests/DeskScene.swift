// A person who signs in with the demonstration's provider, for proxies that share the cache's file.

import Bytes
import DemoProvider
import FoundationEssentials
import TestSupport
import Testing

/// The demonstration's provider, an upstream that answers every caller, and any number of proxies in front of it.
struct DeskScene {
  let demo: DemoScene
  let nginx: NginxUpstream
  /// The file that the proxies share.
  let cache: String
  var directory: TemporaryDirectory { demo.directory }

  /// `cache` is the path of the file, if not in the scene's own directory.
  init(cache: String? = nil) async throws {
    demo = try DemoScene()
    nginx = try await NginxUpstream(in: demo.directory)
    self.cache = cache ?? demo.directory.file("cache.json")
  }

  /// A proxy with the route `/orders/` for Alice, and these `routes`, in a directory of its own; `place` keeps its
  /// tokens, in place of the scene's file. `top` comes before the applications, `applications` behind the first.
  func proxy(
    place: String? = nil, top: String = "", applications: String = "", routes: String = "",
    environment: [String: String] = [:]
  ) async throws -> ProxyUnderTest {
    try await ProxyUnderTest(
      environment: environment,
      """
      cache: \(place ?? "{file: \"\(cache)\"}")
      \(top)
      applications:
        desk: \(demo.application())
      \(applications)
      routes:
        - {name: orders, path: /orders/, upstream: "http://127.0.0.1:\(nginx.port)/echo/", application: desk,
           token: {account: alice@contoso.example, scopes: ["api://orders/Orders.Read"]}}
      \(routes)

      """)
  }

  /// So many proxies, at which Alice is signed in.
  func proxies(_ count: Int, place: String? = nil) async throws -> [ProxyUnderTest] {
    var proxies: [ProxyUnderTest] = []
    for _ in 0..<count { proxies.append(try await proxy(place: place)) }
    try await signIn(proxies[0])
    for proxy in proxies { try await serves(proxy) }
    return proxies
  }

  /// Signs Alice in with a proxy's configuration, and waits until it serves her.
  func signIn(_ proxy: ProxyUnderTest) async throws {
    try await proxy.signIn(["--route", "orders", "--device-code"], demo.person())
    try await serves(proxy)
  }

  private func serves(_ proxy: ProxyUnderTest) async throws {
    #expect(try await eventually { try await proxy.get("/orders/first").status == 200 }, "\(proxy.process.errors)")
  }

  /// Signs Alice out with a proxy's configuration, and waits until these do not serve her.
  func signOut(_ proxy: ProxyUnderTest, of proxies: [ProxyUnderTest]) async throws {
    let logout = try await proxy.command(["logout", "--account", "alice@contoso.example"])
    #expect(logout.status == 0, "\(logout.errors)")
    for proxy in proxies { #expect(try await eventually { try await proxy.get("/orders/out").status == 401 }) }
  }

  func lifetime(_ seconds: Int) async throws { try await demo.lifetime(seconds) }

  /// The number of token requests at the provider.
  func tokenRequests() async throws -> Int { try await demo.requests(to: "token") }

  /// True if the cache's file holds access tokens, and all of them expired at least a second ago.
  var allAreExpired: Bool {
    let tokens = members(textOfFile(cache))["AccessToken"]?.members ?? [:]
    let ends = tokens.values.map { $0.members?["expires_on"]?.seconds ?? .max }
    return !ends.isEmpty && ends.allSatisfy { $0 < Int64(Date().timeIntervalSince1970) }
  }
}
