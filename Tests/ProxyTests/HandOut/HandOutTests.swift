// Tokens for engines, as an engine sees them: what it gets for its first question, for a refusal that it reports, and
// what a caller behind it could try.

import HTTPClient
import Identity
@testable import Platform
import Routing
import TestSupport
import Testing
import Tokens

@testable import Proxy

@Suite(.timeLimit(.minutes(5)))
struct HandOutTests {
  private static let path = "/.bearer/authorize/all"
  private static let challenge = "X-Bearer-Challenge: " + ChallengeBench.claimsField.dropFirst(18)

  /// The report of the first token's refusal for its claims.
  private static let report = "X-Bearer-Refused: Bearer T1\r\nX-Bearer-Status: 401\r\n" + challenge

  private static func bench(
    _ rules: RouteTokenRules = RouteTokenRules(isHandedOut: true), person: Bool = false, isDown: Bool = false
  ) throws -> ChallengeBench {
    try ChallengeBench(rules: rules, person: person, isDown: isDown) { _ in ChallengeBench.fine }
  }

  @Test(arguments: ["", "/", "/x/../y?z=1", "?a=b", "/%2e/deep"])
  func `an engine gets the route's token, whatever follows the route's name`(rest: String) async throws {
    let bench = try Self.bench()
    let answer = try await bench.get(Self.path + rest)
    #expect(answer.hasPrefix("HTTP/1.1 200 OK\r\n"))
    #expect(answer.contains("\r\nAuthorization: Bearer T1\r\n"))
    #expect(answer.contains("\r\nCache-Control: no-store\r\n"))
    #expect(answer.contains("\r\nX-Bearer-Expires: 36000\r\n") || answer.contains("\r\nX-Bearer-Expires: 35"))
    #expect(answer.hasSuffix("Content-Length: 0\r\nConnection: close\r\n\r\n"))
    #expect(bench.requests.isEmpty)
    #expect(bench.handedOut == 1)
  }

  @Test(arguments: ["GET", "HEAD", "POST", "DELETE", "PATCH", "OPTIONS"])
  func `an engine may keep its caller's method, and asks on one connection`(method: String) async throws {
    let bench = try Self.bench()
    let caller = try RawConnection(port: bench.proxy.port, patience: 240)
    for _ in 0..<3 {
      try await caller.send("\(method) \(Self.path) HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n")
      let answer = try await caller.receive(until: { $0.hasSuffix("\r\n\r\n") })
      #expect(answer.hasPrefix("HTTP/1.1 200 OK\r\n"))
      #expect(answer.contains("Authorization: Bearer T1"))
      #expect(!answer.contains("Connection: close"))
    }
    #expect(bench.forms.count == 1)
  }

  @Test(
    arguments: [
      (challenge, 401, "claims", true),
      ("X-Bearer-Challenge: Bearer error=\"invalid_token\"\r\n", 401, "invalid_token", false),
    ])
  func `a refused token brings another one, as on a request of our own`(
    fields: String, status: Int, kind: String, hasClaims: Bool
  ) async throws {
    let bench = try Self.bench()
    #expect(try await bench.get(Self.path).contains("Bearer T1\r\n"))
    let report = "X-Bearer-Refused: Bearer T1\r\nX-Bearer-Status: \(status)\r\n\(fields)"
    #expect(try await bench.get(Self.path, report).contains("\r\nAuthorization: Bearer T2\r\n"))
    #expect(bench.forms.count == 2)
    #expect(bench.forms[1].contains("nbf") == hasClaims)
    #expect(bench.count(kind, "replayed") == 1)
    // The next caller of the refused token, and the next first question, get the same one.
    #expect(try await bench.get(Self.path, report).contains("Bearer T2\r\n"))
    #expect(try await bench.get(Self.path).contains("Bearer T2\r\n"))
    #expect(bench.forms.count == 2)
  }

  @Test func `a thousand callers with one refused token cost one token request`() async throws {
    let bench = try Self.bench()
    _ = try await bench.get(Self.path)
    let answers = try await withThrowingTaskGroup(of: String.self) { group in
      for _ in 0..<20 {
        group.addTask {
          let caller = try RawConnection(port: bench.proxy.port, patience: 240)
          var all = ""
          for _ in 0..<50 {
            try await caller.send("GET \(Self.path) HTTP/1.1\r\nHost: localhost\r\n\(Self.report)\r\n")
            all += try await caller.receive(until: { $0.hasSuffix("\r\n\r\n") })
          }
          return all
        }
      }
      return try await group.reduce(into: "") { $0 += $1 }
    }
    #expect(answers.ranges(of: "Authorization: Bearer T2\r\n").count == 1000)
    #expect(bench.forms.count == 2)
  }

  @Test func `a refused token that this process never had brings the one it holds`() async throws {
    let bench = try Self.bench()
    _ = try await bench.get(Self.path)
    for _ in 0..<3 {
      let report = "X-Bearer-Refused: Bearer old\r\nX-Bearer-Status: 401\r\n"
      #expect(try await bench.get(Self.path, report).contains("Authorization: Bearer T1\r\n"))
    }
    #expect(bench.forms.count == 1)
  }

