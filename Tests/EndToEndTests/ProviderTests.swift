// The provider's other moods: short tokens, its own TLS, refusals of a scope, Retry-After, answers that are no token.

import Testing
import TestSupport

@Suite(.keepsSecrets, .timeLimit(.minutes(5)))
struct ProviderTests {
  private let directory: TemporaryDirectory

  init() throws { directory = try TemporaryDirectory() }

  private func proxy(_ provider: OpenIDProvider, more: String = "", scopes: [String] = ["orders.read"]) async throws
    -> ProxyUnderTest
  {
    // The provider's own resource server is the upstream: it verifies each token that arrives.
    let routes = scopes.map {
      """
        - {name: \($0), path: /\($0)/, upstream: "http://127.0.0.1:\(provider.port)/api/", application: contoso,
           token: {as: application, scopes: [\($0)]}}

      """
    }
    return try await ProxyUnderTest(
      in: directory,
      """
      applications:
        contoso:
          authority: \(provider.issuer)
          client_id: \(OpenIDProvider.client)
          client_secret: "\(OpenIDProvider.secret)"
          \(more)
      routes:
      \(routes.joined())
      """)
  }

  @Test func `each scope set is asked for on its own, and each route gets its own`() async throws {
    let provider = try await OpenIDProvider(in: directory)
    let proxy = try await proxy(provider, scopes: ["orders.read", "orders.write"])
    for scope in ["orders.read", "orders.write"] {
      let answer = try await proxy.get("/\(scope)/whoami")
      #expect(answer.status == 200)
      #expect(answer.body.contains(#""scope":"\#(scope)""#))
    }
    #expect(try await provider.requests(to: "token") == 2)
  }

  @Test func `a token that expires is replaced before any call is refused`() async throws {
    let provider = try await OpenIDProvider(in: directory, ["--expires-in", "8"])
    let proxy = try await proxy(provider)
    // Four seconds lie between renewal and expiry: a busy machine does not make the difference.
    for _ in 0..<110 {
      #expect(try await proxy.get("/orders.read/whoami").status == 200)
      try await Task.sleep(for: .milliseconds(80))
    }
    #expect(try await provider.requests(to: "token") >= 2)
  }

  @Test func `a provider that says when to come back is not asked before, and callers are told`() async throws {
    let provider = try await OpenIDProvider(in: directory)
    try await provider.behave(#"{"status": 503, "headers": {"Retry-After": "30"}}"#)
    let proxy = try await proxy(provider)
    for _ in 0..<5 {
      let answer = try await proxy.get("/orders.read/whoami")
      #expect(answer.status == 503)
      #expect(answer.body.contains("identity-provider-unavailable"))
      #expect((10...151).contains(answer["retry-after"].flatMap { Int($0) } ?? 0))
    }
    #expect(try await provider.requests(to: "token") == 1)
  }

  @Test func `a scope that the provider refuses is a 502`() async throws {
    let provider = try await OpenIDProvider(in: directory)
    let proxy = try await proxy(provider, scopes: ["no.such.scope"])
    let answer = try await proxy.get("/no.such.scope/whoami")
    #expect(answer.status == 502)
    #expect(answer.body.contains("token-request-rejected"))
  }

  @Test(arguments: [
    #"{"status": 200, "headers": {"Content-Type": "text/html"}, "body": "<html>sorry-we-are-busy</html>"}"#,
    #"{"status": 200, "headers": {"Content-Type": "application/json"}, "body": "{\"sorry-we-are-busy\": 1}"}"#,
    #"{"status": 302, "headers": {"Location": "http://127.0.0.1:1/sorry-we-are-busy"}}"#,
  ])
  func `an answer that holds no token is the provider's failure, and stays between the two`(_ mood: String) async throws
  {
    let provider = try await OpenIDProvider(in: directory)
    try await provider.behave(mood)
    let proxy = try await proxy(provider)
    let answer = try await proxy.get("/orders.read/whoami")
    #expect(answer.status == 502 || answer.status == 503)
    #expect(answer["content-type"] == "application/problem+json")
    #expect(!answer.body.contains("busy"))
    try await provider.behave("{}")
    #expect(try await eventually(within: .seconds(60)) { try await proxy.get("/orders.read/whoami").status == 200 })
  }

  @Test func `a provider behind TLS is believed through the application's authority, and not without`() async throws {
    let authority = try await CertificateAuthority(in: directory)
    let provider = try await OpenIDProvider(
      in: directory, https: authority.issue("provider"), ["--ca-file", authority.file])
    let trusting = try await proxy(provider, more: "tls: {ca_file: \(authority.file)}")
    #expect(try await eventually { try await trusting.admin("/readyz").status == 200 })
    try await trusting.process.stop()
    let suspicious = try await proxy(provider)
    #expect(try await suspicious.get("/orders.read/whoami").status == 503)
    #expect(try await suspicious.admin("/readyz").status == 503)
    #expect(try await provider.requests(to: "token") == 1)
  }
}
