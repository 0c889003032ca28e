import Bytes
import HTTP
import Testing
import Tokens

@testable import Routing

@Suite struct ResourceMetadataTests {
  @Test(arguments: [
    ("/.well-known/oauth-protected-resource", ""), ("/.well-known/oauth-protected-resource/", "/"),
    ("/.well-known/oauth-protected-resource/mcp", "/mcp"), ("/.WELL-KNOWN/oauth-protected-resource/a/b/", "/a/b/"),
    ("/.well-known/oauth-protected-resources", nil), ("/.well-known/oauth-protected-resource.json", nil),
    ("/.well-known", nil), ("/", nil), ("/mcp/.well-known/oauth-protected-resource", nil),
  ])
  func `the path of metadata names the path of the resource`(path: String, expected: String?) {
    let bytes = Array(path.utf8)
    let range = CallerRules.Bearer.describedResource(bytes.span)
    #expect(range.map { String(decoding: bytes[$0.indices], as: UTF8.self) } == expected)
  }

  private static func rule(_ scopes: [String], _ url: String?) throws -> CallerRules.Bearer {
    CallerRules.Bearer(
      authority: try Authority("https://id.example/realms/a"), audiences: ["a"], scopes: try ScopeSet(scopes),
      publicURL: try url.map { url in try HTTPURL(url) })
  }

  @Test(
    arguments: [
      ([], nil, "/mcp/", ""), (["b", "a"], nil, "/mcp/", #", scope="a b""#),
      (
        ["a"], "https://mcp.example:8443/", "/mcp/",
        #", scope="a", resource_metadata="https://mcp.example:8443/.well-known/oauth-protected-resource/mcp""#
      ),
      ([], "https://a.example", "/", #", resource_metadata="https://a.example/.well-known/oauth-protected-resource""#),
      ([], "https://a.example", nil, #", resource_metadata="https://a.example/.well-known/oauth-protected-resource""#),
    ] as [([String], String?, String?, String)])
  func `a challenge names the scopes, and the metadata of the route`(
    scopes: [String], url: String?, path: String?, expected: String
  ) throws {
    #expect(try Self.rule(scopes, url).challengeParameters(path: path.map { Array($0.utf8) }) == expected)
  }

  @Test func `metadata name the resource, the issuer in its own spelling, and the scopes`() throws {
    let url = try HTTPURL("https://mcp.example")
    let metadata = try Self.rule(["b", "a"], "https://mcp.example").metadata(
      of: "/mcp", at: url, issuer: "https://id.example/realms/a/", name: "tools \"x\"")
    #expect(
      String(decoding: metadata, as: UTF8.self)
        == #"{"authorization_servers":["https://id.example/realms/a/"],"bearer_methods_supported":["header"],"#
        + #""resource":"https://mcp.example/mcp","resource_name":"tools \"x\"","scopes_supported":["a","b"]}"#)
    let bare = try Self.rule([], "https://mcp.example").metadata(of: "", at: url, issuer: "https://i", name: nil)
    #expect(
      String(decoding: bare, as: UTF8.self)
        == #"{"authorization_servers":["https://i"],"bearer_methods_supported":["header"],"#
        + #""resource":"https://mcp.example"}"#)
  }
}
