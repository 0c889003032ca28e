// APIs whose metadata lie, seen by `init --discover` and `check --live`: each is refused with a message that says so,
// and nothing is fetched from where it points.

import FoundationEssentials
import TestSupport
import Testing

@Suite(.keepsSecrets, .timeLimit(.minutes(3)))
struct DiscoveryTests {
  private let directory: TemporaryDirectory

  init() throws { directory = try TemporaryDirectory() }

  /// A web server whose `/mcp` is refused with a challenge; `answers` are the bodies at further paths. `HOST` in either
  /// is its origin.
  private func api(_ challenge: String, _ answers: [String: String]) async throws -> (
    process: ChildProcess, url: String
  ) {
    let script = """
      import http.server, json, sys
      challenge, answers = sys.argv[1], json.loads(sys.argv[2])
      class Handler(http.server.BaseHTTPRequestHandler):
          def do_POST(self):
              self.rfile.read(int(self.headers["Content-Length"]))
              body = b'{"access_token": "token-of-the-check", "token_type": "Bearer", "expires_in": 3600}'
              self.send_response(200)
              self.send_header("Content-Type", "application/json")
              self.send_header("Content-Length", str(len(body)))
              self.end_headers()
              self.wfile.write(body)
          def do_GET(self):
              host = "http://127.0.0.1:%d" % self.server.server_address[1]
              print("GET", self.path, self.headers.get("Authorization", "without"), flush=True)
              answer = answers.get(self.path)
              if answer is None:
                  self.send_response(401 if self.path.startswith("/mcp") else 404)
                  if self.path.startswith("/mcp"):
                      self.send_header("WWW-Authenticate", challenge.replace("HOST", host))
                  self.end_headers()
              elif answer.startswith("redirect "):
                  self.send_response(302)
                  self.send_header("Location", answer[9:].replace("HOST", host))
                  self.end_headers()
              else:
                  self.send_response(200)
                  self.end_headers()
                  self.wfile.write(b" " * int(answer[5:]) if answer.startswith("huge ") else
                                   answer.replace("HOST", host).encode())
          def log_message(self, *arguments): pass
      server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
      print("listening", server.server_address[1], flush=True)
      server.serve_forever()
      """
    let bodies = String(decoding: try JSONEncoder().encode(answers), as: UTF8.self)
    let process = try ChildProcess(
      "api-\(UUID().uuidString.prefix(4))", [pinnedPython(), "-c", script, challenge, bodies], in: directory)
    return (process, "http://127.0.0.1:\(try await announcedPort(of: process))")
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
    let (process, origin) = try await api("Bearer", [:])
    defer { withExtendedLifetime(process) {} }
    let result = try await run([binary(), "init", "--discover", origin + "/mcp"])
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
    let (process, origin) = try await api(attack.challenge, attack.answers)
    let result = try await run([binary(), "init", "--discover", origin + "/mcp"])
    #expect(result.status == 1)
    #expect(result.errors.contains(attack.words), "\(result.errors)")
    #expect(result.output.isEmpty)
    let check = try await run([
      binary(), "check", "-c", try configuration(origin, provider: origin + "/id"), "--live",
    ])
    #expect(check.status == 1)
    #expect(check.output.contains(attack.checked ?? attack.words), "\(check.output)")
    #expect(!process.output.contains("GET /other"))
  }

  @Test func `check reads what one bare request brings: the description, and the provider's in the order of MCP`()
    async throws
  {
    let provider =
      #"{"issuer":"HOST/id","token_endpoint":"HOST/token","grant_types_supported":["authorization_code"],"#
      + #""scopes_supported":["b"]}"#
    let (api, origin) = try await api(
      #"Bearer scope="a b", resource_metadata="HOST/meta""#,
      ["/meta": Self.document(), "/id/.well-known/openid-configuration": provider])
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
    let requests = api.output.split(separator: "\n").filter { $0.hasPrefix("GET") }
    #expect(requests.allSatisfy { $0.hasSuffix(" without") })
    #expect(requests.count { $0 == "GET /mcp without" } == 1)
    let asked = requests.filter { $0.contains("/id") }.map { $0.split(separator: " ")[1] }
    #expect(
      asked.suffix(3) == [
        "/.well-known/oauth-authorization-server/id", "/.well-known/openid-configuration/id",
        "/id/.well-known/openid-configuration",
      ], "\(asked)")
  }

  @Test func `check says that an API takes another provider's tokens, and asks no stranger`() async throws {
    let (api, origin) = try await api(
      "Bearer",
      ["/.well-known/oauth-protected-resource/mcp": Self.document(provider: "http://127.0.0.1:9/elsewhere")])
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
    #expect(!api.output.contains("elsewhere"))
  }
}
