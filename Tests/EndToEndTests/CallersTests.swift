// Callers' tokens exchanged, with the whole program: what each failure becomes, and that among thousands of callers
// none ever gets another's token.

import FoundationEssentials
import Platform
import TestSupport
import Testing

@Suite(.keepsSecrets, .timeLimit(.minutes(5)))
struct CallersTests {
  private let directory: TemporaryDirectory
  private let stage: CallersStage

  init() throws {
    directory = try TemporaryDirectory()
    stage = try CallersStage()
  }

  private func proxy(_ top: String = "", token: String = "") async throws -> ProxyUnderTest {
    try await ProxyUnderTest(in: directory, stage.configuration(top: top, token: token))
  }

  private func get(
    _ proxy: ProxyUnderTest, _ path: String = "/api/x", as caller: (token: String, digest: String),
    _ arguments: [String] = []
  ) async throws -> Answer {
    try await proxy.get(
      path, ["-H", "Authorization: Bearer \(caller.token)", "-H", "X-Caller: \(caller.digest)"] + arguments)
  }

  @Test func `a caller's token is exchanged once, and never passed on`() async throws {
    let proxy = try await proxy()
    let (ann, bob) = (try stage.token(of: "ann"), try stage.token(of: "bob"))
    #expect(try await get(proxy, as: ann).body == "1")
    #expect(try await get(proxy, as: bob).body == "2")
    for _ in 0..<3 {
      #expect(try await get(proxy, as: ann).body == "1")
      #expect(try await get(proxy, as: bob).body == "2")
    }
    #expect(stage.exchanges == 2)
    #expect(stage.wrong == 0)
    let form = try #require(stage.forms.first)
    #expect(form.contains("subject_token=\(ann.token)&") && form.contains("&scope=orders.read"))
    #expect(form.contains("subject_token_type=urn%3Aietf%3Aparams%3Aoauth%3Atoken-type%3Aaccess_token"))
    // Without a token, with another's signature, with a spoilt one: nothing reaches provider or upstream.
    let requests = stage.requests
    #expect(try await proxy.get("/api/x").status == 401)
    #expect(try await get(proxy, as: (ann.token + "x", ann.digest)).status == 401)
    #expect(try await get(proxy, as: (try CallersStage().token(of: "eve").token, "")).status == 401)
    #expect((stage.exchanges, stage.requests) == (2, requests))
    #expect(try await metricSum(proxy, "bearer_proxy_caller_tokens ") == 2)
    #expect(try await metricSum(proxy, "bearer_proxy_caller_token_hits_total") >= 4)
    let status = try await proxy.admin("/status").body
    #expect(status.contains("each caller's own token is exchanged"))
    #expect(try await proxy.admin("/readyz").status == 200)
    // The callers are counted, and named nowhere.
    #expect(!proxy.everythingWritten.contains("ann") && !status.contains("ann"))
  }

  @Test func `a WebSocket and a response that has begun go on when the token behind them has ended`() async throws {
    let loop = try EventLoop()
    let isLater = Locked(false)
    let heads = Locked<[String]>([])
    let upstream = try LoopServer(on: loop) { stream, _ in
      let head = await stream.receiveText(through: "\r\n\r\n")
      heads.withLock { $0.append(head) }
      if head.contains("/chat") {
        await stream.sendAll(
          "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n")
        while case (let bytes, .enough) = await stream.receiveAll(5) { await stream.sendAll(bytes) }
      } else if head.contains("/news") {
        await stream.sendAll("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nfirst")
        while !isLater.withLock({ $0 }) {
          guard (try? await Task.sleep(for: .milliseconds(50))) != nil else { return }
        }
        await stream.sendAll("later")
      } else {
        await stream.sendAll("HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n")
      }
    }
    stage.live(20)
    let proxy = try await ProxyUnderTest(
      in: directory,
      stage.configuration(token: "}, upgrade: [websocket], timeouts: {idle: 1m").replacing(
        stage.upstream, with: "http://127.0.0.1:\(upstream.port)/"))
    let ann = try stage.token(of: "ann", lifetime: 20)
    let (socket, response) = (try proxy.connect(), try proxy.connect())
    let fields = "Host: 127.0.0.1\r\nAuthorization: Bearer \(ann.token)\r\n"
    try await socket.send(
      "GET /api/chat HTTP/1.1\r\n\(fields)Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
        + "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\nearly")
    #expect(try await socket.receive { $0.hasSuffix("early") }.hasPrefix("HTTP/1.1 101"))
    try await response.send("GET /api/news HTTP/1.1\r\n\(fields)\r\n")
    #expect(try await response.receive { $0.hasSuffix("first") }.hasPrefix("HTTP/1.1 200"))
    // Each went up with what the caller's token was exchanged for.
    #expect(heads.withLock { $0.count { $0.contains("uthorization: Bearer x.\(ann.digest).") } } == 2)

    #expect(try await eventually { try await get(proxy, "/api/more", as: ann).status == 401 })
    try await socket.send("still")
    #expect(try await socket.receive { $0.hasSuffix("still") } == "still")
    isLater.withLock { $0 = true }
    #expect(try await response.receive { $0.hasSuffix("later") } == "later")
  }

