// Callers of engines whose own tokens are exchanged: what they see of a refusal, and that msal gets through by it.

import DemoProvider
import Glibc
import TestSupport
import Testing

@Suite(.keepsSecrets, .timeLimit(.minutes(5)))
struct EngineCallerTests {
  private typealias Sample = DemoDirectory.Sample

  /// A proxy that hands out callers' tokens on a unix socket, and at an address for engines that need one.
  private static func proxy(
    in directory: TemporaryDirectory, bearer: String, _ rest: String
  ) async throws -> ProxyUnderTest {
    let socket = directory.file("tokens.sock")
    let proxy = try await ProxyUnderTest(
      in: directory,
      """
      listeners:
        - {address: "unix:\(socket)", hand_out: proxies, callers: {unix: {uids: [\(getuid())]}, bearer: \(bearer)}}
        - address: 127.0.0.1:\(try freePort())
          hand_out: proxies
          callers: {header: {name: X-Proxy-Key, value: \(EngineStage.secret)}, bearer: \(bearer)}
      \(rest)
      """)
    _ = try await eventually { access(socket, F_OK) == 0 }
    return proxy
  }

  @Test(arguments: RunningEngine.Kind.allCases)
  func `what stops a caller's own token reaches it through the engine`(kind: RunningEngine.Kind) async throws {
    let directory = try TemporaryDirectory()
    let stage = try CallersStage()
    let proxy = try await Self.proxy(
      in: directory, bearer: "{authority: \"\(stage.name)\", audiences: [proxy]}",
      """
      applications:
        own: {authority: "\(stage.name)", client_id: proxy, client_secret: "s3cret-of-the-proxy"}
      routes:
        - {name: orders, path: /orders/, hand_out: proxies, upstream: "\(stage.upstream)", application: own,
           token: {as: caller, scopes: [orders.read]}}

      """)
    let engine = try await RunningEngine(kind, EnginePart(configuration: proxy.configuration), in: directory)
    func get(_ caller: (token: String, digest: String)) async throws -> Answer {
      try await engine.get("x", ["-H", "Authorization: Bearer \(caller.token)", "-H", "X-Caller: \(caller.digest)"])
    }
    let (ann, bob) = (try stage.token(of: "ann"), try stage.token(of: "bob"))
    for turn in 0..<2 { #expect([try await get(ann).body, try await get(bob).body] == ["1", "2"], "turn \(turn)") }
    let (requests, problem) = (stage.requests, "urn:bearer-proxy:problem:")

    let consent = try await get(try stage.token(of: "consent"))
    #expect(consent.status == 403)
    #expect(consent["www-authenticate"] == nil)
    // nginx has a page of its own.
    #expect(consent.body.contains("\(problem)caller-consent-required\"") == (kind != .nginx), "\(consent.body)")
    let claims = try await get(try stage.token(of: "claims"))
    #expect(claims.status == 401)
    #expect(claims["www-authenticate"]?.contains(#"error="insufficient_claims", claims=""#) == true)
    #expect(claims.body.contains("\(problem)caller-claims-required\""), "\(claims.body)")
    let forged = try await get((ann.token + "x", ann.digest))
    #expect(forged.status == 401 && forged["www-authenticate"]?.hasPrefix("Bearer ") == true)
    #expect(try await engine.get("x").status == 401)
    #expect((stage.requests, stage.wrong) == (requests, 0))
  }

  /// Traefik's double has no TLS. An engine that sends no request again passes the API's demands on one by one.
  @Test(arguments: RunningEngine.Kind.allCases.filter { $0 != .traefik }, ["conditional", "critical"])
  func `msal satisfies the claims that an engine passes on, and gets through`(
    kind: RunningEngine.Kind, what: String
  ) async throws {
    let demo = try DemoScene()
    let (directory, settings, services) = (demo.directory, demo.settings, demo.services)
    let authority = settings.authorityPath
    let proxy = try await Self.proxy(
      in: directory,
      bearer: "{authority: \"\(services.issuer)\", audiences: [\(Sample.gateway)], ca_file: \(authority)}",
      """
      applications:
        gateway: \(demo.application(Sample.gateway, hasSecret: true, ", client_capabilities: [cp1]"))
      defaults: {\(demo.tls)}
      routes:
        - {name: orders, path: /orders/, hand_out: proxies, upstream: "\(services.apiOrigin)/api/",
           application: gateway, token: {as: caller, grant: on_behalf_of, scopes: ["api://orders/Orders.Read"]}}

      """)
    let engine = try await RunningEngine(kind, EnginePart(configuration: proxy.configuration), in: directory)
    let result = try await run(
      peer(
        "middle_tier.py",
        [
          "--ca", authority, "--origin", services.providerOrigin, "--api", services.apiOrigin, "--gateway",
          "http://127.0.0.1:\(engine.port)", "--engine", "--turns", kind.sendsAgain ? "1" : "4", "--secret",
          settings.secretPath, what,
        ]), within: .seconds(120))
    #expect(result.status == 0, "\(result.output)\(result.errors)\n\(proxy.process.errors)\n\(engine.process.errors)")
    #expect(result.output.contains("gets through by the surfaced claims alone"))
  }
}
