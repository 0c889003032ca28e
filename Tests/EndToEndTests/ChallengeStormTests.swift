// Hundreds of callers at one instant, whose tokens an API refuses for different reasons: one token request for each reason, an answer
// for everybody, and an end to it where no token helps.

import FoundationEssentials
import Network
import Synchronization
import TestSupport
import Testing

/// A provider whose tokens prove what they were asked to, and an API each of whose parts demands proof of its own.
private final class DemandingAPI: Sendable {
  private final class Record: Sendable {
    /// The claims of each token request, in order.
    let asked = Mutex<[String]>([])
    /// Requests to the API.
    let requests = Atomic(0)
  }

  private let record: Record
  private let loop: EventLoop
  private let server: LoopServer

  var issuer: String { "http://127.0.0.1:\(server.port)" }
  var asked: [String] { record.asked.withLock { $0 } }
  var requests: Int { record.requests.load(ordering: .relaxed) }

  /// - Parameter isContent: whether a token that proves what a path demands is taken.
  init(isContent: Bool = true) throws {
    let record = Record()
    self.record = record
    loop = try EventLoop()
    server = try LoopServer(on: loop) { stream, _ in
      while true {
        let head = await stream.receiveText(through: "\r\n\r\n")
        guard let path = head.split(separator: " ").dropFirst().first.map(String.init) else { return }
        if path == "/token" {
          let length = head.between("ontent-Length: ", "\r\n").flatMap { Int($0) } ?? 0
          let form = String(decoding: await stream.receiveAll(length).bytes, as: UTF8.self)
          // One word is enough to know a demand by.
          let words = ["alpha", "beta", "gamma"].filter { form.contains($0) }.joined(separator: "+")
          let number = record.asked.withLock { asked in
            asked.append(words)
            return asked.count
          }
          await stream.answer(
            #"{"access_token": "\#(words).\#(number)", "token_type": "Bearer", "expires_in": 36000}"#)
        } else if path.hasPrefix("/.well-known") {
          let issuer = "http://\(head.between("ost: ", "\r\n") ?? "")"
          await stream.answer(#"{"issuer": "\#(issuer)", "token_endpoint": "\#(issuer)/token"}"#)
        } else {
          record.requests.add(1, ordering: .relaxed)
          let demand = path.split(separator: "/").last.map(String.init) ?? ""
          let token = head.between("Authorization: Bearer ", "\r\n") ?? ""
          if let number = Int(demand) {
            await stream.answer("refused", status: "401 Unauthorized", HostileChallenge.field(number))
          } else if demand == "free" || (isContent && token.hasPrefix(demand)) {
            await stream.answer(token.split(separator: ".").first.map(String.init) ?? "nothing")
          } else {
            let claims = Data(#"{"access_token":{"acrs":{"essential":true,"value":"\#(demand)"}}}"#.utf8)
            await stream.answer(
              "refused", status: "401 Unauthorized",
              "WWW-Authenticate: Bearer error=\"insufficient_claims\", claims=\"\(claims.base64EncodedString())\"\r\n")
          }
        }
      }
    }
  }
}

/// Challenges that nobody in their right mind sends, each another one.
private enum HostileChallenge {
  static let kinds = 6

  static func field(_ number: Int) -> String {
    let much = String(repeating: "0123456789abcdef", count: 4000)
    let value =
      switch number % kinds {
      case 0: #"Bearer error="insufficient_claims", claims="\#(claims(number))""#
      case 1: #"Bearer realm="\#(number)\#(much)""#
      case 2: (0..<5000).map { "Bearer a=\($0)" }.joined(separator: ",")
      case 3: #"Bearer error="insufficient_claims", claims="\#(number)\#(much)""#
      case 4: "Bearer error=\"\(number)\(much)"
      default: String(repeating: ",", count: 60_000) + "Bearer scope=\"\(number)"
      }
    return "WWW-Authenticate: \(value)\r\n"
  }

  /// As large as claims may be.
  private static func claims(_ number: Int) -> String {
    Data(#"{"n\#(number)":"\#(String(repeating: "x", count: 16_000))"}"#.utf8).base64EncodedString()
  }
}

extension ByteStream {
  fileprivate func answer(_ body: String, status: String = "200 OK", _ fields: String = "") async {
    await sendAll(
      "HTTP/1.1 \(status)\r\n\(fields)Content-Type: application/json\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
    )
  }
}

@Suite(.keepsSecrets, .timeLimit(.minutes(3)))
struct ChallengeStormTests {
  private struct Storm: Decodable {
    var seconds: Double
    var statuses: [String: Int]
    var bodies: [String: Int]
  }

  private func proxy(_ api: DemandingAPI, _ more: String = "") async throws -> (ProxyUnderTest, TemporaryDirectory) {
    let directory = try TemporaryDirectory()
    let proxy = try await ProxyUnderTest(
      in: directory,
      application(api.issuer)
        + """
        routes:
          - {name: api, path: /api/, upstream: "\(api.issuer)/api/", application: contoso,
             token: {as: application, scopes: [orders.read]}}
        \(more)

        """)
    #expect(try await eventually { try await proxy.get("/api/free").status == 200 })
    return (proxy, directory)
  }

  private func storm(_ paths: [String], _ requests: Int, _ proxy: ProxyUnderTest) async throws -> Storm {
    let output = try await succeed(
      [
        "python3", testsDirectory + "/peers/storm.py", paths.joined(separator: ","), "\(requests)", "\(proxy.port)",
      ], within: .seconds(90))
    return try JSONDecoder().decode(Storm.self, from: Data(output.utf8))
  }

  private static let demands = ["alpha", "beta", "gamma"]

  @Test func `a storm of challenged requests makes one token request per distinct claims, and each caller is served`()
    async throws
  {
    let api = try DemandingAPI()
    let (proxy, directory) = try await proxy(api)
    defer { withExtendedLifetime(directory) {} }
    #expect(api.asked == [""])
    let seen = api.requests

    let storm = try await storm(Self.demands.map { "/api/\($0)" }, 450, proxy)
    #expect(storm.statuses == ["200": 450])
    #expect(storm.bodies == ["/api/alpha alpha": 150, "/api/beta beta": 150, "/api/gamma gamma": 150])
    #expect(api.asked.dropFirst().sorted() == Self.demands)
    // Each request goes out once, or once more after a refusal.
    #expect(api.requests - seen <= 900)

    // Those who come later, with whichever token was obtained last, are served too, and nobody is asked again.
    for demand in Self.demands + Self.demands {
      let answer = try await proxy.get("/api/\(demand)")
      #expect(answer.status == 200, "\(demand): \(answer.body)")
      #expect(answer.body == demand)
    }
    #expect(api.asked.count == 4)
  }

  @Test func `an API that no token contents is asked twice by each caller, and the provider once per distinct claims`()
    async throws
  {
    let api = try DemandingAPI(isContent: false)
    let (proxy, directory) = try await proxy(api)
    defer { withExtendedLifetime(directory) {} }
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
    let (proxy, directory) = try await proxy(api, "limits: {head_bytes: 128KiB}")
    defer { withExtendedLifetime(directory) {} }
    var seconds = 0.0
    var before = 0
    let rounds = 24, callers = 48
    for round in 0..<rounds {
      // The buffers that many at once take are there to stay.
      if round == 4 { before = proxy.process.residentBytes }
      let storm = try await storm((0..<callers).map { "/api/\(round * callers + $0)" }, callers, proxy)
      #expect(storm.statuses == ["401": callers])
      #expect(storm.bodies.keys.allSatisfy { $0.hasSuffix(" refused") })
      seconds += storm.seconds
    }
    #expect(proxy.process.residentBytes - before < 12 << 20)
    #expect(api.asked.count - 1 <= 16 * (1 + Int(seconds) / 60), "\(api.asked.count)")
    #expect(api.asked.allSatisfy { $0.isEmpty })
    let unusable = try await metricSum(proxy, "bearer_proxy_challenges_total", "kind=\"unusable\"")
    #expect(unusable >= rounds * callers / HostileChallenge.kinds * 3, "\(unusable)")
    let warnings = proxy.everythingWritten.split(separator: "\n").filter { $0.contains("\"level\":\"warning\"") }
    #expect(warnings.count < 40, "\(warnings.count)")
    #expect(proxy.process.errors.utf8.count < 1 << 20)
    #expect(try await proxy.get("/api/free").status == 200)
  }
}
