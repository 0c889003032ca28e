// The engines of docs/engines.md in front of an API each of whose parts demands another token.

import Glibc
import Platform
import TestSupport
import Testing

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

  @Test(arguments: RunningEngine.Kind.allCases, [true, false])
  func `a refusal of ours reaches an engine's callers whole`(kind: RunningEngine.Kind, hasConsent: Bool) async throws {
    let person = (from: #"as: application, scopes: ["api://orders/.default"]"#, to: "scopes: [User.Read]")
    let stage = try await EngineStage(hasConsent: hasConsent, hasConsent ? [person] : [])
    let engine = try await RunningEngine(kind, stage)
    let direct = try await stage.ask()
    let answer = try await engine.get("free")
    #expect(direct.status == (hasConsent ? 401 : 502))
    #expect(answer.status == (hasConsent ? 401 : kind.statusForRejection))
    #expect(answer["www-authenticate"] == direct["www-authenticate"])
    #expect(answer["content-type"] == "application/problem+json")
    #expect(answer.body.between("\"title\":", ",") == direct.body.between("\"title\":", ","))
    #expect(stage.api.requests == 0)
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

  @Test(arguments: [RunningEngine.Kind.nginx, .envoy, .envoyTwoListeners])
  func `many callers of an engine with one refused token cost one token request`(
    kind: RunningEngine.Kind
  ) async throws {
    let stage = try await EngineStage()
    let engine = try await RunningEngine(kind, stage)
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

  @Test(arguments: [RunningEngine.Kind.envoy, .envoyTwoListeners])
  func `Envoy sends a request again with another token and its body`(kind: RunningEngine.Kind) async throws {
    let stage = try await EngineStage()
    let engine = try await RunningEngine(kind, stage)
    let body = String(repeating: "0123456789abcdef", count: 4096)
    let file = try stage.directory.write(body, to: "body")
    for _ in 0..<2 { #expect(try await engine.get("alpha", ["--data-binary", "@\(file)"]).status == 200) }
    #expect(stage.api.asked == ["", "alpha"])
    stage.api.revoke()
    let answer = try await engine.get("valid", ["--data-binary", "@\(file)"])
    let isWhole = answer.body.hasSuffix(body)
    #expect(answer.status == 200)
    #expect(isWhole)
    #expect(answer["x-bearer-again"] == nil)
    #expect(stage.api.asked.count == 3)
  }

  @Test(arguments: [RunningEngine.Kind.envoy, .envoyTwoListeners])
  func `a body that Envoy cannot send again is refused, and the next request has the new token`(
    kind: RunningEngine.Kind
  ) async throws {
    let stage = try await EngineStage()
    let engine = try await RunningEngine(kind, stage)
    #expect(try await engine.get("valid").status == 200)
    stage.api.revoke()
    let file = try stage.directory.write(String(repeating: "0123456789abcdef", count: 250_000), to: "body")
    let refused = try await engine.get("valid", ["--data-binary", "@\(file)"])
    #expect(refused.status == 401)
    #expect(refused["www-authenticate"]?.contains("invalid_token") == true)
    #expect(refused["x-bearer-again"] == nil)
    #expect(try await engine.get("valid").status == 200)
    #expect(stage.api.asked.count == 2)
  }

  @Test func `Envoy's ext_authz alone leaves a refused token in use`() async throws {
    let stage = try await EngineStage()
    let engine = try await RunningEngine(.envoyExtAuthz, stage)
    for _ in 0..<2 { #expect(try await engine.get("alpha").status == 401) }
    #expect(stage.api.asked == [""])
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
