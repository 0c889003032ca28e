// Hundreds of callers at one instant, whose tokens an API refuses for different reasons: one token request for each
// reason, an answer for every caller, and an end to it if no token helps.

import FoundationEssentials
import TestSupport
import Testing

@Suite(.keepsSecrets, .timeLimit(.minutes(10)))
struct ChallengeStormTests {
  private struct Storm: Decodable {
    var seconds: Double
    var statuses: [String: Int]
    var bodies: [String: Int]
  }

  private func proxy(_ api: DemandingAPI, _ more: String = "") async throws -> ProxyUnderTest {
    let proxy = try await ProxyUnderTest(
      application(api.issuer)
        + """
        routes:
          - {name: api, path: /api/, upstream: "\(api.upstream)/", application: contoso,
             token: {as: application, scopes: [orders.read]}}
        \(more)

        """)
    #expect(try await eventually { try await proxy.get("/api/free").status == 200 })
    return proxy
  }

  private func storm(_ paths: [String], _ requests: Int, _ proxy: ProxyUnderTest) async throws -> Storm {
    let output = try await succeed(
      peer("storm.py", [paths.joined(separator: ","), "\(requests)", "\(proxy.port)"]), within: .seconds(90))
    return try JSONDecoder().decode(Storm.self, from: Data(output.utf8))
  }

  private static let demands = ["alpha", "beta", "gamma"]

  @Test func `a storm of challenged requests makes one token request per distinct claims, and each caller is served`()
    async throws
  {
    let api = try DemandingAPI()
    let proxy = try await proxy(api)
    #expect(api.asked == [""])
    let seen = api.requests
    let began = ContinuousClock.now

    let storm = try await storm(Self.demands.map { "/api/\($0)" }, 450, proxy)
    #expect(storm.statuses == ["200": 450])
    #expect(storm.bodies == ["/api/alpha alpha": 150, "/api/beta beta": 150, "/api/gamma gamma": 150])
    #expect(api.asked.dropFirst().sorted() == Self.demands)
    // Each request goes out once, or once more after a refusal.
    #expect(api.requests - seen <= 900)

    // Those who come later, with whichever token was obtained last, are served too, and the provider is not asked
    // again: not within the minute for which a rejection is remembered.
    for demand in Self.demands + Self.demands {
      let answer = try await proxy.get("/api/\(demand)")
      #expect(answer.status == 200, "\(demand): \(answer.body)")
      #expect(answer.body == demand)
    }
    let minutes = 1 + Int((ContinuousClock.now - began).components.seconds) / 59
    #expect(api.asked.count - 1 <= 3 * minutes, "\(api.asked) in \(minutes) minutes")
    #expect(api.astray == 0, "an address that a challenge names was contacted")
  }

  @Test func `an API that no token contents is asked twice by each caller, and the provider once per distinct claims`()
    async throws
  {
    let api = try DemandingAPI(isContent: false)
    let proxy = try await proxy(api)
    let seen = api.requests
    let storm = try await storm(Self.demands.map { "/api/\($0)" }, 300, proxy)
    #expect(storm.statuses == ["401": 300])
    #expect(storm.bodies == ["/api/alpha refused": 100, "/api/beta refused": 100, "/api/gamma refused": 100])
    // After some seconds the same may be asked again: a storm on a slow machine takes longer than that.
    let turns = 1 + Int(storm.seconds) / 5
    #expect(Set(api.asked.dropFirst()) == Set(Self.demands))
    #expect(api.asked.count - 1 <= 3 * turns, "\(api.asked) in \(storm.seconds) s")
    #expect((300...600).contains(api.requests - seen))
    #expect(try await proxy.get("/api/free").status == 200)
  }

  @Test func `a flood of huge and strange challenges is passed on, costs few token requests, and is not kept`()
    async throws
  {
    let api = try DemandingAPI()
    let proxy = try await proxy(api, "limits: {head_bytes: 128KiB}")
    let began = ContinuousClock.now
    var before = 0
    let rounds = 24, callers = 48
    for round in 0..<rounds {
      // The buffers that many at once take are there to stay. Under the address sanitizer, whose allocator keeps much
      // of what was freed, they grow for ten rounds, then hardly.
      if round == rounds / 2 { before = proxy.process.residentBytes }
      let storm = try await storm((0..<callers).map { "/api/\(round * callers + $0)" }, callers, proxy)
      #expect(storm.statuses == ["401": callers])
      #expect(storm.bodies.keys.allSatisfy { $0.hasSuffix(" refused") })
    }
    // A third of what the rounds since then have sent: 576 fields of 57 KB on average.
    #expect(proxy.process.residentBytes - before < 11 << 20)
    // Sixteen different ones a minute, by a clock of whole seconds.
    let minutes = 1 + Int((ContinuousClock.now - began).components.seconds) / 59
    #expect(api.asked.count - 1 <= 16 * minutes, "\(api.asked.count) in \(minutes) minutes")
    #expect(api.asked.allSatisfy { $0.isEmpty })
    let unusable = try await metricSum(proxy, "bearer_proxy_challenges_total", "kind=\"unusable\"")
    #expect(unusable >= rounds * callers / HostileChallenge.kinds * 3, "\(unusable)")
    let warnings = proxy.everythingWritten.split(separator: "\n").filter { $0.contains("\"level\":\"warning\"") }
    #expect(warnings.count < 40, "\(warnings.count)")
    #expect(proxy.process.errors.utf8.count < 1 << 20)
    #expect(try await proxy.get("/api/free").status == 200)
  }
}
