// A refused token, seen by the caller and by the upstream: what is sent once more, what is passed on, and that nothing
// goes round in circles.

import HTTPClient
import Identity
@testable import Platform
import Routing
import TestSupport
import Testing
import Tokens

@testable import Proxy

@Suite(.timeLimit(.minutes(5)))
struct ChallengeExchangeTests {
  private typealias Bench = ChallengeBench

  /// Refuses the first token with `fields`, and takes every other.
  private static func refusingFirst(
    _ fields: String, status: String = "401 Unauthorized", rules: RouteTokenRules = RouteTokenRules(), age: Int64 = 0
  ) throws -> ChallengeBench {
    try ChallengeBench(rules: rules, age: age) { request in
      request.token == "Bearer T1" ? Bench.refusal(fields, status: status) : Bench.fine
    }
  }

  @Test(
    arguments: [
      (Bench.claimsField, "claims", true), ("WWW-Authenticate: Bearer error=invalid_token\r\n", "invalid_token", false),
    ])
  func `another token is obtained silently, and the caller sees the second answer alone`(
    field: String, kind: String, hasClaims: Bool
  ) async throws {
    let bench = try Self.refusingFirst(field)
    let answer = try await bench.get("/a?b=c", "X-Mine: 1\r\n")
    #expect(answer.hasPrefix("HTTP/1.1 200 OK\r\n"))
    #expect(answer.hasSuffix("ok"))
    #expect(bench.requests.map(\.token) == ["Bearer T1", "Bearer T2"])
    let heads = bench.requests.map { $0.head.replacing("Bearer T2", with: "Bearer T1") }
    #expect(heads.first == heads.last)
    #expect(bench.forms.count == 2)
    #expect(bench.forms.last?.contains("nbf") == hasClaims)
    #expect(bench.count(kind, "replayed") == 1)
    // From now on all requests have it.
    #expect(try await bench.get().hasPrefix("HTTP/1.1 200"))
    #expect(bench.requests.map(\.token) == ["Bearer T1", "Bearer T2", "Bearer T2"])
    #expect(bench.upstream.accepted.count == 1)
  }

  @Test(
    arguments: [
      "Content-Length: 3\r\n\r\nno\n", "Transfer-Encoding: chunked\r\n\r\n3\r\nno\n\r\n0\r\n\r\n",
      "Content-Length: 3\r\nConnection: close\r\n\r\nno\n", "\r\nno\n", "Content-Length: 300\r\n\r\nno\n",
    ])
  func `however the refusal ends, nothing of it gets into the answer`(rest: String) async throws {
    let bench = try ChallengeBench { request in
      request.token == "Bearer T1"
        ? "HTTP/1.1 401 \r\n\(Bench.claimsField)Set-Cookie: refused=1\r\n\(rest)" : Bench.fine
    }
    for _ in 0..<3 {
      let answer = try await bench.get()
      #expect(answer.hasPrefix("HTTP/1.1 200 OK\r\n"))
      #expect(answer.hasSuffix("\r\n\r\nok"))
      #expect(!answer.contains("WWW-Authenticate") && !answer.contains("refused"))
    }
  }

  @Test func `content is sent again as it was`() async throws {
    let bench = try Self.refusingFirst(Bench.claimsField)
    let body = String((0..<5000).map { Character(UnicodeScalar(UInt8(97 + $0 % 26))) })
    #expect(try await bench.post(body).hasPrefix("HTTP/1.1 200"))
    #expect(bench.requests.map(\.body) == [body, body])
    #expect(bench.requests.map(\.token) == ["Bearer T1", "Bearer T2"])
  }

  @Test func `chunks and trailers are sent again`() async throws {
    let bench = try Self.refusingFirst(Bench.claimsField)
    let answer = try await bench.ask(
      "PUT / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n"
        + "5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n")
    #expect(answer.hasPrefix("HTTP/1.1 200"))
    #expect(bench.requests.map(\.token) == ["Bearer T1", "Bearer T2"])
    for request in bench.requests {
      let text = request.body.split(separator: "\r\n").enumerated().filter { $0.offset % 2 == 1 }.map(\.element)
      #expect(text.joined() == "hello world")
    }
  }

