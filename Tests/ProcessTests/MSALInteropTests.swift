// The real msal and this module in turn on one file, at a provider that both know as login.microsoftonline.com.

import Bytes
import DemoProvider
import FoundationEssentials
import HTTP
import HTTPClient
import Platform
import TestSupport
import Testing
import Tokens

@testable import Identity

@Suite(.timeLimit(.minutes(5))) struct MSALInteropTests {
  private static let entra = "https://login.microsoftonline.com"
  let directory: TemporaryDirectory

  init() throws { directory = try TemporaryDirectory() }

  private func application(
    _ tenant: String, client: String, store: CacheStore, now: @escaping @Sendable () -> UnixTime,
    fetch: @escaping Fetch
  ) throws -> PublicClientApplication {
    PublicClientApplication(
      ClientApplicationBase(
        Application(
          name: "shared", authority: try Authority("\(Self.entra)/\(tenant)"), clientID: client, credential: nil,
          fetch: fetch), cache: store, surroundings: TokenBroker.Surroundings(now: now, jitter: { 0 }),
        loop: try EventLoop()))
  }

  /// msal's answer: see Tests/peers/msal_peer.py.
  private struct Told: Decodable {
    var token: String?
    var error: String?
    var source: String?
    var posts: Int?
  }

  @Test("at Microsoft's host each is served what the other obtained, and redeems what the other was given")
  func inTurn() async throws {
    var settings = DemoSettings(directory: directory.path)
    settings.behaviour.deviceInterval = 1
    settings.behaviour.refusesReplacedTokens = true
    let services = try DemoServices(settings)
    let (origin, path) = (services.providerOrigin, directory.file("cache.json"))
    func msal(_ words: String...) async throws -> Told {
      let output = try await succeed(
        peer("msal_peer.py", ["--ca", settings.authorityPath, "--origin", origin, "--cache", path, "--entra"]) + words)
      return try JSONDecoder().decode(Told.self, from: Data(output.utf8))
    }
    let posts = Locked(0)
    let loop = try EventLoop()
    let real = Fetcher(loop: loop, resolver: Resolver()).bound(
      tls: try TLSContext.client(trustPath: settings.authorityPath))
    let store = await CacheStore.file(path: path)
    let application = try application(
      DemoDirectory.Sample.tenant, client: DemoDirectory.Sample.desk, store: store,
      now: { .now },
      fetch: { request throws(FetchError) in
        if case .post = request.method { posts.withLock { $0 += 1 } }
        return try await Self.renamed(request, origin: origin, by: real)
      })
    func silent(force: Bool = false) async throws -> String? {
      let result = try await application.acquireTokenSilent(
        scopes: ["api://orders/Orders.Read"], account: nil, forceRefresh: force)
      return try SignedJWT(result.accessToken.revealed()).claims.tokenIdentifier
    }

    let signedIn = try await msal("sign-in")
    #expect(signedIn.error == nil, "\(signedIn)")
    var last = try #require(signedIn.token)
    #expect(try await eventually { await !application.accounts().isEmpty })
    for round in 1...3 {
      // Tokens that they obtained are in our cache.
      #expect(try await eventually { try await silent() == last }, "round \(round)")
      #expect(posts.withLock { $0 } == round - 1)
      // Tokens that we obtain are theirs, without a request.
      last = try #require(try await silent(force: true))
      let theirs = try await msal("silent")
      #expect(theirs.token == last && theirs.posts == 0 && theirs.source == "cache", "\(theirs)")
      // And they redeem the refresh token that we were given.
      let forced = try await msal("silent", "--force")
      #expect(forced.error == nil && forced.posts == 1 && forced.token != last, "\(forced)")
      last = try #require(forced.token)
    }
    let document = try CacheDocument(text: Array(directory.read("cache.json").utf8))
    for section in [CacheSection.accessToken, .refreshToken, .idToken, .account, .appMetadata] {
      #expect(document[section].count == 1, "\(section)")
    }
  }

  /// Sends what is meant for Microsoft's host to the demonstration's, which then calls itself by that name.
  private static func renamed(
    _ request: FetchRequest, origin: String, by fetch: Fetch
  ) async throws(FetchError) -> FetchResponse {
    var real = request
    do throws(HTTPURLError) {
      real.url = try HTTPURL(request.url.description.replacing(entra, with: origin))
    } catch {
      throw .malformed(host: request.url.host)
    }
    var response = try await fetch(real)
    response.body = Array(String(decoding: response.body, as: UTF8.self).replacing(origin, with: entra).utf8)
    return response
  }
}