  @Test(
    arguments: [
      // A 401 without a reason does not blame a new token.
      ("X-Bearer-Status: 401\r\n", 401, "Bearer"), ("X-Bearer-Challenge: \r\nX-Bearer-Status:\r\n", 401, "Bearer"),
      (
        "X-Bearer-Status: 403\r\nX-Bearer-Challenge: Bearer error=\"insufficient_scope\", scope=\"Admin\"\r\n", 403,
        "Bearer error=\"insufficient_scope\", scope=\"Admin\""
      ),
      (
        "X-Bearer-Status: 401\r\nX-Bearer-Challenge: Bearer scope=\"a\", resource_metadata=\"x\"\r\n",
        401, "Bearer scope=\"a\""
      ),
      (
        "X-Bearer-Status: 401\r\nX-Bearer-Challenge: Basic realm=x\r\nX-Bearer-Challenge: "
          + "Bearer error=\"insufficient_user_authentication\", max_age=\"5\"\r\n", 401,
        "Basic realm=x, Bearer error=\"insufficient_user_authentication\", max_age=\"5\""
      ),
    ])
  func `a challenge that no token answers goes back to the engine in one field`(
    fields: String, status: Int, challenge: String
  ) async throws {
    let bench = try Self.bench()
    _ = try await bench.get(Self.path)
    let answer = try await bench.get(Self.path, "X-Bearer-Refused: Bearer T1\r\n" + fields)
    #expect(statusOf(answer) == status)
    #expect(answer.ranges(of: "WWW-Authenticate:").count == 1)
    #expect(answer.contains("\r\nWWW-Authenticate: \(challenge)\r\n"))
    #expect(answer.contains("urn:bearer-proxy:problem:token-refused"))
    #expect(!answer.contains("Authorization: Bearer T"))
    #expect(bench.forms.count == 1)
  }

  @Test func `a person who is not signed in is told so, with one challenge`() async throws {
    let bench = try Self.bench(person: true)
    let answer = try await bench.get(Self.path)
    #expect(statusOf(answer) == 401)
    #expect(answer.ranges(of: "WWW-Authenticate:").count == 1)
    #expect(answer.contains("interaction-required"))
    #expect(answer.contains(#""sign_in":"/.bearer/sign-in?route=all""#))
    // A person's browser behind the engine gets the page.
    let page = try await bench.get(Self.path, "Accept: text/html\r\n")
    #expect(statusOf(page) == 401)
    #expect(page.contains("Content-Type: text/html"))
  }

  @Test func `claims that no request of ours brings are remembered for the sign-in page`() async throws {
    let bench = try Self.bench()
    _ = try await bench.get(Self.path)
    #expect(bench.proxy.service.process.signInRequirements.known["all"] == nil)
    // The second token has what was demanded, and is refused for the same.
    for (token, status) in [("T1", 200), ("T2", 401)] {
      let report = "X-Bearer-Refused: Bearer \(token)\r\nX-Bearer-Status: 401\r\n" + Self.challenge
      #expect(statusOf(try await bench.get(Self.path, report)) == status)
    }
    let need = bench.proxy.service.process.signInRequirements.known["all"]
    #expect(need?.claims == (try Claims(json: ChallengeBench.claims)))
    #expect(bench.forms.count == 2)
  }

