// Engines while bearer-proxy reloads, ends and begins again, and callers of the endpoint that are no engines.

import Glibc
import Platform
import TestSupport
import Testing

@Suite(.keepsSecrets, .timeLimit(.minutes(5)))
struct EngineTroubleTests {
  /// Calls an engine on three connections at a time, each request on its own, until `body` returns. Returns how often
  /// each status came; 0 is a connection without an answer.
  private static func statuses(of engine: RunningEngine, during body: () async throws -> Void) async throws -> [Int:
    Int]
  {
    let load = Load()
    let counts = Locked<[Int: Int]>([:])
    return try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<3 {
        group.addTask {
          while load.goesOn {
            let caller = try RawConnection(port: engine.port)
            try await caller.send("GET /orders/free HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
            let status = statusOf(try await caller.receive())
            counts.withLock { $0[status, default: 0] += 1 }
          }
        }
      }
      try await body()
      load.end()
      try await group.waitForAll()
      return counts.withLock { $0 }
    }
  }

  @Test(arguments: RunningEngine.Kind.allCases)
  func `callers of an engine notice no reload, get its own refusal while we do not run, and answers when we run again`(
    kind: RunningEngine.Kind
  ) async throws {
    let stage = try await EngineStage()
    let engine = try await RunningEngine(kind, stage)
    _ = try await engine.get("free")
    let reloaded = try await Self.statuses(of: engine) {
      for turn in 1...5 {
        try stage.proxy.reconfigure { $0 + "# \(turn)\n" }
        stage.proxy.process.send(SIGHUP)
        #expect(
          try await eventually {
            try await metricSum(stage.proxy, "bearer_proxy_reloads_total", #"outcome="succeeded""#) >= turn
          })
      }
    }
    #expect(Set(reloaded.keys) == [200], "\(reloaded)")
    #expect(stage.api.asked.count == 1)
    let again = Locked<ChildProcess?>(nil)
    let statuses = try await Self.statuses(of: engine) {
      stage.proxy.process.send(SIGKILL)
      _ = try await stage.proxy.process.wait()
      #expect(try await eventually { try await engine.get("free").status == kind.statusWithoutUs })
      let process = try ChildProcess(
        "bearer-proxy-again", [binary(), "run", "-c", stage.proxy.configuration], in: stage.directory)
      again.withLock { $0 = process }
      #expect(try await eventually { try await engine.get("free").status == 200 })
    }
    #expect(Set(statuses.keys).isSubset(of: [200, kind.statusWithoutUs]), "\(statuses)")
    #expect(statuses[kind.statusWithoutUs] != nil)
    #expect(try await engine.get("free").status == 200)
  }

  @Test(arguments: RunningEngine.Kind.allCases)
  func `a provider that does not answer costs an engine's callers ten seconds, then they get our 503`(
    kind: RunningEngine.Kind
  ) async throws {
    let loop = try EventLoop()
    let silent = try LoopServer(on: loop) { stream, _ in _ = await stream.receiveText(through: "never") }
    let stage = try await EngineStage(issuer: "http://127.0.0.1:\(silent.port)")
    let engine = try await RunningEngine(kind, stage)
    let answer = try await engine.get("free")
    #expect(answer.status == 503)
    #expect(answer["retry-after"] != nil)
    #expect(answer.body.contains("identity-provider-unavailable"))
    #expect(stage.api.requests == 0)
  }

  @Test(arguments: [RunningEngine.Kind.envoyExtAuthz, .envoyGRPC, .envoyExtProc])
  func `callers of an Envoy that may not ask are told so`(kind: RunningEngine.Kind) async throws {
    let stage = try await EngineStage(nil, [("uids: [\(getuid())]", "uids: [\(getuid() + 1)]")])
    let engine = try await RunningEngine(kind, stage)
    let answer = try await engine.get("free")
    #expect(answer.status == 403)
    #expect(answer.body.contains("\"status\":403,"), "\(answer.body)")
    #expect(stage.api.requests == 0)
  }

