// The engines of docs/engines.md, with the files of config/recipes/engines, the built program, and an API each of whose
// parts demands another token.

import Glibc
import Platform
import TestSupport
import Testing

/// A proxy that hands out tokens on a unix socket, and the API that they are for.
struct EngineStage {
  let directory: TemporaryDirectory
  let api: DemandingAPI
  let socket: String
  let configuration: String
  let proxy: ProxyUnderTest

  /// - Parameter issuer: the provider, if it is not the API's own.
  init(issuer: String? = nil) async throws {
    directory = try TemporaryDirectory()
    api = try DemandingAPI()
    socket = directory.file("tokens.sock")
    let recipe = textOfFile(testsDirectory + "/../config/recipes/engines/proxies.yaml")
    let secret = try directory.write("s3cret\n", to: "contoso.secret")
    chmod(secret, 0o600)
    configuration = try Self.replacing(
      recipe,
      [
        ("/run/bearer-proxy/tokens.sock", socket), ("uids: [33]", "uids: [\(getuid())]"),
        ("https://login.microsoftonline.com/contoso.onmicrosoft.com", issuer ?? api.issuer),
        ("/etc/bearer-proxy/contoso.secret", secret), ("https://orders.example/api/", api.upstream + "/"),
      ])
    proxy = try await ProxyUnderTest(in: directory, configuration)
    let path = socket
    _ = try await eventually { access(path, F_OK) == 0 }
  }

  /// A text with the test's own words in place of a recipe's, each of which must occur.
  static func replacing(_ text: String, _ changes: [(from: String, to: String)]) throws -> String {
    var text = text
    for change in changes {
      try #require(text.contains(change.from), "the recipe has no \(change.from)")
      text = text.replacing(change.from, with: change.to)
    }
    return text
  }
}

/// nginx in front of the API, with what `bearer-proxy engine nginx` prints.
struct NginxEngine {
  let port: Int
  let process: ChildProcess

  init(_ stage: EngineStage) async throws {
    port = try freePort()
    let printed = try await run([binary(), "engine", "nginx", "-c", stage.proxy.configuration])
    try #require(printed.status == 0, "\(printed.errors)")
    let server = try EngineStage.replacing(printed.output, [("127.0.0.1:8000", "127.0.0.1:\(port)")])
    process = try await nginx(serving: server, at: port, in: stage.directory)
  }

  func get(_ path: String, _ options: [String] = []) async throws -> Answer {
    try await curl(options + ["http://127.0.0.1:\(port)/orders/\(path)"])
  }
}

/// Caddy with the recipe's file in front of the API.
struct CaddyEngine {
  let port: Int
  let process: ChildProcess

  init(_ stage: EngineStage) async throws {
    port = try freePort()
    let api = String(stage.api.upstream.dropLast("/api".count))
    let text = try EngineStage.replacing(
      textOfFile(testsDirectory + "/../config/recipes/engines/Caddyfile"),
      [
        ("/run/bearer-proxy/tokens.sock", stage.socket), ("https://orders.example", api),
        ("http://127.0.0.1:8000", "http://127.0.0.1:\(port)"),
      ])
    let file = try stage.directory.write(text, to: "Caddyfile")
    process = try ChildProcess(
      "caddy", ["caddy", "run", "--adapter", "caddyfile", "--config", file], in: stage.directory,
      environment: ["HOME": stage.directory.path])
    try await waitForPort(port, of: process)
  }

  func get(_ path: String, _ options: [String] = []) async throws -> Answer {
    try await curl(options + ["http://127.0.0.1:\(port)/orders/\(path)"])
  }
}

/// HAProxy with the recipe's files in front of the API.
struct HAProxyEngine {
  let port: Int
  let process: ChildProcess

  init(_ stage: EngineStage) async throws {
    port = try freePort()
    let api = String(stage.api.upstream.dropFirst("http://".count).dropLast("/api".count))
    let recipes = testsDirectory + "/../config/recipes/engines/"
    let script = try EngineStage.replacing(
      textOfFile(recipes + "bearer.lua"), [("/run/bearer-proxy/tokens.sock", stage.socket)])
    let text = try EngineStage.replacing(
      textOfFile(recipes + "haproxy.cfg"),
      [
        ("/etc/haproxy/bearer.lua", try stage.directory.write(script, to: "bearer.lua")),
        ("127.0.0.1:8000", "127.0.0.1:\(port)"), ("Host orders.example", "Host \(api)"),
        (
          "orders.example:443 ssl verify required ca-file /etc/ssl/certs/ca-certificates.crt sni str(orders.example)",
          api
        ),
      ])
    let file = try stage.directory.write(text, to: "haproxy.cfg")
    process = try ChildProcess("haproxy", ["haproxy", "-db", "-f", file], in: stage.directory)
    try await waitForPort(port, of: process)
  }

