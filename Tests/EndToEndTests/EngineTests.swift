// The engines of docs/engines.md in front of an API each of whose parts demands another token.

import Glibc
import Platform
import TestSupport
import Testing

@Suite(.keepsSecrets, .timeLimit(.minutes(5)))
struct EngineTests {
  private static func engine(_ kind: RunningEngine.Kind) async throws -> (EngineStage, RunningEngine) {
    let stage = try await EngineStage()
    return (stage, try await RunningEngine(kind, stage))
  }

  private static let envoys = [RunningEngine.Kind.envoy, .envoyExtAuthz, .envoyGRPC, .envoyExtProc, .envoyTwoListeners]

  @Test(arguments: RunningEngine.Kind.allCases)
  func `whatever an engine's callers send, one token goes to the route's API, and nowhere else`(
    kind: RunningEngine.Kind
  ) async throws {
    let (stage, engine) = try await Self.engine(kind)
    // A name that a web page gave to the engine's address, and pages of other sites.
    for name in ["attacker.example", "localhost.attacker.example", "127.0.0.1.attacker.example"] {
      let answer = try await engine.get("free", ["-H", "Host: \(name):\(engine.port)"])
      #expect([404, 421].contains(answer.status), "\(answer.status)")
    }
    for field in ["Origin: https://evil.example", "Sec-Fetch-Site: cross-site"] {
      #expect(try await engine.get("free", ["-H", field]).status == 403, "\(field)")
    }
    #expect(stage.api.requests == 0)
    // Paths that lead out of the route.
    for path in [
      "../free", "../../free", "%2e%2e/free", "..%2ffree", "%2E%2E%2Ffree", "x/../../free", "..;/free", "..%5cfree",
      "..\\free", ".%2e/%2e./free", "../orders/../free",
    ] {
      _ = try await engine.get(path)
      #expect(stage.api.climbed == [], "\(path)")
    }
    let requests = stage.api.requests
    for fields in [
      [], ["X-Bearer-Refused: Bearer x", "X-Bearer-Status: 402", "X-Bearer-Unavailable: 200"],
      ["X-Bearer-Answer: refusal"], ["Authorization: Bearer own"],
    ] {
      #expect(try await engine.get("free", fields.flatMap { ["-H", $0] }).status == 200, "\(fields)")
    }
    #expect(try await curl(["http://localhost:\(engine.port)/orders/free", "-4"]).status == 200)
    #expect(stage.api.requests == requests + 5)
    let refused = try await engine.get("anew")
    #expect(refused.status == 401)
    #expect(refused["www-authenticate"]?.contains("insufficient_user_authentication") == true)
    #expect(refused["authorization"] == nil)
    let direct = try await stage.ask()
    #expect(direct["cache-control"] == "no-store")
    #expect(stage.api.asked.count == 1)
    let token = try #require(direct["authorization"]?.dropFirst("Bearer ".count).description)
    for path in ["/metrics", "/status?format=json", "/config"] {
      #expect(!(try await stage.proxy.admin(path)).body.contains(token), "\(path)")
    }
    #expect(try await eventually { stage.proxy.accessRecords.count >= 3 })
    #expect(!stage.proxy.everythingWritten.contains(token))
    #expect(!engine.process.output.contains(token) && !engine.process.errors.contains(token))
  }

  @Test(arguments: RunningEngine.Kind.allCases)
  func `a provider's refusal reaches an engine's callers whole`(kind: RunningEngine.Kind) async throws {
    let stage = try await EngineStage(hasConsent: false)
    let engine = try await RunningEngine(kind, stage)
    let direct = try await stage.ask()
    let answer = try await engine.get("free")
    #expect(direct.status == 502 && answer.status == kind.statusForRejection)
    Self.expectWhole(answer, direct)
    #expect(stage.api.requests == 0)
  }

  private static func expectWhole(_ answer: Answer, _ direct: Answer) {
    #expect(answer["www-authenticate"] == direct["www-authenticate"])
    #expect(answer["content-type"] == "application/problem+json")
    #expect(answer.body.between("\"title\":", ",") == direct.body.between("\"title\":", ","))
  }