  @Test func `content that has not arrived yet follows what is sent again`() async throws {
    let bench = try ChallengeBench(
      early: { request in
        guard request.token == "Bearer T1" else { return nil }
        return Bench.refusal(Bench.claimsField)
      }, answer: { _ in Bench.fine })
    let caller = try RawConnection(port: bench.proxy.port, patience: 240)
    try await caller.send("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\nConnection: close\r\n\r\n01234")
    await bench.asked.wait(for: 2)
    try await caller.send("56789")
    #expect(try await caller.receive().hasPrefix("HTTP/1.1 200"))
    #expect(bench.requests.last?.body == "0123456789")
  }

  @Test func `content beyond the limit is not sent again, but the next request has another token`() async throws {
    let bench = try Self.refusingFirst(Bench.claimsField, rules: RouteTokenRules(replayLimit: 1000))
    let answer = try await bench.post(String(repeating: "x", count: 1001))
    #expect(answer.hasPrefix("HTTP/1.1 401 "))
    #expect(answer.contains(Bench.claimsField))
    await bench.asked.wait(for: 2)
    #expect(bench.requests.count == 1)
    #expect(bench.count("claims", "renewed_behind") == 1)
    #expect(try await bench.post(String(repeating: "x", count: 1000)).hasPrefix("HTTP/1.1 200"))
    #expect(bench.forms.count == 2)
  }

  @Test func `cae-once: a second refusal is passed on untouched, and the token is left alone for a while`() async throws
  {
    let fields =
      Bench.claimsField + "WWW-Authenticate: Basic realm=\"a, b\"\r\nwww-authenticate:NTLM YQ==\r\nSet-Cookie: a=1\r\n"
    let bench = try ChallengeBench { _ in Bench.refusal(fields, status: "401 So sorry") }
    for _ in 0..<5 {
      let answer = try await bench.get()
      #expect(answer.hasPrefix("HTTP/1.1 401 So sorry\r\n"))
      #expect(answer.hasSuffix("\r\n\r\nno\n"))
      for field in fields.split(separator: "\r\n") {
        #expect(answer.contains("\r\n\(field.replacing(":NTLM", with: ": NTLM"))\r\n"), "\(answer)")
      }
    }
    #expect(bench.forms.count == 2)
    #expect(bench.requests.count == 6)
    #expect(bench.count("claims", "refused_again") == 1)
    #expect(bench.count("claims", "already_answered") == 4)
    let need = bench.proxy.service.process.signInRequirements.known["all"]
    #expect(need?.claims == (try Claims(json: Bench.claims)))
    #expect(bench.lines.filter { $0.contains("without a person") }.count == 1)
  }

  @Test func `a storm of refusals is one token request`() async throws {
    let bench = try Self.refusingFirst(Bench.claimsField)
    _ = try await bench.get()
    let other = try Self.refusingFirst("WWW-Authenticate: Bearer error=invalid_token\r\n")
    for bench in [bench, other] {
      let answers = try await withThrowingTaskGroup(of: String.self) { group in
        for _ in 0..<40 { group.addTask { try await bench.get() } }
        return try await group.reduce(into: []) { $0.append($1) }
      }
      #expect(answers.allSatisfy { $0.hasPrefix("HTTP/1.1 200") })
      #expect(bench.forms.count == 2)
    }
  }

  @Test func `plain-401: a refusal without a reason is the token's fault if that is old`() async throws {
    let young = try Self.refusingFirst("")
    #expect(try await young.get().hasPrefix("HTTP/1.1 401"))
    #expect(young.forms.count == 1)
    #expect(young.count("unexplained", "passed_on") == 1)
    let old = try Self.refusingFirst("", age: 120)
    #expect(try await old.get().hasPrefix("HTTP/1.1 200"))
    #expect(old.forms.count == 2)
  }

  @Test(arguments: ["401 Unauthorized", "403 Forbidden"])
  func `scopes are added if the route allows it`(status: String) async throws {
    let field = "WWW-Authenticate: Bearer error=\"insufficient_scope\", scope=\"B\"\r\n"
    let allowed = try Self.refusingFirst(
      field, status: status, rules: RouteTokenRules(scopesOnChallenge: try ScopeSet(["B", "C"])))
    #expect(try await allowed.get().hasPrefix("HTTP/1.1 200"))
    #expect(allowed.forms[1].contains("scope=A%20B"))
    let forbidden = try Self.refusingFirst(field, status: status)
    #expect(try await forbidden.get().hasPrefix("HTTP/1.1 \(status)"))
    #expect(forbidden.forms.count == 1)
    #expect(forbidden.proxy.service.process.signInRequirements.known["all"] == nil)
  }