  func get(_ path: String, _ options: [String] = []) async throws -> Answer {
    try await curl(options + ["http://127.0.0.1:\(port)/orders/\(path)"])
  }
}

@Suite(.keepsSecrets, .timeLimit(.minutes(5)))
struct EngineTests {
  // MARK: nginx

  @Test func `nginx: tokens, refused tokens that are mended with the body, and challenges for callers`() async throws {
    let stage = try await EngineStage()
    let engine = try await NginxEngine(stage)
    // Cold and warm.
    for _ in 0..<3 { #expect(try await engine.get("free").status == 200) }
    #expect(stage.api.asked.count == 1)
    // Refused, and mended silently: for claims, for a revoked token, with a body.
    #expect(try await engine.get("alpha").status == 200)
    #expect(stage.api.asked == ["", "alpha"])
    #expect(try await engine.get("alpha").status == 200)
    #expect(stage.api.asked.count == 2)
    stage.api.revoke()
    let body = String(repeating: "0123456789abcdef", count: 4096)
    let file = try stage.directory.write(body, to: "body")
    let answer = try await engine.get("valid", ["--data-binary", "@\(file)"])
    #expect(answer.status == 200)
    let isWhole = answer.body.hasSuffix(body)
    #expect(isWhole)
    #expect(stage.api.asked.count == 3)
    // Refused for good: the caller gets the API's challenge.
    let refused = try await engine.get("anew")
    #expect(refused.status == 401)
    #expect(refused["www-authenticate"]?.contains("error=\"insufficient_user_authentication\"") == true)
    #expect(refused["authorization"] == nil)
    #expect(stage.api.asked.count == 3)
  }

  @Test func `nginx: many callers of one refused token cost one token request`() async throws {
    let stage = try await EngineStage()
    let engine = try await NginxEngine(stage)
    #expect(try await engine.get("valid").status == 200)
    stage.api.revoke()
    let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
      for _ in 0..<50 { group.addTask { try await engine.get("valid").status } }
      return try await group.reduce(into: Set<Int>()) { $0.insert($1) }
    }
    #expect(statuses == [200])
    #expect(stage.api.asked.count == 2)
  }

  @Test func `nginx: without the provider its caller gets our 503, and without us a 500`()
    async throws
  {
    let stage = try await EngineStage(issuer: "http://127.0.0.1:\(try freePort())")
    let engine = try await NginxEngine(stage)
    let unavailable = try await engine.get("free")
    #expect(unavailable.status == 503)
    #expect(unavailable["retry-after"] != nil)
    #expect(unavailable.body.contains("identity-provider-unavailable"))
    #expect(stage.api.requests == 0)
    stage.proxy.process.send(SIGKILL)
    _ = try await stage.proxy.process.wait()
    #expect(try await engine.get("free").status == 500)
  }

  @Test(
    arguments: [
      (["-H", "X-Bearer-Refused: Bearer x", "-H", "X-Bearer-Unavailable: 200"], 200),
      (["-H", "Authorization: Bearer own"], 200), (["-H", "Origin: https://evil.example"], 403),
      (["-H", "Sec-Fetch-Site: cross-site", "-H", "Sec-Fetch-Mode: no-cors"], 403),
    ])
  func `nginx: a caller's own fields change nothing, and a page gets nothing`(options: [String], status: Int)
    async throws
  {
    let stage = try await EngineStage()
    let engine = try await NginxEngine(stage)
    let answer = try await engine.get("free", options)
    #expect(answer.status == status)
    #expect(stage.api.requests == (status == 200 ? 1 : 0))
    // The questions themselves are not the callers' to ask.
    for path in [".bearer/orders", ".bearer/orders/again", ".bearer/orders/answer", "orders/../.bearer/orders"] {
      let direct = try await curl(["--path-as-is", "http://127.0.0.1:\(engine.port)/\(path)"])
      #expect(direct.status == 404)
    }
  }

  // MARK: Caddy

