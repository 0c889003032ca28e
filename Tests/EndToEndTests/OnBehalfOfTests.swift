// Callers' tokens exchanged, with parties that we did not write: the real msal package as the caller's program and as
// the judge of what two proxies obtain, one behind the other.

import Bytes
import DemoProvider
import TestSupport
import Testing

@Suite(.keepsSecrets, .timeLimit(.minutes(5)))
struct OnBehalfOfTests {
  private typealias Sample = DemoDirectory.Sample

  /// A gateway that asks on behalf of its callers, and a branch that exchanges their tokens by RFC 8693; each has a
  /// route to the other and to the API.
  @Test(arguments: ["chain", "conditional", "critical"])
  func `msal's callers get through two proxies, and with the claims that the API demands`(
    what: String
  ) async throws {
    let demo = try DemoScene()
    let (directory, settings, services) = (demo.directory, demo.settings, demo.services)
    let (gatewayPort, branchPort) = (try freePort(), try freePort())
    func proxy(
      _ name: String, _ client: String, port: Int, grant: String, other: String, at otherPort: Int, scope: String
    ) async throws -> ProxyUnderTest {
      try await ProxyUnderTest(
        in: directory, port: port, place: { try $0.write($1, to: "\(name).yaml") },
        """
        listeners:
          - address: "127.0.0.1:\(port)"
            callers:
              bearer: {authority: "\(services.issuer)", audiences: [\(client)], ca_file: "\(settings.authorityPath)",
                scopes: [\(name == "gateway" ? "Gateway" : "Branch").Access],
                public_url: "http://127.0.0.1:\(port)"}
        applications:
          \(name): \(demo.application(client, hasSecret: true, ", client_capabilities: [cp1]"))
        defaults: {\(demo.tls)}
        routes:
          - {name: orders, path: /orders/, upstream: "\(services.apiOrigin)/api/", application: \(name),
             token: {as: caller, grant: \(grant), scopes: ["api://orders/Orders.Read"]}}
          - {name: approvals, path: /approvals/, upstream: "\(services.apiOrigin)/api/", application: \(name),
             token: {as: caller, grant: \(grant), scopes: ["api://orders/Orders.Approve"]}}
          - {name: \(other), path: /\(other)/, upstream: "http://127.0.0.1:\(otherPort)/", application: \(name),
             token: {as: caller, grant: \(grant), scopes: ["\(scope)"]}}

        """)
    }
    let gateway = try await proxy(
      "gateway", Sample.gateway, port: gatewayPort, grant: "on_behalf_of", other: "branch", at: branchPort,
      scope: "api://branch/Branch.Access")
    let branch = try await proxy(
      "branch", Sample.branch, port: branchPort, grant: "token_exchange", other: "gateway", at: gatewayPort,
      scope: "api://gateway/Gateway.Access")
    let result = try await run(
      peer(
        "middle_tier.py",
        [
          "--ca", settings.authorityPath, "--origin", services.providerOrigin, "--api", services.apiOrigin, "--gateway",
          "http://127.0.0.1:\(gateway.port)", "--branch", "http://127.0.0.1:\(branch.port)", "--secret",
          settings.secretPath, what,
        ]), within: .seconds(120))
    #expect(result.status == 0, "\(result.output)\(result.errors)\n\(gateway.process.errors)\n\(branch.process.errors)")
    if what != "chain" { #expect(result.output.contains("gets through by the surfaced claims alone")) }
  }
}

/// An authorization server of Authlib's with Keycloak's documented rules, and a second one that takes its identity
/// assertions.
@Suite(.keepsSecrets, .timeLimit(.minutes(5)))
struct ExchangeGrantTests {
  private let directory: TemporaryDirectory
  private let provider: ExchangeProvider

  init() async throws {
    directory = try TemporaryDirectory()
    provider = try await ExchangeProvider(in: directory)
  }