  @Test func `an upstream's claims go into one exchange, and what the provider then wants goes to the caller`()
    async throws
  {
    let proxy = try await proxy()
    // The provider gives a token with the claims.
    let ann = try stage.token(of: "ann")
    for _ in 0..<2 { #expect(try await get(proxy, "/api/claims", as: ann).status == 200) }
    #expect(stage.exchanges == 2)
    // It wants more of the person.
    let plain = try await get(proxy, "/api/claims", as: try stage.token(of: "plain"))
    #expect(plain.status == 401 && plain.body.contains("caller-claims-required"), "\(plain)")
    #expect(plain["www-authenticate"]?.contains("authorization_uri=\"\(stage.name)\"") == true, "\(plain.fields)")
    // It gives nothing, or the API is not content: the upstream's own answer, with all its fields.
    for (path, subject) in [("/api/claims", "mute"), ("/api/never", "bob")] {
      let answer = try await get(proxy, path, as: try stage.token(of: subject))
      #expect(answer.status == 401 && answer["x-trace"] == "upstream", "\(answer)")
      #expect(answer.body == "refused")
    }
    #expect(stage.wrong == 0)
  }

  @Test func `a caller that leaves while its token is exchanged leaves nothing behind`() async throws {
    let proxy = try await proxy()
    let ann = try stage.token(of: "ann")
    for _ in 0..<20 {
      let connection = try proxy.connect()
      try await connection.send(
        "GET /api/x HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer \(ann.token)\r\n"
          + "X-Caller: \(ann.digest)\r\n\r\n"
      )
    }
    #expect(try await get(proxy, as: ann).status == 200)
    #expect(stage.exchanges == 1)
    #expect(try await metricSum(proxy, "bearer_proxy_caller_tokens ") == 1)
  }

  private struct Report: Decodable {
    var statuses: [String: Int]
    var median: Double
    var longest: Double
  }

  private func storm(_ proxy: ProxyUnderTest, _ tokens: String, passes: Int, connections: Int) async throws -> Report {
    let result = try await run(
      peer("callers.py", ["\(proxy.port)", tokens, "\(passes)", "\(connections)"]), within: .seconds(200))
    try #require(result.status == 0, "\(result.errors)")
    return try JSONDecoder().decode(Report.self, from: Data(result.output.utf8))
  }

  /// `Tests/soak-callers` has 10,000.
  private static let callers = ProcessInfo.processInfo.environment["BEARER_PROXY_CALLERS"].flatMap(Int.init) ?? 2000

  @Test func `many callers each get their own token, under evictions, expiry and reloads, in bounded memory`()
    async throws
  {
    // Fewer are kept than there are callers, and tokens end while they are in use.
    stage.live(5)
    let (callers, kept) = (Self.callers, Self.callers * 2 / 5)
    let proxy = try await proxy("limits: {caller_tokens: \(kept)}")
    let lines = try (0..<callers).map { number in
      let caller = try stage.token(of: "caller\(number)")
      return "\(caller.token) \(caller.digest)\n"
    }
    let tokens = try directory.write(lines.joined(), to: "tokens")
    let before = proxy.process.residentBytes
    let reloads = Task {
      for number in 0..<6 {
        try await Task.sleep(for: .seconds(2))
        try proxy.reconfigure { $0.replacing("orders.read", with: number % 2 == 0 ? "orders.list" : "orders.read") }
      }
    }
    let report = try await storm(proxy, tokens, passes: 1, connections: 16)
    let again = try directory.write(lines.prefix(callers / 10).joined(), to: "again")
    #expect(Array(try await storm(proxy, again, passes: 2, connections: 16).statuses.keys) == ["200"])
    try await reloads.value
    #expect(Array(report.statuses.keys) == ["200"], "\(report.statuses)")
    #expect(stage.wrong == 0)
    #expect(stage.requests >= callers * 6 / 5)
    #expect(try await metricSum(proxy, "bearer_proxy_caller_tokens ") <= kept)
    #expect(try await metricSum(proxy, "bearer_proxy_caller_token_evictions_total") > callers / 10)
    let grown = proxy.process.residentBytes - before
    // Each kept one in the broker and in each of two loops; debug builds keep more than release builds.
    #expect(grown < (48 << 20 + kept * 15 << 10) * ChildProcess.memoryFactor, "\(grown >> 20) MiB more")
    let honest = "the honest caller \(report.median) s, at most \(report.longest) s"
    print("\(callers) callers: \(grown >> 20) MiB more, \(honest)")
  }

  @Test func `a request picks one of the listed tokens, or none, and the field stays here`() async throws {
    let proxy = try await proxy(
      token: ", choice: {field: X-Scopes, values: {write: {scopes: [orders.write]}, list: {scopes: [orders.list]}}}")
    let ann = try stage.token(of: "ann")
    for (value, scope, body) in [("write", "orders.write", "1"), ("list", "orders.list", "2")] {
      for _ in 0..<2 { #expect(try await get(proxy, as: ann, ["-H", "X-Scopes: \(value)"]).body == body) }
      #expect(stage.forms.last?.contains("&scope=\(scope)") == true)
    }
    #expect(try await get(proxy, as: ann).body == "3")
    #expect(stage.forms.last?.contains("&scope=orders.read") == true)
    for fields in [["X-Scopes: admin"], ["X-Scopes: write", "X-Scopes: list"], ["X-Scopes;"]] {
      let answer = try await get(proxy, as: ann, fields.flatMap { ["-H", $0] })
      #expect(answer.status == 400 && answer.body.contains("choice-refused"), "\(fields) \(answer.body)")
    }
    #expect(stage.exchanges == 3)
    #expect(!stage.heads.contains { $0.lowercased().contains("x-scopes") })
  }
}
