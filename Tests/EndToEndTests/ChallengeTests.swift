// Refused tokens with the built program, the sample API that refuses them, and the person who brings what silence
// cannot.

import Bytes
import DemoProvider
import TestSupport
import Testing

@Suite(.keepsSecrets, .timeLimit(.minutes(5)))
struct ChallengeTests {
  private let demo: DemoScene

  init() throws { demo = try DemoScene() }

  /// The number of recorded requests for a path with this challenge and this outcome.
  private func records(_ proxy: ProxyUnderTest, _ path: String, _ kind: String, _ outcome: String) -> Int {
    proxy.accessRecords.count { record in
      record["path"] == .string(path) && record["challenge"] == .string(kind)
        && record["challenge_outcome"] == .string(outcome)
    }
  }

  @Test(arguments: [("payouts", "claims=", "proof"), ("statements", "acr_values=", "another way to authenticate")])
  func `claims that need a person are passed on, remembered, and requested by the next sign-in`(
    path: String, parameter: String, words: String
  ) async throws {
    let proxy = try await demo.proxy([demo.route("orders")], application: ", client_capabilities: [cp1]")
    func login() async throws -> CommandResult {
      try await Login.run(proxy.configuration, ["--route", "orders"], person: demo.person())
    }
    let first = try await login()
    try #require(first.status == 0, "\(first.errors)")
    #expect(!first.errors.contains("were refused"))
    #expect(try await eventually { try await proxy.get("/orders/list").status == 200 })
    let refused = try await proxy.get("/orders/\(path)")
    #expect(refused.status == 401)
    #expect(refused["www-authenticate"]?.contains(parameter) == true, "\(refused.fields)")
    // Claims are tried at the provider first; a level of authentication takes a person anyway.
    let (kind, outcome) = path == "payouts" ? ("claims", "not_obtained") : ("step_up", "passed_on")
    #expect(
      try await eventually { records(proxy, "/orders/\(path)", kind, outcome) >= 1 }, "\(proxy.accessRecords)")
    #expect(try await proxy.get("/orders/list").status == 200)
    #expect(try await proxy.get("/orders/\(path)").status == 401)
    #expect(try await eventually { !demo.directory.read("cache.json.challenges").isEmpty })
    #expect(try await metricSum(proxy, "bearer_proxy_sign_in_needs") == 1)
    #expect(try await proxy.admin("/readyz").body.contains("- route orders: the next sign-in has to bring "))

    let login = try await login()
    #expect(login.status == 0, "\(login.errors)")
    #expect(login.errors.contains(words), "\(login.errors)")
    #expect(try await eventually { try await proxy.get("/orders/\(path)").status == 200 })
    #expect(try await metricSum(proxy, "bearer_proxy_sign_in_needs") == 0)
  }
}
