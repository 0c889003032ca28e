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
    #expect(metadata.secretPlacements == [.basic, .body])
  }

  @Test(
    arguments: [
      (nil, [.basic, .body]), ("[]", [.basic, .body]), ("[\"private_key_jwt\"]", [.basic, .body]),
      ("\"client_secret_post\"", [.basic, .body]), ("[\"client_secret_basic\"]", [.basic]),
      ("[\"private_key_jwt\", \"client_secret_basic\"]", [.basic]), ("[\"client_secret_post\", \"none\"]", [.body]),
      ("[\"client_secret_basic\", \"client_secret_post\"]", [.basic, .body]),
    ] as [(String?, [ClientSecretPlacement])])
  func `a listed placement is used, and Basic first if none is listed`(
    methods: String?, placements: [ClientSecretPlacement]
  ) throws {
    #expect(try Self.read(Self.document(methods)).secretPlacements == placements)
  }

  @Test(
    arguments: [
      (nil, nil, [.basic, .body], [.basic, .body]), (nil, .body, [.basic, .body], [.body, .basic]),
      (nil, .basic, [.body, .basic], [.basic, .body]), (nil, .basic, [.body], [.body]),
      (.body, .basic, [.basic], [.body]), (.basic, nil, [.body], [.basic]),
    ] as [(ClientSecretPlacement?, ClientSecretPlacement?, [ClientSecretPlacement], [ClientSecretPlacement])])
  func `an operator's choice is the only placement, and the one that was accepted comes first`(
    configured: ClientSecretPlacement?, accepted: ClientSecretPlacement?, offered: [ClientSecretPlacement],
    order: [ClientSecretPlacement]
  ) {
    #expect(ClientSecretPlacement.order(configured: configured, accepted: accepted, offered: offered) == order)
  }

  @Test func `Microsoft's hosts always get the secret in the body, and never in the field`() throws {
    let json = """
      {"issuer": "https://login.microsoftonline.com/t/v2.0", "token_endpoint_auth_methods_supported":
      ["client_secret_basic"], "token_endpoint": "https://login.microsoftonline.com/t/oauth2/v2.0/token"}
      """
    #expect(try Self.read(json, at: "https://login.microsoftonline.com/t").secretPlacements == [.body])
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
