// The requests of a sign-in if routes name tenants.

import Configuration
import TestSupport
import Testing
import Tokens

@testable import bearer_proxy

@Suite struct LoginPlanTests {
  @Test func `a sign-in is at the tenant of its routes, and consents to what those of that tenant need`() throws {
    let directory = try TemporaryDirectory()
    func route(_ name: String, _ tenant: String?, _ scope: String) -> String {
      let tenant = tenant.map { "tenant: \($0), " } ?? ""
      return "  - {name: \(name), path: /\(name)/, upstream: 'https://a.example', application: app, "
        + "token: {\(tenant)scopes: ['api://\(scope)/x']}}\n"
    }
    let file = try directory.write(
      """
      listeners: [{address: "127.0.0.1:0"}]
      applications:
        app: {authority: "https://login.microsoftonline.com/organizations", client_id: c}
      routes:

      """ + route("one", "one.example", "a") + route("two", "two.example", "b") + route("more", "one.example", "c")
        + route("home", nil, "d"), to: "p.yaml")
    let routes = try CommandContext(environment: [:]).settings(file).routes
    func plan(_ target: LoginCommand.Target) throws -> LoginPlan {
      try LoginPlan(LoginCommand(configuration: file, target: target), routes: routes, applications: ["app"])
    }
    let host = "https://login.microsoftonline.com"
    for (name, tenant) in [("one", "one.example"), ("two", "two.example"), ("home", nil)] as [(String, String?)] {
      let plan = try plan(.route(name))
      #expect(plan.token.authority?.description == tenant.map { "\(host)/\($0)" })
      #expect(plan.extraScopes.isEmpty)
    }
    let all = try plan(.application("app"))
    #expect(all.token.authority?.description == "\(host)/one.example")
    #expect(try all.token.scopes == ScopeSet(["api://a/x"]))
    #expect(try all.extraScopes == ScopeSet(["api://c/x"]))
    #expect(all.routes.map(\.name) == ["one", "more"])
  }
}
