// The answer of `token` for a route, and its exit status, against a provider that answers from memory.

import Bytes
import Configuration
import HTTPClient
import TestSupport
import Testing
import Tokens

@testable import bearer_proxy

@Suite struct `Showing a route's token` {
  private static let entra = "https://login.microsoftonline.com/contoso.example"

  private func answer(
    route: String = "orders", form: OutputForm = .text, reveal: Bool = false, reply: FetchResponse? = nil
  ) async throws -> CommandAnswer {
    let directory = try TemporaryDirectory()
    let file = try directory.write(
      """
      listeners: [{address: "127.0.0.1:0"}]
      applications:
        contoso: {authority: "\(Self.entra)", client_id: c, client_secret: s3cret}
      routes:
        - name: orders
          path: /orders/
          upstream: https://orders.example/
          application: contoso
          token: {as: application, scopes: ["api://orders/.default"]}
        - {name: open, path: /open/, upstream: https://open.example/, token: none}
      """, to: "proxy.yaml")
    let token = reply ?? Self.json(200, #"{"access_token": "AT-1", "expires_in": 3599, "token_type": "Bearer"}"#)
    let options = TokenCommand(configuration: file, route: route, form: form, reveal: reveal)
    var context = CommandContext(environment: [:])
    context.now = { UnixTime(1_700_000_000) }
    context.providers = { _ in
      { request in
        if case .post = request.method { return token }
        return Self.json(
          200, #"{"issuer": "\#(Self.entra)/v2.0", "token_endpoint": "\#(Self.entra)/oauth2/v2.0/token"}"#)
      }
    }
    return await Command.token(options).answer(in: context)
  }

  private static func json(_ status: Int, _ text: String) -> FetchResponse {
    FetchResponse(status: status, body: Array(text.utf8))
  }

  @Test func `the token's description has a line for each fact, and no token`() async throws {
    let expected = """
      route:       orders
      application: contoso
      authority:   https://login.microsoftonline.com/contoso.example
      tenant:      contoso.example
      scopes:      api://orders/.default
      expires:     Tue, 14 Nov 2023 23:13:19 GMT (in 59 min)
      source:      identity provider

      """
    #expect(try await answer() == CommandAnswer(text: expected, status: .done))
    #expect(try await answer(reveal: true).text == expected + "token:       AT-1\n")
  }

  @Test func `for programs it is an object on a line`() async throws {
    let expected = """
      {"application":"contoso","authority":"https://login.microsoftonline.com/contoso.example","expires_in":3599,\
      "expires_on":1700003599,"route":"orders","scopes":["api://orders/.default"],"tenant":"contoso.example",\
      "token_source":"identity_provider","token_type":"Bearer"}

      """
    #expect(try await answer(form: .json) == CommandAnswer(text: expected, status: .done))
    let revealed = try await answer(form: .json, reveal: true).text
    #expect(revealed == "{\"access_token\":\"AT-1\"," + expected.dropFirst())
  }

  @Test func `a refusal says the provider's code and the cure, and fails`() async throws {
    let refusal = Self.json(
      401, #"{"error": "invalid_client", "error_description": "AADSTS7000215: Wrong s3cret", "error_codes": [7000215]}"#
    )
    // The description repeats the secret that was sent: s3cret.
    let detail = "invalid_client; AADSTS7000215; the provider's words repeat a secret of the request, and are not shown"
    let text = "no token for route 'orders': token-request-rejected: \(detail)"
    let said = try await answer(reply: refusal)
    #expect(said.status == .failed && said.text.hasPrefix("bearer-proxy: error: \(text)\n"))
    #expect(said.text.dropFirst("bearer-proxy: error: \(text)\n".count).hasPrefix("Check 'client_id'"))
    let expected = """
      {"application":"contoso","authority":"https://login.microsoftonline.com/contoso.example",\
      "detail":"\(detail)","error":"token-request-rejected","retry_after":60,"route":"orders"}

      """
    let object = try await answer(form: .json, reply: refusal)
    #expect(object == CommandAnswer(text: expected, status: .failed, stream: .output))
  }

  @Test func `a route that is not there, or adds no token, is a usage error`() async throws {
    let unknown = try await answer(route: "order")
    #expect(unknown.status == .usage)
    #expect(unknown.text.hasPrefix("bearer-proxy: error: "))
    #expect(unknown.text.contains("no route 'order'; did you mean 'orders'? (routes: "))
    #expect(
      try await answer(route: "open")
        == CommandAnswer(text: "bearer-proxy: error: route 'open' adds no token\n", status: .usage))
  }

  @Test func `an unreadable configuration is one too`() async throws {
    let options = TokenCommand(configuration: "/nowhere.yaml", route: "orders", form: .json, reveal: false)
    let answer = await Command.token(options).answer(in: CommandContext(environment: [:]))
    #expect(answer.status == .usage)
    #expect(answer.text.hasPrefix("/nowhere.yaml: error: cannot read the configuration"))
  }
}