  /// As the recipes say, without the lines by which requests of browsers get no token.
  private static let passingBrowsers: @Sendable (String) -> String = {
    $0.split(separator: "\n", omittingEmptySubsequences: false)
      .filter { !$0.contains(#/^ *(proxy_set_header|-|- exact:) (Origin|Sec-Fetch-[A-Z]|origin|sec-fetch-[a-z])/#) }
      .joined(separator: "\n").replacing(#", "origin", "sec-fetch-site", "sec-fetch-mode""#, with: "")
  }

  @Test(arguments: RunningEngine.Kind.allCases)
  func `a program gets the link to sign in through an engine, and a browser the page`(
    kind: RunningEngine.Kind
  ) async throws {
    let port = try freePort()
    let pages = "http://localhost:\(port)"
    let stage = try await EngineStage(
      nil,
      [
        EngineStage.person,
        ("applications:\n", "  - {address: \"127.0.0.1:\(port)\", sign_in: true}\napplications:\n"),
      ])
    let engine = try await RunningEngine(kind, stage, changing: Self.passingBrowsers)
    let (direct, answer) = (try await stage.ask(), try await engine.get("free"))
    #expect(direct.status == 401 && answer.status == 401)
    Self.expectWhole(answer, direct)
    #expect(answer.body.contains("\"sign_in\":\"\(pages)/.bearer/sign-in"), "\(answer.body)")
    // These send every field of their callers along.
    let window = ["-H", "Sec-Fetch-Site: none", "-H", "Sec-Fetch-Mode: navigate"]
    let sendsAll = [.caddy, .caddyBin, .envoyGRPC, .envoyExtProc].contains(kind)
    let page = try await engine.get("free", ["-H", "Accept: text/html"] + (sendsAll ? [] : window))
    #expect(page.status == 401)
    #expect(page["content-type"]?.hasPrefix("text/html") == true, "\(page.fields)")
    #expect(page.body.contains("href=\"\(pages)/.bearer/sign-in"), "\(page.body)")
  }

  @Test(arguments: [RunningEngine.Kind.caddy, .caddyBin, .envoy, .envoyGRPC, .envoyExtProc, .envoyTwoListeners])
  func `an engine mends a missing scope that the route allows`(kind: RunningEngine.Kind) async throws {
    let stage = try await EngineStage(
      nil, [(#"["api://orders/.default"]"#, "[alpha], scopes_on_challenge: [gamma]")])
    let engine = try await RunningEngine(kind, stage)
    #expect(try await engine.get("wider").status == 200)
    #expect(stage.api.asked.count == 2)
  }

  @Test func `check --live asks for a token as an engine does`() async throws {
    let stage = try await EngineStage()
    let file = stage.proxy.configuration
    _ = try await stage.ask()
    let asked = stage.api.asked.count
    let told = try await run([binary(), "check", "-c", file, "--live"])
    #expect(told.status == 0, "\(told.output)")
    #expect(told.output.contains(#/ok +hand out .* gives a token, good for /#), "\(told.output)")
    // The check's own token is the second.
    #expect(stage.api.asked.count == asked + 1)
    let strange = try stage.directory.write(
      stage.configuration.replacing("uids: [\(getuid())]", with: "uids: [4711]"), to: "other.yaml")
    chmod(strange, 0o600)
    let other = try await run([binary(), "check", "-c", strange, "--live"])
    #expect(other.output.contains(#/skipped +hand out .*callers.unix/#), "\(other.output)")
    stage.proxy.process.send(SIGKILL)
    _ = try await stage.proxy.process.wait()
    let alone = try await run([binary(), "check", "-c", file, "--live"])
    #expect(alone.status == 0)
    #expect(alone.output.contains(#/skipped +hand out .*no bearer-proxy answers/#), "\(alone.output)")
  }

  @Test func `Envoy proves itself with a secret in its call, and forwards nothing without it or without a route`()
    async throws
  {
    let stage = try await EngineStage()
    for (secret, route, status) in [
      (EngineStage.secret, "orders", 200), ("wrong", "orders", 403), (EngineStage.secret, "x", 404),
    ] {
      let origin = stage.origin.dropFirst("http://127.0.0.1:".count)
      let socket = "pipe: {path: \"\(stage.socket)\"}"
      let field = "\n                        initial_metadata: [{key: x-proxy-key, value: \(secret)}]\n"
      let engine = try await RunningEngine(.envoyGRPC, stage) {
        $0.replacing(socket, with: "socket_address: {address: 127.0.0.1, port_value: \(origin)}")
          .replacing("authority: localhost}\n", with: "authority: localhost}\(field)")
          .replacing("{route: \"orders\", metadata", with: "{route: \(route), metadata")
      }
      let answer = try await engine.get("free")
      #expect(answer.status == status, "\(answer)")
      if status == 404 { #expect(answer.body.contains("urn:bearer-proxy:problem:no-route")) }
    }
    #expect(stage.api.requests == 1)
  }

  // MARK: What engines carry beside requests

  @Test(arguments: [RunningEngine.Kind.nginx, .caddy, .caddyBin, .haproxy] + Self.envoys)
  func `a WebSocket through an engine has the token`(kind: RunningEngine.Kind) async throws {
    let server = try await PythonPeer("websocket_peer.py", ["serve"])
    let stage = try await EngineStage(
      "http://127.0.0.1:\(server.port)/",
      [("application: contoso\n", "application: contoso\n    upgrade: [websocket]\n")])
    let engine = try await RunningEngine(kind, stage)
    let told = try await succeed(
      peer("websocket_peer.py", ["call", "ws://127.0.0.1:\(engine.port)/orders/room", "Authorization: Bearer own"]))
    #expect(told.contains(#""authorization": "Bearer plain.1."#))
    #expect(told.contains(#""binary": true"#) && told.contains(#""close": 1000"#))
  }

  @Test(arguments: [RunningEngine.Kind.nginx] + Self.envoys)
  func `a gRPC call through an engine has the token`(kind: RunningEngine.Kind) async throws {
    let server = try await PythonPeer("grpc_peer.py", ["serve"])
    let path = (from: "path: /orders/", to: "path: /orders.Orders/")
    for hasToken in [true, false] {
      let stage = try await EngineStage(
        "http://127.0.0.1:\(server.port)/orders.Orders/", hasToken ? [path] : [path, EngineStage.person])
      // As docs/engines.md says.
      let engine = try await RunningEngine(kind, stage) {
        $0.replacing(#/listen (\S+);/#) { "listen \($0.output.1) http2;" }
          .replacing(#/location /orders.Orders/ {[^}]*}/#) {
            $0.output.replacing("proxy_pass http://orders_api/orders.Orders/", with: "grpc_pass grpc://orders_api")
              .replacing("proxy_set_header", with: "grpc_set_header")
          }
      }
      let told = try await succeed(peer("grpc_peer.py", ["call", "127.0.0.1:\(engine.port)"]))
      if hasToken {
        #expect(told.contains(#""get": "Bearer plain.1. message""#), "\(told)")
        #expect(told.contains(#""chat": ["Bearer plain.1.", "one", "Bearer plain.1.", "two"]"#), "\(told)")
      } else {
        #expect(told.contains(#"{"code": "UNAUTHENTICATED"}"#), "\(told)")
      }
    }
  }

  // MARK: What each engine does about a refused token

  @Test(arguments: [RunningEngine.Kind.nginx, .caddyBin, .envoy, .envoyGRPC, .envoyExtProc, .envoyTwoListeners])
  func `a thousand callers of an engine with one refused token cost one token request`(
    kind: RunningEngine.Kind
  ) async throws {
    Machine.raiseDescriptorLimit()
    let (stage, engine) = try await Self.engine(kind)
    #expect(try await engine.get("valid").status == 200)
    stage.api.revoke()
    let told = try await succeed(peer("storm.py", ["/orders/valid", "1000", "\(engine.port)"]), within: .seconds(120))
    #expect(told.contains(#""statuses": {"200": 1000}"#), "\(told)")
    #expect(try await engine.get("valid").status == 200)
    #expect(stage.api.asked.count == 2)
  }

  @Test func `nginx's own questions are not its callers' to ask`() async throws {
    let (_, engine) = try await Self.engine(.nginx)
    for path in [".bearer/orders", ".bearer/orders/again", ".bearer/orders/answer", "orders/../.bearer/orders"] {
      let direct = try await curl(["--path-as-is", "http://127.0.0.1:\(engine.port)/\(path)"])
      #expect(direct.status == 404)
    }
  }

  @Test func `a script that fails in HAProxy lets no request through`() async throws {
    let stage = try await EngineStage()
    let engine = try await RunningEngine(.haproxy, stage) { $0.replacing("ask(route, fields)", with: "ask(route)") }
    let answer = try await engine.get("free", ["-H", "Authorization: Bearer own"])
    #expect(answer.status == 503)
    #expect(stage.api.requests == 0)
  }

  /// An engine's callers in order: the part of the API, with `+` a body that each engine keeps, with `++` one that none
  /// keeps, and the status; `revoke`: the API refuses the tokens so far. Behind them what the provider was asked for.
  static let refusals: [(kinds: [RunningEngine.Kind], calls: String, asked: [String])] = [
    // It sends a request again with another token and its body.
    (
      [.nginx, .envoy, .envoyGRPC, .envoyExtProc, .envoyTwoListeners], "alpha+ 200, alpha+ 200, revoke, valid+ 200",
      ["", "alpha", ""]
    ),
    // A body that it does not keep is refused, and the next request has the new token.
    ([.envoy, .envoyExtProc, .envoyTwoListeners], "valid 200, revoke, valid++ 401, valid 200", ["", ""]),
    // It sends a request without a body again.
    ([.caddy, .caddyBin], "alpha+ 401, alpha+ 200, revoke, valid 200", ["", "alpha", ""]),
    // It reports a refused token, and the next request has the new one.
    ([.haproxy], "alpha 401, alpha+ 200, revoke, valid 401, valid 200", ["", "alpha", ""]),
    // It reports nothing.
    ([.envoyExtAuthz, .traefik], "alpha 401, alpha 401", [""]),
  ]

  @Test(arguments: refusals.flatMap { row in row.kinds.map { ($0, row.calls, row.asked) } })
  func `what an engine does about a refused token`(
    kind: RunningEngine.Kind, calls: String, asked: [String]
  ) async throws {
    let (stage, engine) = try await Self.engine(kind)
    for call in calls.split(separator: ", ") {
      let words = call.split(separator: " ")
      guard words.count == 2 else {
        stage.api.revoke()
        continue
      }
      let part = words[0].filter { $0 != "+" }
      let size = words[0].count - part.count
      let body = size == 0 ? nil : String(repeating: "0123456789abcdef", count: [4096, 250_000][size - 1])
      let content = try body.map { ["--data-binary", "@\(try stage.directory.write($0, to: "body"))"] } ?? []
      let answer = try await engine.get(part, content)
      #expect(answer.status == Int(words[1]), "\(call)")
      #expect(answer["x-bearer-again"] == nil)
      if answer.status == 401 {
        let error = part == "alpha" ? "insufficient_claims" : "invalid_token"
        #expect(answer["www-authenticate"]?.contains(error) == true)
        #expect(answer["authorization"] == nil && (answer.body == "refused" || kind != .haproxy))
      } else if let body {
        let isWhole = answer.body.hasSuffix(body)
        #expect(isWhole)
      }
    }
    #expect(stage.api.asked == asked)
    if [.caddy, .caddyBin].contains(kind) { #expect(try await engine.get("anew").body.contains("token-refused")) }
  }
}
