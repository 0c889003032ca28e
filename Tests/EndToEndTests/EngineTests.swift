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

/// An engine in front of the API.
struct RunningEngine {
  enum Kind: CaseIterable {
    case nginx, caddy, haproxy

    /// The status for its caller while bearer-proxy does not run.
    var statusWithoutUs: Int {
      switch self {
      case .nginx: 500
      case .caddy: 502
      case .haproxy: 503
      }
    }
  }

  let port: Int
  let process: ChildProcess

  init(_ kind: Kind, _ stage: EngineStage) async throws {
    let port = try freePort()
    self.port = port
    switch kind {
    case .nginx: process = try await Self.nginx(stage, port)
    case .caddy: process = try await Self.caddy(stage, port)
    case .haproxy: process = try await Self.haproxy(stage, port)
    }
  }

  /// A request whose path is sent as it is written.
  func get(_ path: String, _ options: [String] = []) async throws -> Answer {
    try await curl(options + ["--path-as-is", "http://127.0.0.1:\(port)/orders/\(path)"])
  }

  /// nginx with what `bearer-proxy engine nginx` prints.
  private static func nginx(_ stage: EngineStage, _ port: Int) async throws -> ChildProcess {
    let printed = try await run([binary(), "engine", "nginx", "-c", stage.proxy.configuration])
    try #require(printed.status == 0, "\(printed.errors)")
    let server = try EngineStage.replacing(printed.output, [("127.0.0.1:8000", "127.0.0.1:\(port)")])
    return try await EndToEndTests.nginx(serving: server, at: port, in: stage.directory)
  }

  private static func caddy(_ stage: EngineStage, _ port: Int) async throws -> ChildProcess {
    let file = try stage.write(
      "Caddyfile",
      [
        ("/run/bearer-proxy/tokens.sock", stage.socket), ("https://orders.example", "http://\(stage.apiAuthority)"),
        ("http://127.0.0.1:8000", "http://127.0.0.1:\(port)"),
      ])
    let process = try ChildProcess(
      "caddy", ["caddy", "run", "--adapter", "caddyfile", "--config", file], in: stage.directory,
      environment: ["HOME": stage.directory.path])
    try await waitForPort(port, of: process)
    return process
  }

  private static func haproxy(_ stage: EngineStage, _ port: Int) async throws -> ChildProcess {
    let script = try stage.write("bearer.lua", [("/run/bearer-proxy/tokens.sock", stage.socket)])
    let file = try stage.write(
      "haproxy.cfg",
      [
        ("/etc/haproxy/bearer.lua", script), ("127.0.0.1:8000", "127.0.0.1:\(port)"),
        ("Host orders.example", "Host \(stage.apiAuthority)"),
        (
          "orders.example:443 ssl verify required ca-file /etc/ssl/certs/ca-certificates.crt sni str(orders.example)",
          stage.apiAuthority
        ),
      ])
    let process = try ChildProcess("haproxy", ["haproxy", "-db", "-f", file], in: stage.directory)
    try await waitForPort(port, of: process)
    return process
  }
}

extension EngineStage {
  fileprivate var apiAuthority: String { String(api.upstream.dropFirst("http://".count).dropLast("/api".count)) }

  /// Writes a recipe's file with the test's own words.
  fileprivate func write(_ name: String, _ changes: [(from: String, to: String)]) throws -> String {
    let recipe = textOfFile(testsDirectory + "/../config/recipes/engines/\(name)")
    return try directory.write(Self.replacing(recipe, changes), to: name)
  }
}