  @Test func `a demand for another sign-in is passed on and remembered`() async throws {
    let field =
      "WWW-Authenticate: Bearer error=\"insufficient_user_authentication\", acr_values=\"c1 c2\", max_age=\"60\"\r\n"
    let bench = try Self.refusingFirst(field)
    let answer = try await bench.get()
    #expect(answer.hasPrefix("HTTP/1.1 401"))
    #expect(answer.contains(field))
    #expect(bench.forms.count == 1)
    let need = bench.proxy.service.process.signInRequirements.known["all"]
    #expect(need?.authenticationContexts == ["c1", "c2"])
    #expect(need?.maxAge == 60)
  }

  @Test(
    arguments: [
      "WWW-Authenticate: Bearer error=\"insufficient_claims\", claims=\"%%%\"\r\n",
      "WWW-Authenticate: Bearer error=\"insufficient_claims\", claims=\"W10=\"\r\n",
      "WWW-Authenticate: Bearer error=\"insufficient_claims\", claims=\"\(String(repeating: "A", count: 25_000))\"\r\n",
      "WWW-Authenticate: Bearer error=\"invalid_token, \r\n",
      "WWW-Authenticate: Bearer error=a, error=b\r\n",
      "WWW-Authenticate: Bearer error=invalid_token, Bearer error=insufficient_scope, scope=\"B\"\r\n",
      "WWW-Authenticate: \(String(repeating: "a=b, ", count: 200))\r\n",
      "WWW-Authenticate: =\"\\\r\n",
    ])
  func `a hostile challenge is passed on, counted and logged once`(field: String) async throws {
    let bench = try ChallengeBench { _ in Bench.refusal(field) }
    for _ in 0..<2 {
      let answer = try await bench.get()
      #expect(answer.hasPrefix("HTTP/1.1 401 Unauthorized\r\n"))
      #expect(answer.contains(field.dropLast().replacing(#/ +$/#, with: "") + "\r\n"))
      #expect(answer.hasSuffix("no\n"))
    }
    #expect(bench.forms.count == 1)
    #expect(bench.requests.count == 2)
    #expect(bench.count("unusable", "passed_on") == 2)
    #expect(bench.lines.filter { $0.contains("cannot be used") }.count == 1)
  }

