import Bytes
import HTTP
import Testing

@testable import Tokens

@Suite struct ProtectedResourceTests {
  private static func fault(_ body: () throws -> Void) -> DiscoveryFault? {
    do {
      try body()
      return nil
    } catch {
      return error as? DiscoveryFault
    }
  }

  private static let wellKnown = "https://mcp.example/.well-known/oauth-protected-resource"

  @Test(
    arguments: [
      ("https://mcp.example/", nil, [wellKnown], nil),
      ("https://mcp.example/mcp/", nil, [wellKnown + "/mcp", wellKnown], nil),
      ("https://mcp.example/mcp?x=1", nil, [wellKnown + "/mcp", wellKnown], nil),
      ("https://mcp.example/mcp", "https://mcp.example/x", ["https://mcp.example/x"], nil),
      ("https://mcp.example/mcp", "https://MCP.example:443/x", ["https://mcp.example/x"], nil),
      ("https://mcp.example/mcp", "https://evil.example/x", [], .otherOrigin("https://evil.example")),
      ("https://mcp.example/mcp", "http://mcp.example/x", [], .otherOrigin("http://mcp.example")),
      ("https://mcp.example/mcp", "https://mcp.example:8443/x", [], .otherOrigin("https://mcp.example:8443")),
      ("https://mcp.example/mcp", "https://169.254.169.254/x", [], .otherOrigin("https://169.254.169.254")),
      ("https://mcp.example/mcp", "/relative", [], .address("/relative")),
      ("https://mcp.example/mcp", "https://a@mcp.example/x", [], .address("https://a@mcp.example/x")),
      ("http://mcp.example/mcp", nil, [], .plaintext("http://mcp.example")),
      (
        "http://127.0.0.1:8000/mcp", nil,
        [
          "http://127.0.0.1:8000/.well-known/oauth-protected-resource/mcp",
          "http://127.0.0.1:8000/.well-known/oauth-protected-resource",
        ], nil
      ),
    ] as [(String, String?, [String], DiscoveryFault?)])
  func `an API's metadata are at its own origin`(
    api: String, challenge: String?, places: [String], fault: DiscoveryFault?
  ) throws {
    let url = try HTTPURL(api)
    var found: [String] = []
    #expect(
      Self.fault { found = try ProtectedResource.places(of: url, challenge: challenge).map(\.description) } == fault)
    #expect(found == places)
  }

  private static func document(_ resource: String, _ rest: String = #","authorization_servers":["https://id.example"]"#)
    -> String
  { #"{"resource":"\#(resource)"\#(rest)}"# }

  @Test(
    arguments: [
      (document("https://mcp.example/mcp"), nil), (document("https://mcp.example/mcp/"), nil),
      (document("https://mcp.example"), nil), (document("https://mcp.example/"), nil),
      (document("https://evil.example/mcp"), .otherResource("https://evil.example/mcp")),
      (document("http://mcp.example/mcp"), .otherResource("http://mcp.example/mcp")),
      (document("https://mcp.example/mc"), .otherResource("https://mcp.example/mc")),
      (document("https://mcp.example/mcp/deeper"), .otherResource("https://mcp.example/mcp/deeper")),
      (document("mcp"), .otherResource("mcp")), ("{}", .notJSON(wellKnown)), ("<html>", .notJSON(wellKnown)),
      (document("https://mcp.example/mcp", ""), .withoutProvider),
      (document("https://mcp.example/mcp", #","authorization_servers":[]"#), .withoutProvider),
      (
        document(
          "https://mcp.example/mcp", #","authorization_servers":["https://id.example"],"scopes_supported":["a b"]"#),
        .scopes
      ),
    ] as [(String, DiscoveryFault?)])
  func `metadata are about the API that was asked`(json: String, fault: DiscoveryFault?) throws {
    let (api, place) = (try HTTPURL("https://mcp.example/mcp/"), try HTTPURL(Self.wellKnown))
    let found = Self.fault { _ = try ProtectedResource(json: Array(json.utf8), of: api, at: place) }
    #expect(found == fault)
  }

  @Test(
    arguments: [
      (
        "https://id.example/realms/a",
        [
          "https://id.example/.well-known/oauth-authorization-server/realms/a",
          "https://id.example/.well-known/openid-configuration/realms/a",
          "https://id.example/realms/a/.well-known/openid-configuration",
        ], nil
      ),
      (
        "https://id.example",
        [
          "https://id.example/.well-known/oauth-authorization-server",
          "https://id.example/.well-known/openid-configuration",
        ], nil
      ),
      ("http://id.example", [], .plaintext("http://id.example")), ("id.example", [], .address("id.example")),
    ] as [(String, [String], DiscoveryFault?)])
  func `a provider's metadata are looked for in MCP's order`(issuer: String, places: [String], fault: DiscoveryFault?) {
    var found: [String] = []
    #expect(Self.fault { found = try ProtectedResource.places(ofProvider: issuer).map(\.description) } == fault)
    #expect(found == places)
  }

  @Test(
    arguments: [
      ("https://id.example", nil),
      ("https://id.example/", .otherIssuer(asked: "https://id.example", found: "https://id.example/")),
      ("https://evil.example", .otherIssuer(asked: "https://id.example", found: "https://evil.example")),
    ] as [(String, DiscoveryFault?)])
  func `a provider says exactly the name by which it was asked`(named: String, fault: DiscoveryFault?) throws {
    let json = #"{"issuer":"\#(named)","token_endpoint":"https://id.example/token"}"#
    let place = try HTTPURL("https://id.example/x")
    let found = Self.fault {
      _ = try ProtectedResource.provider("https://id.example", json: Array(json.utf8), at: place)
    }
    #expect(found == fault)
  }
}
