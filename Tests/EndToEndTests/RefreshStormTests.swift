// A thousand callers of four proxies that share one cache, at the instant when its token is over.

import FoundationEssentials
import TestSupport
import Testing

@Suite(.keepsSecrets, .timeLimit(.minutes(5)))
struct RefreshStormTests {
  private struct Storm: Decodable {
    var seconds: Double
    var statuses: [String: Int]
  }

  private func storm(_ requests: Int, _ proxies: [ProxyUnderTest]) async throws -> Storm {
    let output = try await succeed(
      peer("storm.py", ["/orders/all", "\(requests)"]) + proxies.map { "\($0.port)" }, within: .seconds(90))
    return try JSONDecoder().decode(Storm.self, from: Data(output.utf8))
  }

  @Test func `1,000 requests in 4 processes at the instant of expiry make 1 token request`() async throws {
    let scene = try await DeskScene()
    try await scene.lifetime(6)
    // Each of them holds the token, and none is asked again before it is over.
    let proxies = try await scene.proxies(4)
    #expect(try await eventually { scene.allAreExpired })
    try await scene.lifetime(3600)
    let before = try await scene.tokenRequests()
    let seen = scene.nginx.accessLog.count

    let storm = try await storm(250, proxies)
    #expect(storm.statuses == ["200": 1000])
    #expect(try await scene.tokenRequests() - before == 1)
    #expect(try await eventually { scene.nginx.accessLog.count == seen + 1000 })
    let tokens = scene.nginx.accessLog.dropFirst(seen).map { line in
      line.split(separator: " ").filter { $0.hasPrefix("authorization=") || $0.hasPrefix("ey") }
    }
    #expect(Set(tokens).count == 1)
    #expect(tokens.first?.count == 2)

    // They hold it now.
    #expect(try await self.storm(250, proxies).statuses == ["200": 1000])
    #expect(try await scene.tokenRequests() - before == 1)
  }
}