  private func proxy(_ token: String, at realm: String = "enterprise") async throws -> ProxyUnderTest {
    try await ProxyUnderTest(
      """
      listeners:
        - address: "127.0.0.1:PORT"
          callers: {bearer: {authority: "\(provider.issuer("enterprise"))", audiences: [\(ExchangeProvider.client)]}}
      applications:
        own: {authority: "\(provider.issuer("enterprise"))", client_id: \(ExchangeProvider.client),
              client_secret: "\(ExchangeProvider.secret)"}
        there: {authority: "\(provider.issuer("resource"))", client_id: \(ExchangeProvider.client),
                client_secret: "\(ExchangeProvider.secret)"}
      routes:
        - {name: api, path: /api/, upstream: "\(provider.issuer(realm))/api/", application: own,
           token: {as: caller, scopes: [orders.read]\(token)}}

      """)
  }

  private func whoami(_ proxy: ProxyUnderTest, _ token: String) async throws -> [String: JSONValue] {
    let answer = try await proxy.get("/api/whoami", ["-H", "Authorization: Bearer \(token)"])
    try #require(answer.status == 200, "\(answer.body)\n\(proxy.process.errors)")
    return answer.json
  }

  @Test func `a token is exchanged by Keycloak's rules, for the person who called`() async throws {
    let proxy = try await proxy("")
    let token = try await provider.callersToken()
    let caller = try await whoami(proxy, token)
    #expect(caller["sub"]?.text == ExchangeProvider.caller && caller["client_id"]?.text == ExchangeProvider.client)
    #expect(caller["scope"]?.text == "orders.read")
    #expect(caller["aud"]?.texts.contains("https://enterprise.example") == true)
    let form = try #require(try await provider.forms("enterprise").last)
    #expect(form.contains("token-exchange") && !form.contains("client_credentials"))
    // Consent that is withdrawn holds for the next token.
    #expect(try await whoami(proxy, token)["sub"]?.text == ExchangeProvider.caller)
    try await provider.behave(#"{"consent": false}"#)
    let other = try await provider.callersToken()
    #expect(try await proxy.get("/api/whoami", ["-H", "Authorization: Bearer \(other)"]).status == 401)
    #expect(try await whoami(proxy, token)["sub"]?.text == ExchangeProvider.caller)
  }

  @Test func `a refusal of Keycloak's is classified`() async throws {
    let actor = try directory.write("eyJhbGciOiJSUzI1NiJ9.e30.c2ln", to: "actor.jwt")
    let token = try await provider.callersToken()
    // RFC 8693 calls every fault of subject, actor and their terms an invalid request.
    for terms in [", actor: {file: \"\(actor)\"}", ", subject_token_type: \"urn:ietf:params:oauth:token-type:jwt\""] {
      let proxy = try await proxy(terms)
      let answer = try await proxy.get("/api/whoami", ["-H", "Authorization: Bearer \(token)"])
      #expect(answer.status == 401 && answer.body.contains("caller-token-refused"), "\(answer.body)")
      #expect(
        try await eventually { proxy.process.errors.contains("caller's token not exchanged") },
        "\(proxy.process.errors)")
    }
    let proxy = try await proxy(", grant: on_behalf_of")
    let answer = try await proxy.get("/api/whoami", ["-H", "Authorization: Bearer \(token)"])
    #expect(answer.status == 502 && answer.body.contains("token-request-rejected"), "\(answer.body)")
  }

  @Test func `an identity assertion of one server becomes a token of another`() async throws {
    let proxy = try await proxy(", grant: id_jag, resource_application: there, resource: 'urn:orders'", at: "resource")
    let caller = try await whoami(proxy, try await provider.callersToken())
    #expect(caller["iss"]?.text == provider.issuer("resource") && caller["sub"]?.text == ExchangeProvider.caller)
    #expect(caller["aud"]?.texts == ["https://resource.example"] && caller["scope"]?.text == "orders.read")
    let first = try #require(try await provider.forms("enterprise").last)
    #expect(first.contains("id-jag") && first.contains(provider.issuer("resource")) && first.contains("urn:orders"))
    let second = try #require(try await provider.forms("resource").last)
    #expect(second.contains("jwt-bearer") && !second.contains("requested_token_use") && !second.contains("urn:orders"))
  }
}