  @Test func `Caddy: tokens, refused tokens that are mended without a body, and challenges for callers`() async throws {
    let stage = try await EngineStage()
    let engine = try await CaddyEngine(stage)
    for _ in 0..<3 { #expect(try await engine.get("free").status == 200) }
    #expect(stage.api.asked.count == 1)
    // A body cannot be sent again: its caller gets the challenge, and the next request the new token.
    let body = ["--data-binary", "@/etc/services"]
    let challenged = try await engine.get("alpha", body)
    #expect(challenged.status == 401)
    #expect(challenged["www-authenticate"]?.contains("insufficient_claims") == true)
    #expect(challenged["authorization"] == nil)
    #expect(try await engine.get("alpha", body).status == 200)
    stage.api.revoke()
    #expect(try await engine.get("valid").status == 200)
    #expect(stage.api.asked == ["", "alpha", ""])
    let refused = try await engine.get("anew")
    #expect(refused.status == 401)
    #expect(refused["www-authenticate"]?.contains("insufficient_user_authentication") == true)
    #expect(refused.body.contains("token-refused"))
    #expect(refused["authorization"] == nil)
  }

  @Test func `Caddy: without the provider its caller gets our 503, and without us a 502`() async throws {
    let stage = try await EngineStage(issuer: "http://127.0.0.1:\(try freePort())")
    let engine = try await CaddyEngine(stage)
    let unavailable = try await engine.get("free")
    #expect(unavailable.status == 503)
    #expect(unavailable["retry-after"] != nil)
    #expect(unavailable.body.contains("identity-provider-unavailable"))
    stage.proxy.process.send(SIGKILL)
    _ = try await stage.proxy.process.wait()
    #expect(try await engine.get("free").status == 502)
  }

  @Test(
    arguments: [
      (["-H", "X-Bearer-Refused: Bearer x", "-H", "X-Bearer-Status: 402"], 200),
      (["-H", "X-Bearer-Answer: refusal"], 200), (["-H", "Authorization: Bearer own"], 200),
      (["-H", "Origin: https://evil.example"], 403), (["-H", "Sec-Fetch-Site: cross-site"], 403),
    ])
  func `Caddy: a caller's own fields change nothing, and a page gets nothing`(options: [String], status: Int)
    async throws
  {
    let stage = try await EngineStage()
    let engine = try await CaddyEngine(stage)
    #expect(try await engine.get("free", options).status == status)
    #expect(stage.api.requests == (status == 200 ? 1 : 0))
  }

  // MARK: HAProxy

  @Test func `HAProxy: tokens, refusals that are reported, and challenges for callers`() async throws {
    let stage = try await EngineStage()
    let engine = try await HAProxyEngine(stage)
    for _ in 0..<3 { #expect(try await engine.get("free").status == 200) }
    #expect(stage.api.asked.count == 1)
    // The caller gets the API's own answer, and the next request the new token.
    let challenged = try await engine.get("alpha")
    #expect(challenged.status == 401)
    #expect(challenged["www-authenticate"]?.contains("insufficient_claims") == true)
    #expect(challenged.body == "refused")
    #expect(try await engine.get("alpha", ["--data-binary", "@/etc/services"]).status == 200)
    stage.api.revoke()
    #expect(try await engine.get("valid").status == 401)
    #expect(try await engine.get("valid").status == 200)
    #expect(stage.api.asked == ["", "alpha", ""])
    #expect(try await engine.get("anew").status == 401)
  }

  @Test func `HAProxy: without the provider its caller gets our 503, and without us one of its own`() async throws {
    let stage = try await EngineStage(issuer: "http://127.0.0.1:\(try freePort())")
    let engine = try await HAProxyEngine(stage)
    let unavailable = try await engine.get("free")
    #expect(unavailable.status == 503)
    #expect(unavailable["retry-after"] != nil)
    #expect(unavailable.body.contains("identity-provider-unavailable"))
    stage.proxy.process.send(SIGKILL)
    _ = try await stage.proxy.process.wait()
    #expect(try await engine.get("free").status == 503)
    #expect(stage.api.requests == 0)
  }

  @Test(
    arguments: [
      (["-H", "X-Bearer-Refused: Bearer x", "-H", "X-Bearer-Status: 402"], 200),
      (["-H", "X-Bearer-Answer: refusal"], 200), (["-H", "Authorization: Bearer own"], 200),
      (["-H", "Origin: https://evil.example"], 403), (["-H", "Sec-Fetch-Site: cross-site"], 403),
    ])
  func `HAProxy: a caller's own fields change nothing, and a page gets nothing`(options: [String], status: Int)
    async throws
  {
    let stage = try await EngineStage()
    let engine = try await HAProxyEngine(stage)
    #expect(try await engine.get("free", options).status == status)
    #expect(stage.api.requests == (status == 200 ? 1 : 0))
  }
}