  // MARK: Attacks

  private static let methodOverrides = ["X-HTTP-Method-Override", "X-HTTP-Method", "X-Method-Override"]
  private static let pathOverrides = [
    "X-Original-URL", "X-Original-URI", "X-Original-Path", "X-Rewrite-URL", "X-Rewrite-URI", "X-Override-URL",
    "X-Forwarded-URI", "Script-Name", "Path-Info",
  ]
  /// Further ones. With the spellings of all of them a head would have more lines than engines take.
  private static let otherOverrides = [
    ["X-Waws-Unencoded-URL", "X-MS-Original-URL", "X-Forwarded-URL", "X-Forwarded-Path", "X-Request-URI"],
    ["X-Matched-Path", "X-Now-Route-Matches", "X-Invoke-Path", "X-Invoke-Query", "X-Middleware-Rewrite"],
    ["X-Middleware-Subrequest", "X-Astro-Path", "X-Script-Name", "X-HTTP-DestinationURL"],
    ["X-Accel-Mapping", "X-Sendfile-Type", "X-Host", "X-Original-Host", "X-HTTP-Host-Override", "X-Server-Name"],
    ["X-Forwarded-Server", "X-Envoy-Original-Path", "X-Envoy-Original-Dst-Host"],
  ]

  @Test(arguments: RunningEngine.Kind.allCases, [true, false])
  func `fields that an API may take for path or method end at the engine`(
    kind: RunningEngine.Kind, limitsMethods: Bool
  ) async throws {
    let methods = (from: "path: /orders/", to: "path: /orders/\n    methods: [GET]")
    let own = "choice: {field: X-Kind, values: {GET: {scopes: [b]}}}"
    let choice = (from: "as: application, ", to: "as: application, \(own), ")
    let stage = try await EngineStage(nil, limitsMethods ? [choice, methods] : [choice])
    let engine = try await RunningEngine(kind, stage)
    // With gRPC all fields go along: bearer-proxy refuses a method that the route does not take.
    let isJudged = kind == .envoyGRPC && limitsMethods
    let first = (isJudged ? [] : Self.methodOverrides) + Self.pathOverrides
    // The second one is sent again, if the engine can do that.
    let others = Self.otherOverrides + (limitsMethods ? [["X-Forwarded-Method", "X-Original-Method"]] : [])
    let requests = [("free", first), ("alpha", first)] + others.map { ("free", $0) }
    for (part, plain) in requests {
      let twins = plain.flatMap { [$0.replacing("-", with: "_"), $0.replacing("-", with: "_", maxReplacements: 1)] }
      // Of two lines, an API may obey either.
      let sent: [String] = plain + twins + ["X-Tried", "X-Kind"] + plain + twins
      _ = try await engine.get(part, sent.flatMap { ["-H", "\($0): GET"] })
      let head = stage.api.head.lowercased()
      #expect(head.contains("x-tried: get\r\n"))
      for name in plain + twins + ["X-Kind"] {
        let mayPass = !limitsMethods && Self.methodOverrides.contains(name)
        // Engines may send a field of their own by such a name.
        #expect(head.contains("\r\n\(name.lowercased()): get\r\n") == mayPass, "\(part), \(name): \(head)")
      }
    }
    if limitsMethods { #expect(try await engine.get("free", ["-X", "DELETE"]).status == 403) }
    #expect(stage.api.requests == requests.count + (kind.sendsAgain ? 1 : 0))
  }

  @Test func `a cache in nginx keeps no token`() async throws {
    let stage = try await EngineStage()
    let kept = stage.directory.file("kept")
    let engine = try await RunningEngine(.nginx, stage) {
      "proxy_cache_path \(kept) keys_zone=kept:1m;\n"
        + $0.replacing(
          "internal;", with: "internal; proxy_cache kept; proxy_cache_key $uri; proxy_cache_valid any 10m;")
    }
    for _ in 0..<3 { #expect(try await engine.get("free").status == 200) }
    #expect(try await metricSum(stage.proxy, "bearer_proxy_tokens_handed_out_total") == 3)
    #expect(try await succeed(["find", kept, "-type", "f"]).isEmpty)
  }

  @Test func `a caller without the engine's proof gets no token`() async throws {
    let stage = try await EngineStage()
    let (url, proof) = ("\(stage.origin)/.bearer/authorize/orders", ["-H", "X-Proxy-Key: \(EngineStage.secret)"])
    for options in [
      [], ["-H", "X-Proxy-Key: wrong"], proof + ["-H", "X-Proxy-Key: wrong"],
      proof + ["-H", "Origin: https://evil.example"],
    ] {
      let answer = try await curl(options + [url])
      #expect(answer.status == 403 && answer["authorization"] == nil, "\(options)")
    }
    #expect(try await curl(proof + [url]).status == 200)
  }

  @Test func `a refusal is a status of HTTP if the engine passes the content type of a gRPC call along`()
    async throws
  {
    let stage = try await EngineStage(hasConsent: false)
    for key in ["wrong", EngineStage.secret] {
      let answer = try await curl([
        "--http2-prior-knowledge", "-X", "POST", "-H", "Content-Type: application/grpc", "-H", "TE: trailers",
        "-H", "X-Proxy-Key: \(key)", "-H", "X-Original-Method: POST", "-H", "X-Original-URI: /orders/free",
        "\(stage.origin)/.bearer/authorize/orders",
      ])
      // A gRPC status comes with 200, which is a yes.
      #expect(400..<600 ~= answer.status && answer["grpc-status"] == nil, "\(answer)")
    }
  }

  @Test func `a path that is smuggled into a route's name gets no token`() async throws {
    let other = """
        - {name: other, path: /other/, upstream: "http://127.0.0.1:1/", application: contoso,
           token: {as: application, scopes: [b]}}

      """
    let stage = try await EngineStage(nil, [("routes:\n", "routes:\n\(other)")])
    func ask(_ name: String) async throws -> Answer {
      try await curl([
        "--path-as-is", "-H", "X-Proxy-Key: \(EngineStage.secret)", "\(stage.origin)/.bearer/authorize/\(name)",
      ])
    }
    for name in [
      "other", "other/../orders", "orders/../other", "orders/..%2fother", "orders%2f..%2fother", "orders/%2e%2e/other",
      "orders/..;/other", "orders/..%5cother", "orders;other", "orders%00", "orders%23", "orders%3f", "%6frders",
      "ORDERS", "/orders", "./orders", "x/../orders", "orders.", "orders%20", "",
    ] {
      let answer = try await ask(name)
      #expect(400..<500 ~= answer.status, "\(name)")
      #expect(answer["authorization"] == nil, "\(name)")
    }
    for name in ["orders", "orders/", "orders/7/items", "orders?x=/../other"] {
      #expect(try await ask(name).status == 200, "\(name)")
    }
  }

  @Test func `a caller of one route gets no token of another one, and none of a route that is not handed out`()
    async throws
  {
    let others = """
        - {name: other, path: /other/, hand_out: proxies, upstream: "http://127.0.0.1:1/", application: contoso,
           token: {as: application, scopes: [b]}}
        - {name: kept, path: /kept/, upstream: "http://127.0.0.1:1/", application: contoso,
           token: {as: application, scopes: [c]}}

      """
    let stage = try await EngineStage(nil, [("routes:\n", "routes:\n\(others)")])
    for (route, path) in [
      ("other", "/orders/x"), ("orders", "/other/x"), ("orders", "/orders/../other/x"), ("orders", "/kept/x"),
      ("kept", "/kept/x"),
    ] {
      let answer = try await curl([
        "-H", "X-Proxy-Key: \(EngineStage.secret)", "-H", "X-Original-Method: GET", "-H", "X-Original-URI: \(path)",
        "\(stage.origin)/.bearer/authorize/\(route)",
      ])
      #expect(answer.status == 403, "\(route) \(path)")
      #expect(answer["authorization"] == nil)
    }
  }
}
