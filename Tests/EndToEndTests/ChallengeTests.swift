// Refused tokens with the built program, the sample API that refuses them, and the person who brings what silence
// cannot.

import DemoProvider
import FoundationEssentials
import TestSupport
import Testing

@Suite(.keepsSecrets, .timeLimit(.minutes(5)))
struct ChallengeTests {
  private let directory: TemporaryDirectory
  private let settings: DemoSettings
  private let services: DemoServices

  init() throws {
    directory = try TemporaryDirectory()
    settings = DemoSettings(directory: directory.path)
    services = try DemoServices(settings)
  }

  /// A proxy with the route `/orders/` for Alice, who has signed in.
  private func proxy(_ token: String = "") async throws -> ProxyUnderTest {
    let proxy = try await ProxyUnderTest(
      in: directory,
      """
      cache: {file: cache.json}
      applications:
        desk:
          authority: "\(services.issuer)"
          client_id: \(DemoDirectory.Sample.desk)
          client_capabilities: [cp1]
          tls: {ca_file: "\(settings.authorityPath)"}
      defaults: {tls: {ca_file: "\(settings.authorityPath)"}}
      routes:
        - {name: orders, path: /orders/, upstream: "\(services.apiOrigin)/api/", application: desk,
           token: {scopes: ["api://orders/Orders.Read"]\(token)}}

      """)
    let login = try await login(proxy)
    try #require(login.status == 0, "\(login.errors)")
    #expect(!login.errors.contains("were refused"))
    #expect(try await eventually { try await proxy.get("/orders/list").status == 200 })
    return proxy
  }

  private func login(_ proxy: ProxyUnderTest) async throws -> CommandResult {
    try await Login.run(
      proxy.configuration, ["--route", "orders"], person: SigningInPerson(trust: settings.authorityPath), in: directory)
  }

  /// The number of recorded requests for a path with this challenge and this outcome.
  private func records(_ proxy: ProxyUnderTest, _ path: String, _ kind: String, _ outcome: String) -> Int {
    proxy.accessRecords.count { record in
      record["path"] == .text(path) && record["challenge"] == .text(kind)
        && record["challenge_outcome"] == .text(outcome)
    }
  }

  @Test(arguments: [("payouts", "claims=", "proof"), ("statements", "acr_values=", "another way to authenticate")])
  func `claims that need a person are passed on, remembered, and requested by the next sign-in`(
    path: String, parameter: String, words: String
  ) async throws {
    let proxy = try await proxy()
    let refused = try await proxy.get("/orders/\(path)")
    #expect(refused.status == 401)
    #expect(refused["www-authenticate"]?.contains(parameter) == true, "\(refused.fields)")
    // Claims are tried at the provider first; a level of authentication takes a person anyway.
    let (kind, outcome) = path == "payouts" ? ("claims", "not_obtained") : ("step_up", "passed_on")
    #expect(
      try await eventually { records(proxy, "/orders/\(path)", kind, outcome) >= 1 }, "\(proxy.accessRecords)")
    #expect(try await proxy.get("/orders/list").status == 200)
    #expect(try await proxy.get("/orders/\(path)").status == 401)
    #expect(try await eventually { !directory.read("cache.json.challenges").isEmpty })
    #expect(try await metricSum(proxy, "bearer_proxy_sign_in_needs") == 1)
    #expect(try await proxy.admin("/readyz").body.contains("- route orders: the next sign-in has to bring "))

    let login = try await login(proxy)
    #expect(login.status == 0, "\(login.errors)")
    #expect(login.errors.contains(words), "\(login.errors)")
    #expect(try await eventually { try await proxy.get("/orders/\(path)").status == 200 })
    #expect(try await metricSum(proxy, "bearer_proxy_sign_in_needs") == 0)
    await services.stop()
  }
}