  @Test(arguments: [(400, #"{"error":"invalid_grant"}"#), (503, ""), (200, "nonsense")])
  func `if silent acquisition fails, the refusal is passed on`(status: Int, body: String) async throws {
    let bench = try Self.refusingFirst(Bench.claimsField)
    let answer = FetchResponse(status: status, fields: [(name: "retry-after", value: "7")], body: Array(body.utf8))
    bench.provider(answers: answer, answer, answer)
    for _ in 0..<3 {
      let answer = try await bench.get()
      #expect(answer.hasPrefix("HTTP/1.1 401"))
      #expect(answer.contains(Bench.claimsField))
    }
    #expect(bench.forms.count == 2)
    #expect(bench.count("claims", "not_obtained") == 1)
  }

  @Test func `a caller's connection goes on behind a replay`() async throws {
    let bench = try Self.refusingFirst(Bench.claimsField)
    let caller = try RawConnection(port: bench.proxy.port, patience: 240)
    for body in ["one", "two"] {
      try await caller.send("POST /\(body) HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\n\r\n\(body)")
      #expect(try await caller.receive(until: { $0.hasSuffix("\r\n\r\nok") }).hasPrefix("HTTP/1.1 200"))
    }
    #expect(bench.requests.map(\.body) == ["one", "one", "two"])
  }

  @Test func `a request behind one with content goes out as it is, however soon it comes`() async throws {
    let bench = try ChallengeBench { _ in Bench.fine }
    let caller = try RawConnection(port: bench.proxy.port, patience: 240)
    let host = "Host: localhost\r\n"
    try await caller.send(
      "POST /first HTTP/1.1\r\n\(host)X: 1\r\nContent-Length: 3\r\n\r\none"
        + "GET /2 HTTP/1.1\r\n\(host)X-Second: 2\r\n\r\n"
        + "PUT /the/third HTTP/1.1\r\n\(host)Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n"
        + "DELETE /4 HTTP/1.1\r\n\(host)Content-Length: 4\r\n\r\nfour"
        + "GET /fifth HTTP/1.1\r\n\(host)Connection: close\r\n\r\n")
    #expect(try await caller.receive().ranges(of: "HTTP/1.1 200 OK").count == 5)
    let lines = bench.requests.map { $0.head.prefix { $0 != "\r\n" } }
    #expect(
      lines == [
        "POST /first HTTP/1.1", "GET /2 HTTP/1.1", "PUT /the/third HTTP/1.1", "DELETE /4 HTTP/1.1",
        "GET /fifth HTTP/1.1",
      ])
    #expect(bench.requests.map(\.body) == ["one", "", "3\r\nabc\r\n0\r\n\r\n", "four", ""])
    #expect(bench.requests.map { $0.head.contains("X-Second: 2") } == [false, true, false, false, false])
    #expect(bench.requests.allSatisfy { $0.token == "Bearer T1" })
  }

  private static let echoes = [
    "HTTP/1.1 200 TOKEN\r\nContent-Length: 2\r\n\r\nok",
    "HTTP/1.1 200 OK\r\nX: a TOKEN b\r\nContent-Length: 2\r\n\r\nok",
    "HTTP/1.1 200 OK\r\nX-T1-Y: a\r\nContent-Length: 2\r\n\r\nok",
    "HTTP/1.1 302 Found\r\nLocation: /a?t=TOKEN\r\nContent-Length: 2\r\n\r\nok",
    "HTTP/1.1 302 Found\r\nLocation: https://elsewhere.example/?t=TOKEN\r\nContent-Length: 2\r\n\r\nok",
    "HTTP/1.1 103 Early Hints\r\nX: TOKEN\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
    "HTTP/1.1 103 TOKEN\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\nX: TOKEN\r\n\r\n",
    "HTTP/1.1 403 Forbidden\r\nWWW-Authenticate: Bearer realm=\"TOKEN\"\r\nContent-Length: 2\r\n\r\nok",
  ]

  @Test(arguments: echoes)
  func `wherever an answer repeats the token outside its content, the caller does not get it`(answer: String)
    async throws
  {
    let bench = try ChallengeBench { request in answer.replacing("TOKEN", with: request.token ?? "") }
    let got = try await bench.get("/", "TE: trailers\r\n")
    #expect(got.hasPrefix("HTTP/1.1 "))
    #expect(got.contains("ok"))
    #expect(!got.contains("T1"), "\(got)")
  }

  @Test(arguments: echoes)
  func `an answer to a repeated request does not repeat the token that was refused`(answer: String) async throws {
    let bench = try ChallengeBench { request in
      request.token == "Bearer T1"
        ? Bench.refusal(Bench.claimsField) : answer.replacing("TOKEN", with: "Bearer T1")
    }
    let got = try await bench.get("/", "TE: trailers\r\n")
    #expect(bench.requests.map(\.token) == ["Bearer T1", "Bearer T2"])
    #expect(got.contains("ok"))
    #expect(!got.contains("T1"), "\(got)")
  }

  @Test func `an interim response that is on its way is not cut by a replay`() async throws {
    let bench = try ChallengeBench { request in
      let interim = "HTTP/1.1 103 Early Hints\r\nLink: <a>\r\n\r\n"
      return interim + (request.token == "Bearer T1" ? Bench.refusal(Bench.claimsField) : Bench.fine)
    }
    let answer = try await bench.get()
    #expect(answer.ranges(of: "HTTP/1.1 103 Early Hints\r\nLink: <a>\r\n\r\n").count == 2)
    #expect(answer.contains("HTTP/1.1 200 OK\r\n"))
    #expect(!answer.contains("HTTP/1.1 401"))
  }

  // MARK: The caller's own authorization

  @Test(
    arguments: [
      (RouteTokenRules.CallerAuthorization.replace, "200", "Bearer T1"), (.keep, "200", "Basic abc"),
      (.reject, "400", nil),
    ] as [(RouteTokenRules.CallerAuthorization, String, String?)])
  func `a caller's own Authorization field is replaced, kept or refused`(
    rule: RouteTokenRules.CallerAuthorization, status: String, sent: String?
  ) async throws {
    let bench = try ChallengeBench(rules: RouteTokenRules(existing: rule)) { _ in Bench.fine }
    let answer = try await bench.get("/", "Authorization: Basic abc\r\n")
    #expect(answer.hasPrefix("HTTP/1.1 \(status)"))
    #expect(bench.requests.map(\.token) == (sent.map { [$0] } ?? []))
    #expect(try await bench.get().hasPrefix("HTTP/1.1 200"))
    #expect(bench.requests.last?.token == "Bearer T1")
  }
}
