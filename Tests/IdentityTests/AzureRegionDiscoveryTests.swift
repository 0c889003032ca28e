// The machine's region: asked of a double of Azure's metadata service, once, directly; and what happens without it.

import Bytes
import HTTP
import HTTPClient
import Platform
import Testing
import Tokens

@testable import Identity

@Suite(.timeLimit(.minutes(5))) struct AzureRegionDiscoveryTests {
  private static let authority = AccountBench.authority

  /// Both: the metadata service, and Entra in the region and beside it.
  private actor Cloud {
    var region: Result<FetchResponse, FetchError>
    private(set) var asked: [FetchRequest] = []
    private(set) var hosts: [String] = []

    init(_ region: Result<FetchResponse, FetchError>) { self.region = region }

    func change(_ region: Result<FetchResponse, FetchError>) { self.region = region }

    nonisolated var fetch: Fetch {
      { request throws(FetchError) in try await self.answer(request).get() }
    }

    private func answer(_ request: FetchRequest) -> Result<FetchResponse, FetchError> {
      if request.destination == .region {
        asked.append(request)
        return region
      }
      guard case .post = request.method else {
        return .success(FetchResponse(status: 200, body: Array(AccountBench.metadata.utf8)))
      }
      hosts.append(request.url.host)
      let token = #"{"access_token": "T", "token_type": "Bearer", "expires_in": 3600}"#
      return .success(FetchResponse(status: 200, body: Array(token.utf8)))
    }
  }

  private static func text(_ status: Int, _ text: String) -> Result<FetchResponse, FetchError> {
    .success(FetchResponse(status: status, body: Array(text.utf8)))
  }

  private final class Scene: Sendable {
    let clock = ManualClock()
    let outcomes = Locked<[AzureRegionDiscovery.Outcome]>([])
    let cloud: Cloud
    private let broker: TokenBroker
    private let memory: ClientAuthenticationMemory

    init(_ region: Result<FetchResponse, FetchError>) {
      cloud = Cloud(region)
      broker = TokenBroker(at: clock)
      memory = ClientAuthenticationMemory { [outcomes] outcome in outcomes.withLock { $0.append(outcome) } }
    }

    func request(_ choice: AzureRegionChoice?, _ api: String) async throws {
      var application = Application(
        name: "demo", authority: try Authority(AzureRegionDiscoveryTests.authority), clientID: "client",
        credential: .secret(Secret("s")), fetch: cloud.fetch)
      application.region = choice
      application.authentication = memory
      _ = try await broker.bearer(for: application.wish("api://\(api)/.default"))
    }
  }

  @Test func `the machine's region is asked for once, and serves all later requests`() async throws {
    let scene = Scene(Self.text(200, "westeurope\n"))
    for api in ["a", "b", "c"] { try await scene.request(.discovered, api) }
    let asked = await scene.cloud.asked
    #expect(asked.map(\.url.description) == [AzureRegionDiscovery.address])
    #expect(asked[0].fields.map { "\($0.name): \($0.value)" } == ["metadata: true"])
    #expect(await scene.cloud.hosts == Array(repeating: "westeurope.login.microsoft.com", count: 3))
    #expect(scene.outcomes.withLock { $0 } == [.found(try #require(AzureRegion("westeurope")))])
  }

  static let failures: [(Result<FetchResponse, FetchError>, String)] = [
    (.failure(FetchError.timedOut(host: "169.254.169.254")), "169.254.169.254 did not answer in time"),
    (text(404, "none"), "it answered with status 404"), (text(200, ""), "its answer names no region"),
    (text(200, "evil.example/"), "its answer names no region"),
    (text(200, "<html>portal</html>"), "its answer names no region"),
  ]

  @Test(arguments: failures)
  func `without it the global endpoint serves, and the machine is asked again after an hour`(
    answer: Result<FetchResponse, FetchError>, reason: String
  ) async throws {
    let scene = Scene(answer)
    for api in ["a", "b"] { try await scene.request(.discovered, api) }
    #expect(await scene.cloud.asked.count == 1)
    #expect(await scene.cloud.hosts == ["login.microsoftonline.com", "login.microsoftonline.com"])
    #expect(scene.outcomes.withLock { $0 } == [.failed(reason: reason)])
    await scene.cloud.change(Self.text(200, "westeurope"))
    scene.clock.advance(AzureRegionDiscovery.pause - 1)
    try await scene.request(.discovered, "c")
    #expect(await scene.cloud.asked.count == 1)
    scene.clock.advance(1)
    try await scene.request(.discovered, "d")
    #expect(await scene.cloud.hosts.last == "westeurope.login.microsoft.com")
  }

  @Test func `a region that is configured is not asked for, nor if none is wanted`() async throws {
    let scene = Scene(Self.text(200, "westeurope"))
    try await scene.request(AzureRegion("northeurope").map { .named($0) }, "a")
    try await scene.request(nil, "b")
    #expect(await scene.cloud.asked.isEmpty)
    #expect(await scene.cloud.hosts == ["northeurope.login.microsoft.com", "login.microsoftonline.com"])
  }
}
