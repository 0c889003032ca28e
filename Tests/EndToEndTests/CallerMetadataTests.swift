// The description of a listener for its callers' clients (RFC 9728), as curl sees it. McpTests has the clients.

import Bytes
import Platform
import TestSupport
import Testing
import Tokens

@Suite(.keepsSecrets, .timeLimit(.minutes(2)))
struct CallerMetadataTests {
  private static let metadata = "/.well-known/oauth-protected-resource"
  private let upstream: PythonPeer
  private let site: IssuerSite
  private let proxy: ProxyUnderTest

  init() async throws {
    upstream = try await PythonPeer("scripted_upstream.py")
    site = try await IssuerSite()
    proxy = try await ProxyUnderTest(
      """
      listeners:
        - address: "127.0.0.1:PORT"
          hosts: [mcp.example]
          callers:
            header: {name: X-Key, value: 0123456789abcdef}
            bearer:
              authority: "\(site.issuer.name)"
              audiences: ["https://mcp.example/tools"]
              scopes: [tools.call, tools.list]
              public_url: https://mcp.example
      routes:
        - {name: tools, path: /tools/, upstream: "http://127.0.0.1:\(upstream.port)/", token: none}
        - {name: other, path: /other/, host: other.example, upstream: "http://127.0.0.1:\(upstream.port)/", token: none}
      """)
  }

  private func token(scope: String) throws -> String {
    try site.issuer.signed(
      header: ["typ": .string("at+jwt")],
      claims: [
        "aud": .string("https://mcp.example/tools"), "sub": .string("ann"), "client_id": .string("tool"),
        "scope": .string(scope),
      ], now: .now)
  }

  private func document(_ resource: String, name: String = "") -> String {
    #"{"authorization_servers":["\#(site.issuer.name)"],"bearer_methods_supported":["header"],"resource":"\#(resource)""#
      + "\(name),\"scopes_supported\":[\"tools.call\",\"tools.list\"]}"
  }

  @Test func `clients find the issuer and the scopes without proof, and by the configured name alone`() async throws {
    let name = #","resource_name":"tools""#
    for (path, resource, name) in [
      ("", "https://mcp.example", ""), ("/tools", "https://mcp.example/tools", name),
      ("/tools/", "https://mcp.example/tools/", name),
    ] {
      for host in ["mcp.example", "localhost"] {
        let answer = try await proxy.get(
          Self.metadata + path,
          ["-H", "Host: \(host)", "-H", "X-Forwarded-Host: evil.example", "-H", "Origin: https://site.example"])
        #expect(answer.status == 200)
        #expect(answer.body == document(resource, name: name))
        #expect(answer["content-type"] == "application/json")
        #expect(answer["access-control-allow-origin"] == "*")
        #expect(answer["cache-control"] == "public, max-age=3600")
      }
    }
    for path in ["/other", "/tools/deeper", "/toolsx", "/nothing", "/"] {
      #expect(try await proxy.get(Self.metadata + path).status == 404)
    }
    #expect(try await proxy.get(Self.metadata, ["-H", "Host: evil.example"]).status == 421)
    let head = try await proxy.get(Self.metadata, ["--head"])
    #expect(head.status == 200)
    let preflight = try await proxy.get(
      Self.metadata + "/tools",
      [
        "-X", "OPTIONS", "-H", "Origin: https://site.example", "-H", "Access-Control-Request-Method: GET", "-H",
        "Access-Control-Request-Headers: mcp-protocol-version",
      ])
    #expect(preflight.status == 204)
    #expect(preflight["access-control-allow-origin"] == "*")
    #expect(preflight["access-control-allow-headers"] == "*")
    #expect(upstream.requests.isEmpty)
  }

  @Test func `a refused caller is told where a token is to be had, and with which scopes`() async throws {
    let place =
      #", scope="tools.call tools.list", "#
      + #"resource_metadata="https://mcp.example/.well-known/oauth-protected-resource/tools""#
    let key = ["-H", "X-Key: 0123456789abcdef"]
    for (token, status, error) in [
      (nil, 401, ""), ("nonsense", 401, #", error="invalid_token""#),
      (try token(scope: "tools.list"), 403, #", error="insufficient_scope""#),
      (try token(scope: "tools.list tools.call more"), 200, nil),
    ] as [(String?, Int, String?)] {
      let answer = try await proxy.get(
        "/tools/seen", key + (token.map { ["-H", "Authorization: Bearer \($0)"] } ?? []))
      #expect(answer.status == status)
      #expect(answer["www-authenticate"] == error.map { #"Bearer realm="bearer-proxy""# + $0 + place })
      #expect(answer["access-control-allow-origin"] == nil)
    }
    // Its own preflight rule is for the metadata alone, and so is its freedom from proof.
    #expect(try await proxy.get("/tools/seen", ["-X", "OPTIONS"]).status == 403)
    #expect(try await proxy.get(Self.metadata, key + ["-d", "x"]).status == 404)
    #expect(upstream.requests.count == 1)
  }

  @Test func `without the issuer's metadata there is no description, and a reader costs it few requests`() async throws
  {
    try await succeed(["mv", site.documents.file(".well-known"), site.documents.file("away")])
    let began = ContinuousClock.now
    for _ in 0..<20 {
      let answer = try await proxy.get(Self.metadata)
      #expect(answer.status == 503)
      #expect(answer["retry-after"] == "5")
    }
    // Once in five seconds.
    let limit = Int((ContinuousClock.now - began) / .seconds(5)) + 1
    let asked = site.server.errors.ranges(of: "GET /.well-known/openid-configuration").count
    #expect((1...limit).contains(asked))
  }
}
