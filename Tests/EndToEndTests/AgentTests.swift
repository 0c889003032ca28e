// Agent identities against the sample provider, with the real msal package as the judge of what they obtain.

import DemoProvider
import TestSupport
import Testing

@Suite(.keepsSecrets, .timeLimit(.minutes(5)))
struct AgentTests {
  private typealias Sample = DemoDirectory.Sample

  private let demo: DemoScene

  init() throws { demo = try DemoScene() }

  private func proxy(
    agent: String = Sample.agent, account: String = Sample.agentUser, scopes: String = "api://orders/.default",
    isAlone: Bool = false
  ) async throws -> ProxyUnderTest {
    let api = "\(demo.services.apiOrigin)/api/"
    let more = """
        - {name: object, path: /object/, upstream: "\(api)", application: contoso,
           token: {as: agent, agent: \(agent), account: \(Sample.agentUserObject), scopes: ["\(scopes)"]}}
        - {name: caller, path: /caller/, upstream: "\(api)", application: contoso,
           token: {as: caller, grant: on_behalf_of, agent: \(agent), scopes: ["\(scopes)"]}}
        - {name: picked, path: /picked/, upstream: "\(api)", application: contoso,
           token: {as: agent, agent: \(agent), scopes: ["\(scopes)"],
                   choice: {field: X-Agent, values: {user: {account: \(account)}}}}}

      """
    let bearer =
      "{bearer: {authority: \"\(demo.services.issuer)\", audiences: [\(Sample.blueprint)], "
      + "ca_file: \"\(demo.settings.authorityPath)\"}}"
    return try await ProxyUnderTest(
      in: demo.directory,
      """
      listeners:
        - address: "127.0.0.1:PORT"
          callers: \(isAlone ? "{}" : bearer)
      cache: {file: cache.json}
      applications:
        contoso: \(demo.application(Sample.blueprint, hasSecret: true))
      defaults: {\(demo.tls)}
      routes:
        - {name: agent, path: /agent/, upstream: "\(api)", application: contoso,
           token: {as: agent, agent: \(agent), scopes: ["\(scopes)"]}}
        - {name: user, path: /user/, upstream: "\(api)", application: contoso,
           token: {as: agent, agent: \(agent), account: \(account), scopes: ["\(scopes)"]}}

      """ + (isAlone ? "" : more))
  }

  @Test
  func `agents obtain what msal's obtain: for themselves, for their account, on behalf of a caller`() async throws {
    let proxy = try await proxy()
    let result = try await run(
      peer(
        "agents.py",
        [
          "--ca", demo.settings.authorityPath, "--origin", demo.services.providerOrigin, "--api",
          demo.services.apiOrigin, "--proxy", "http://127.0.0.1:\(proxy.port)", "--secret", demo.settings.secretPath,
        ]), within: .seconds(120))
    #expect(result.status == 0, "\(result.output)\(result.errors)\n\(proxy.process.errors)")
  }

  @Test func `an agent and its account are ready by themselves, and each is told by its id`() async throws {
    let proxy = try await proxy(isAlone: true)
    #expect(try await eventually { try await proxy.admin("/readyz").status == 200 }, "\(proxy.process.errors)")
    #expect(try await proxy.get("/agent/me").body.contains(Sample.agent))
    #expect(try await proxy.get("/user/me").body.contains(Sample.agentUser))
    let status = try await proxy.admin("/status?format=json").body
    #expect(status.contains(#""agent":"\#(Sample.agent)""#) && status.contains(#""as":"agent""#), "\(status)")
    #expect(
      status.contains("token of \(Sample.agentUser) for") && status.contains("token of agent \(Sample.agent) for"))
    let metrics = try await proxy.admin("/metrics").body
    #expect(metrics.contains(#"grant="user_fic",result="obtained"} 1"#), "\(metrics)")
    #expect(proxy.process.errors.contains(Sample.agent), "the log names the agent")
    // The agent's own token is filed as every application's; its account's is not.
    let cache = demo.directory.read("cache.json")
    #expect(cache.contains(Sample.agent) && !cache.contains(Sample.agentUser), "\(cache.count)")
    let check = try await proxy.command(["check", "--live"])
    #expect(check.status == 0 && check.output.contains("/a/\(Sample.blueprint)/\(Sample.agent)"), "\(check.output)")
    let token = try await proxy.command(["token", "--route", "user", "--json"])
    #expect(token.output.contains(#""agent":"\#(Sample.agent)""#), "\(token.output)\(token.errors)")
  }

  @Test(arguments: [
    ("agent", Sample.visitor, "AADSTS700016", "whose blueprint is application 'contoso'"),
    ("account", Sample.alice, "AADSTS50013", "Grant agent"),
    ("scopes", "api://ledger/Ledger.Read", "AADSTS65001", "Grant agent"),
  ])
  func `a provider's refusal is told with its code and cure, and no sign-in is asked for`(
    flaw: String, value: String, code: String, cure: String
  ) async throws {
    let proxy =
      switch flaw {
      case "agent": try await proxy(agent: value, isAlone: true)
      case "account": try await proxy(account: value, isAlone: true)
      default: try await proxy(scopes: value, isAlone: true)
      }
    #expect(try await eventually { proxy.process.errors.contains(code) }, "\(proxy.process.errors)")
    let answer = try await proxy.get("/user/me")
    #expect([502, 503].contains(answer.status), "\(answer.status) \(answer.body)")
    let check = try await proxy.command(["check", "--live"])
    #expect(check.status == 1 && check.output.contains(cure), "\(check.output)")
  }
}
