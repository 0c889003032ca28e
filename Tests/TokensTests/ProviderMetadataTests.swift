// What is believed of a metadata document.

import HTTP
import Testing
import Tokens

@Suite struct ProviderMetadataTests {
  private static let issuer = "https://id.example/realms/demo"

  private static func read(_ json: String, at authority: String = issuer) throws -> ProviderMetadata {
    try ProviderMetadata(json: Array(json.utf8), authority: Authority(authority))
  }

  private static func document(_ methods: String? = nil, endpoint: String = "https://token.example/t") -> String {
    let member = methods.map { ", \"token_endpoint_auth_methods_supported\": \($0)" } ?? ""
    return #"{"issuer": "\#(issuer)", "token_endpoint": "\#(endpoint)"\#(member), "x": [null, 1.5]}"#
  }

  @Test func `issuer and token endpoint are taken`() throws {
    let metadata = try Self.read(Self.document())
    #expect(metadata.issuer == Self.issuer)
    #expect(metadata.tokenEndpoint.description == "https://token.example/t")
    #expect(metadata.secretPlacement == .body)
  }

  @Test(
    arguments: [
      (nil, .body), ("[\"client_secret_basic\"]", .basic), ("[\"private_key_jwt\", \"client_secret_basic\"]", .basic),
      ("[\"client_secret_basic\", \"client_secret_post\"]", .body), ("[\"private_key_jwt\"]", .body), ("[]", .body),
      ("\"client_secret_basic\"", .body),
    ] as [(String?, ClientSecretPlacement)])
  func `Basic is used only where the body is not offered`(methods: String?, placement: ClientSecretPlacement) throws {
    #expect(try Self.read(Self.document(methods)).secretPlacement == placement)
  }

  @Test func `Entra always gets the secret in the body`() throws {
    let json = """
      {"issuer": "https://login.microsoftonline.com/t/v2.0", "token_endpoint_auth_methods_supported":
      ["client_secret_basic"], "token_endpoint": "https://login.microsoftonline.com/t/oauth2/v2.0/token"}
      """
    #expect(try Self.read(json, at: "https://login.microsoftonline.com/t").secretPlacement == .body)
  }

  @Test(
    arguments: [
      ("", .notJSON), ("[]", .notJSON), ("{\"issuer\": ", .notJSON), ("<html>", .notJSON),
      ("{}", .missing(member: "issuer")), ("{\"issuer\": 7}", .missing(member: "issuer")),
      ("{\"issuer\": \"https://evil.example\"}", .issuer(found: "https://evil.example")),
      ("{\"issuer\": \"\(issuer)\"}", .missing(member: "token_endpoint")),
      (document(endpoint: "http://token.example/t"), .endpoint(member: "token_endpoint")),
      (document(endpoint: "http://127.0.0.1/t"), .endpoint(member: "token_endpoint")),
      (document(endpoint: "/relative"), .endpoint(member: "token_endpoint")),
    ] as [(String, ProviderMetadataError)])
  func `a document that cannot be trusted is refused`(json: String, error: ProviderMetadataError) {
    #expect(throws: error) { try Self.read(json) }
  }

  @Test func `a provider on loopback may have plain endpoints on loopback only`() throws {
    func json(_ endpoint: String) -> String {
      #"{"issuer": "http://127.0.0.1:9400", "token_endpoint": "\#(endpoint)"}"#
    }
    #expect(try Self.read(json("http://127.0.0.1:9400/token"), at: "http://127.0.0.1:9400").tokenEndpoint.port == 9400)
    #expect(throws: ProviderMetadataError.endpoint(member: "token_endpoint")) {
      try Self.read(json("http://token.example/"), at: "http://127.0.0.1:9400")
    }
  }
}
