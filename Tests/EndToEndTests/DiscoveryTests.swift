// APIs whose metadata lie, seen by `init --discover` and `check --live`: each is refused with a message that says so,
// and nothing is fetched from where it points.

import Platform
import TestSupport
import Testing

@Suite(.keepsSecrets, .timeLimit(.minutes(3)))
struct DiscoveryTests {
  private let directory: TemporaryDirectory

  init() throws { directory = try TemporaryDirectory() }

  /// A web server whose `/mcp` is refused with a challenge; `answers` are the bodies at further paths. `HOST` in either
  /// is its origin.
  private struct API {
    private let server: LoopServer
    /// The path of each GET, and the token that it brought, or `without`.
    let requests = Locked<[String]>([])
    var url: String { "http://127.0.0.1:\(server.port)" }

    init(_ challenge: String, _ answers: [String: String]) throws {
      server = try LoopServer { [requests] stream, _ in
        await stream.serve { head, path, _ in
          if head.hasPrefix("POST") { return Reply(#"{"access_token": "token-of-the-check", "expires_in": 3600}"#) }
          let host = "http://\(head.between("ost: ", "\r\n") ?? "")"
          requests.withLock { $0.append("\(path) \(head.between("uthorization: ", "\r\n") ?? "without")") }
          switch answers[path]?.replacing("HOST", with: host) {
          case nil where path.hasPrefix("/mcp"):
            let challenge = challenge.replacing("HOST", with: host)
            return Reply("", status: "401 Unauthorized", "WWW-Authenticate: \(challenge)\r\n")
          case nil: return Reply("", status: "404 Not Found")
          case let answer? where answer.hasPrefix("redirect "):
            return Reply("", status: "302 Found", "Location: \(answer.dropFirst(9))\r\n")
          case let answer? where answer.hasPrefix("huge "):
            return Reply(String(repeating: " ", count: Int(answer.dropFirst(5)) ?? 0))
          case let answer?: return Reply(answer)
          }
        }
      }
    }
  }

  /// Metadata that lie: what is wrong, the challenge, the bodies, what `init` says, and `check` if not the same.
  typealias Attack = (flaw: String, challenge: String, answers: [String: String], words: String, checked: String?)
  private static let bearer = #"Bearer resource_metadata="HOST/meta""#

  private static func document(_ resource: String = "HOST/mcp", provider: String = "HOST/id") -> String {
    #"{"resource":"\#(resource)","authorization_servers":["\#(provider)"],"scopes_supported":["a"]}"#
  }

  private static let attacks: [Attack] = [
    (
      "another resource", bearer, ["/meta": document("https://mcp.example/mcp")],
      "its metadata are about another resource, 'https://mcp.example/mcp', and are not used", nil
    ),
    (
      "another origin", #"Bearer resource_metadata="https://evil.example/meta""#, [:],
      "its metadata are at another origin, https://evil.example, and are not read", nil
    ),
    (
      "a private address", #"Bearer resource_metadata="http://169.254.169.254/meta""#, [:],
      "its metadata are at another origin, http://169.254.169.254, and are not read", nil
    ),
    (
      "a provider at a private address", bearer, ["/meta": document(provider: "http://10.0.0.1/id")],
      "http://10.0.0.1/id is not https, and is not read",
      "The API takes tokens of http://10.0.0.1/id, not of "
    ),
    (
      "a redirect", bearer, ["/meta": "redirect HOST/other", "/other": document()],
      "/meta redirects elsewhere, which is not followed", nil
    ),
    (
      "a huge document", bearer, ["/meta": "huge 65537"],
      "/meta is longer than 64 KiB, and is not read", nil
    ),
    (
      "an issuer that lies", bearer,
      [
        "/meta": document(),
        "/.well-known/oauth-authorization-server/id": #"{"issuer":"https://id.example","token_endpoint":"HOST/token"}"#,
      ],
      "/id' says that it is 'https://id.example', and is not used", nil
    ),
    (
      "a provider whose metadata redirect", bearer,
      ["/meta": document(), "/.well-known/oauth-authorization-server/id": "redirect HOST/other", "/other": "{}"],
      "/.well-known/oauth-authorization-server/id redirects elsewhere, which is not followed", nil
    ),
    (
      "a provider whose metadata are huge", bearer,
      ["/meta": document(), "/.well-known/openid-configuration/id": "huge 65537"],
      "/.well-known/openid-configuration/id is longer than 64 KiB, and is not read", nil
    ),
    (
      "a scope that is none", bearer,
      ["/meta": #"{"resource":"HOST/mcp","authorization_servers":["HOST"],"scopes_supported":["a\"b"]}"#],
      "its scopes_supported has something that is no scope", nil
    ),
  ]

  @Test func `an API without metadata is said to have none`() async throws {
    let api = try API("Bearer", [:])
    let result = try await run([binary(), "init", "--discover", api.url + "/mcp"])
    #expect(result.status == 1 && result.errors.contains("it publishes no metadata (RFC 9728)"), "\(result.errors)")
  }

  private func configuration(_ origin: String, provider: String) throws -> String {
    try directory.write(
      application(provider) + """
        listeners: [{address: "127.0.0.1:0"}]
        routes:
          - {name: tools, path: /tools/, upstream: "\(origin)/mcp/", application: contoso,
             token: {as: application, scopes: [a], resource: "\(origin)/mcp"}}

        """, to: "check.yaml")
  }

  @Test(arguments: attacks) func `metadata that lie are refused, with a message that says so`(_ attack: Attack)
    async throws
  {
    let api = try API(attack.challenge, attack.answers)
    let origin = api.url
    let result = try await run([binary(), "init", "--discover", origin + "/mcp"])
    #expect(result.status == 1)
    #expect(result.errors.contains(attack.words), "\(result.errors)")
    #expect(result.output.isEmpty)
    let check = try await run([
      binary(), "check", "-c", try configuration(origin, provider: origin + "/id"), "--live",
    ])
    #expect(check.status == 1)
    #expect(check.output.contains(attack.checked ?? attack.words), "\(check.output)")
    #expect(!api.requests.withLock { $0 }.contains { $0.hasPrefix("/other") })
  }

  @Test func `check reads what one bare request brings: the description, and the provider's in the order of MCP`()
    async throws
  {
    let provider =
      #"{"issuer":"HOST/id","token_endpoint":"HOST/token","grant_types_supported":["authorization_code"],"#
      + #""scopes_supported":["b"]}"#
    let api = try API(
      #"Bearer scope="a b", resource_metadata="HOST/meta""#,
      ["/meta": Self.document(), "/id/.well-known/openid-configuration": provider])
    let origin = api.url
    let check = try await run([
      binary(), "check", "-c", try configuration(origin, provider: origin + "/id"), "--live",
    ])
    #expect(check.status == 0, "\(check.output)")
    // The challenge's scopes count, not those of the metadata.
    for words in [
      "resource \(origin)/mcp, of \(origin)/id, scopes a b",
      "scopes_supported lists b, which the route has neither in scopes nor in scopes_on_challenge",
      "grant_types_supported does not list client_credentials",
      "scopes_supported of the provider does not list a of the API",
    ] { #expect(check.output.contains(words), "\(words) in \(check.output)") }
    let requests = api.requests.withLock { $0 }
    #expect(requests.allSatisfy { $0.hasSuffix(" without") })
    #expect(requests.count { $0 == "/mcp without" } == 1)
    let asked = requests.filter { $0.contains("/id") }.map { $0.split(separator: " ")[0] }
    #expect(
      asked.suffix(3) == [
        "/.well-known/oauth-authorization-server/id", "/.well-known/openid-configuration/id",
        "/id/.well-known/openid-configuration",
      ], "\(asked)")
  }

  @Test func `check says that an API takes another provider's tokens, and asks no stranger`() async throws {
    let api = try API(
      "Bearer",
      ["/.well-known/oauth-protected-resource/mcp": Self.document(provider: "http://127.0.0.1:9/elsewhere")])
    let origin = api.url
    let file = try directory.write(
      application(origin) + """
        listeners: [{address: "127.0.0.1:0"}]
        routes:
          - {name: tools, path: /tools/, upstream: "\(origin)/mcp/", application: contoso,
             token: {as: application, scopes: [a]}}

        """, to: "other.yaml")
    let check = try await run([binary(), "check", "-c", file, "--live"])
    #expect(check.status == 1)
    #expect(check.output.contains("The API takes tokens of http://127.0.0.1:9/elsewhere"), "\(check.output)")
    #expect(!api.requests.withLock { $0 }.contains { $0.contains("elsewhere") })
  }
}