@Suite(.keepsSecrets, .timeLimit(.minutes(5)))
struct EngineTests {
  @Test(arguments: RunningEngine.Kind.allCases)
  func `one token serves an engine's callers, and a challenge that no token answers reaches them`(
    kind: RunningEngine.Kind
  ) async throws {
    let stage = try await EngineStage()
    let engine = try await RunningEngine(kind, stage)
    for _ in 0..<3 { #expect(try await engine.get("free").status == 200) }
    #expect(stage.api.asked.count == 1)
    let refused = try await engine.get("anew")
    #expect(refused.status == 401)
    #expect(refused["www-authenticate"]?.contains("insufficient_user_authentication") == true)
    #expect(refused["authorization"] == nil)
    #expect(stage.api.asked.count == 1)
  }

  @Test(arguments: RunningEngine.Kind.allCases)
  func `without the provider an engine's callers get our 503, and without us its own answer`(
    kind: RunningEngine.Kind
  ) async throws {
    let stage = try await EngineStage(issuer: "http://127.0.0.1:\(try freePort())")
    let engine = try await RunningEngine(kind, stage)
    let unavailable = try await engine.get("free")
    #expect(unavailable.status == 503)
    #expect(unavailable["retry-after"] != nil)
    #expect(unavailable.body.contains("identity-provider-unavailable"))
    stage.proxy.process.send(SIGKILL)
    _ = try await stage.proxy.process.wait()
    #expect(try await engine.get("free").status == kind.statusWithoutUs)
    #expect(stage.api.requests == 0)
  }

  @Test(arguments: RunningEngine.Kind.allCases)
  func `fields of an engine's callers change nothing, and a page gets nothing`(kind: RunningEngine.Kind) async throws {
    let stage = try await EngineStage()
    let engine = try await RunningEngine(kind, stage)
    for fields in [
      ["X-Bearer-Refused: Bearer x", "X-Bearer-Status: 402", "X-Bearer-Unavailable: 200"], ["X-Bearer-Answer: refusal"],
      ["Authorization: Bearer own"],
    ] {
      #expect(try await engine.get("free", fields.flatMap { ["-H", $0] }).status == 200, "\(fields)")
    }
    #expect(stage.api.requests == 3)
    for field in ["Origin: https://evil.example", "Sec-Fetch-Site: cross-site"] {
      #expect(try await engine.get("free", ["-H", field]).status == 403, "\(field)")
    }
    #expect(stage.api.requests == 3)
  }

  @Test(arguments: RunningEngine.Kind.allCases)
  func `a path that leads out of the route reaches no API with its token`(kind: RunningEngine.Kind) async throws {
    let stage = try await EngineStage()
    let engine = try await RunningEngine(kind, stage)
    for path in [
      "../free", "../../free", "%2e%2e/free", "..%2ffree", "%2E%2E%2Ffree", "x/../../free", "..;/free", "..%5cfree",
      "..\\free", ".%2e/%2e./free", "../orders/../free",
    ] {
      _ = try await engine.get(path)
      #expect(stage.api.climbed == [], "\(path)")
    }
  }

  // MARK: What each engine does about a refused token

  @Test func `nginx sends a request again with another token and its body`() async throws {
    let stage = try await EngineStage()
    let engine = try await RunningEngine(.nginx, stage)
    for _ in 0..<2 { #expect(try await engine.get("alpha").status == 200) }
    #expect(stage.api.asked == ["", "alpha"])
    stage.api.revoke()
    let body = String(repeating: "0123456789abcdef", count: 4096)
    let file = try stage.directory.write(body, to: "body")
    let answer = try await engine.get("valid", ["--data-binary", "@\(file)"])
    let isWhole = answer.body.hasSuffix(body)
    #expect(answer.status == 200)
    #expect(isWhole)
    #expect(stage.api.asked.count == 3)
  }

  @Test func `many callers of nginx with one refused token cost one token request`() async throws {
    let stage = try await EngineStage()
    let engine = try await RunningEngine(.nginx, stage)
    #expect(try await engine.get("valid").status == 200)
    stage.api.revoke()
    let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
      for _ in 0..<50 { group.addTask { try await engine.get("valid").status } }
      return try await group.reduce(into: Set<Int>()) { $0.insert($1) }
    }
    #expect(statuses == [200])
    #expect(stage.api.asked.count == 2)
  }

  @Test func `nginx's own questions are not its callers' to ask`() async throws {
    let stage = try await EngineStage()
    let engine = try await RunningEngine(.nginx, stage)
    for path in [".bearer/orders", ".bearer/orders/again", ".bearer/orders/answer", "orders/../.bearer/orders"] {
      let direct = try await curl(["--path-as-is", "http://127.0.0.1:\(engine.port)/\(path)"])
      #expect(direct.status == 404)
    }
  }

  @Test func `Caddy sends a request without a body again, and the next one with a body has the new token`() async throws
  {
    let stage = try await EngineStage()
    let engine = try await RunningEngine(.caddy, stage)
    let body = ["--data-binary", "@/etc/services"]
    let challenged = try await engine.get("alpha", body)
    #expect(challenged.status == 401)
    #expect(challenged["www-authenticate"]?.contains("insufficient_claims") == true)
    #expect(challenged["authorization"] == nil)
    #expect(try await engine.get("alpha", body).status == 200)
    stage.api.revoke()
    #expect(try await engine.get("valid").status == 200)
    #expect(stage.api.asked == ["", "alpha", ""])
    #expect(try await engine.get("anew").body.contains("token-refused"))
  }

  @Test func `HAProxy reports a refused token, and the next request has the new one`() async throws {
    let stage = try await EngineStage()
    let engine = try await RunningEngine(.haproxy, stage)
    let challenged = try await engine.get("alpha")
    #expect(challenged.status == 401)
    #expect(challenged["www-authenticate"]?.contains("insufficient_claims") == true)
    #expect(challenged.body == "refused")
    #expect(try await engine.get("alpha", ["--data-binary", "@/etc/services"]).status == 200)
    stage.api.revoke()
    #expect(try await engine.get("valid").status == 401)
    #expect(try await engine.get("valid").status == 200)
    #expect(stage.api.asked == ["", "alpha", ""])
  }
}