  @Test func `claims that the provider could not be asked for are not remembered`() async throws {
    let bench = try Self.bench()
    _ = try await bench.get(Self.path)
    let away = FetchResponse(status: 503, fields: [], body: [])
    // A request is repeated once.
    bench.provider(answers: away, away)
    for _ in 0..<2 { #expect(statusOf(try await bench.get(Self.path, Self.report)) == 401) }
    #expect(bench.count("claims", "already_answered") == 1)
    #expect(bench.proxy.service.process.signInRequirements.known["all"] == nil)
  }

  @Test func `another sign-in that an API demands behind an engine is remembered, too`() async throws {
    let bench = try Self.bench()
    _ = try await bench.get(Self.path)
    let report = "X-Bearer-Refused: Bearer T1\r\nX-Bearer-Status: 401\r\nX-Bearer-Challenge: Bearer "
    let demand = "error=\"insufficient_user_authentication\", acr_values=\"c1 c2\", max_age=\"60\"\r\n"
    #expect(statusOf(try await bench.get(Self.path, report + demand)) == 401)
    let need = bench.proxy.service.process.signInRequirements.known["all"]
    #expect(need?.authenticationContexts == ["c1", "c2"] && need?.maxAge == 60)
  }

  @Test func `without the provider it is 503, or the status that the engine can pass on`() async throws {
    let bench = try Self.bench(isDown: true)
    let answer = try await bench.get(Self.path)
    #expect(statusOf(answer) == 503)
    #expect(answer.contains("\r\nRetry-After: "))
    let other = try await bench.get(Self.path, "X-Bearer-Unavailable: 429\r\n")
    #expect(statusOf(other) == 429)
    #expect(other.contains("\r\nRetry-After: "))
  }

  @Test func `an engine that asks for the refusal again gets no token in its place`() async throws {
    let bench = try Self.bench()
    let answer = try await bench.get(Self.path, "X-Bearer-Answer: refusal\r\n")
    #expect(statusOf(answer) == 503)
    #expect(answer.contains("\r\nRetry-After: 1\r\n"))
    #expect(!answer.contains("Authorization: Bearer"))
    #expect(bench.handedOut == 0)
    #expect(statusOf(try await bench.get(Self.path, "X-Bearer-Answer: token\r\n")) == 400)
  }

  @Test(
    arguments: [
      ("/.bearer/authorize/other", "", 404), ("/.bearer/authorize/", "", 404), ("/.bearer/authorize/al", "", 404),
      ("/.bearer/authorize/all/..%2f..%2fother", "", 400), ("/.bearer/authorize/all/../other", "", 400),
      ("/.bearer/authorize/all/x/../../other", "", 400), ("/x/../.bearer/authorize/all", "", 404),
      ("/.bearer/authorize/ALL", "", 404), ("/.bearer/other", "", 404), ("//.bearer/authorize/all", "", 400),
      (path, "Origin: https://evil.example\r\n", 403), (path, "Sec-Fetch-Mode: navigate\r\n", 403),
      (path, "Sec-Fetch-Site: none\r\nSec-Fetch-User: ?1\r\n", 403), (path, "Sec-Fetch-User: ?1\r\n", 403),
      (path, "Content-Length: 2\r\n", 400), (path, "Transfer-Encoding: chunked\r\n", 400),
      (path, "X-Bearer-Refused: Basic eA==\r\n", 400), (path, "X-Bearer-Refused: Bearer \r\n", 400),
      (path, "X-Bearer-Refused: Bearer a\r\nX-Bearer-Refused: Bearer b\r\n", 400),
      (path, "X-Bearer-Refused: Bearer a\r\nX-Bearer-Status: 402\r\n", 400),
      (path, "X-Bearer-Status: 200\r\n", 400), (path, "X-Bearer-Unavailable: 200\r\n", 400),
    ])
  func `other paths, browsers, content and broken reports get no token`(
    path: String, fields: String, status: Int
  ) async throws {
    let bench = try Self.bench()
    let answer = try await bench.get(path, fields)
    #expect(statusOf(answer) == status)
    #expect(!answer.contains("Authorization: Bearer"))
    #expect(bench.forms.isEmpty)
    #expect(bench.requests.isEmpty)
    #expect(bench.handedOut == 0)
  }

  @Test func `a listener that does not hand out tokens forwards the path like any other`() async throws {
    let bench = try Self.bench(RouteTokenRules())
    #expect(try await bench.get(Self.path).hasSuffix("ok"))
    #expect(bench.requests.count == 1)
  }

  // MARK: Routes by description

  @Test(
    arguments: [
      ("X-Original-Method: GET\r\nX-Original-URI: /a/b?c\r\n", 200),
      ("X-Forwarded-Method: PUT\r\nX-Forwarded-Uri: /a\r\nX-Forwarded-Host: api.example:8443\r\n", 200),
      ("X-Original-Method: GET\r\n", 400), ("X-Original-URI: /a\r\n", 400), ("", 400),
      ("X-Original-Method: GET\r\nX-Original-URI: https://api.example/a\r\n", 400),
      ("X-Original-Method: GET\r\nX-Original-URI: /a b\r\n", 400),
      ("X-Original-Method: GET\r\nX-Original-URI: /a\r\nX-Original-URI: /b\r\n", 400),
      ("X-Original-Method: GET\r\nX-Original-URI: /a\r\nX-Forwarded-Uri: /b\r\n", 400),
      ("X-Forwarded-Method: GET\r\nX-Forwarded-Uri: /a\r\n", 400),
      ("X-Forwarded-Method: GET\r\nX-Forwarded-Uri: /a\r\nX-Forwarded-Host: a@b\r\n", 400),
      ("X-Original-Method: GET\r\nX-Original-URI: /../a\r\n", 403),
      ("X-Original-Method: GET\r\nX-Original-URI: /%zz\r\n", 403),
      ("X-Original-Method: GET\r\nX-Original-URI: /a/..;/b\r\n", 403),
      ("X-Original-Method: GET\r\nX-Original-URI: /a/..%5cb\r\n", 403),
    ])
  func `without a name, the engine's description chooses the route, if it has one meaning`(
    fields: String, status: Int
  ) async throws {
    let bench = try Self.bench()
    let answer = try await bench.get("/.bearer/authorize", fields)
    #expect(statusOf(answer) == status)
    #expect(answer.contains("Authorization: Bearer T1") == (status == 200))
    // Beside a name, the description is judged as well, if there is one.
    #expect(statusOf(try await bench.get(Self.path, fields)) == (fields.isEmpty ? 200 : status))
  }
}
