import Bytes
import HTTP
import Testing
import Tokens

@Suite struct AzureRegionTests {
  // msal-python's table (tests/test_region.py).
  @Test func `a name is one label of a host`() {
    let longest = String(repeating: "a", count: 63)
    for name in ["westus2", "a", "usgovvirginia", "a-b", longest] { #expect(AzureRegion(name)?.name == name) }
    for name in ["", "WestUS2", "a.b", "-x", "x-", "1a", longest + "a", "a/b", "a b", "a@b", "westus2\n", "\u{E9}"] {
      #expect(AzureRegion(name) == nil, "\(name)")
    }
  }

  @Test(arguments: [
    (
      "https://login.microsoftonline.com/t/oauth2/v2.0/token", "https://westus2.login.microsoft.com/t/oauth2/v2.0/token"
    ),
    ("https://login.windows.net/t/token", "https://westus2.login.microsoft.com/t/token"),
    ("https://login.microsoftonline.us/t/token", "https://westus2.login.microsoftonline.us/t/token"),
    ("https://westus2.login.microsoft.com/t/token", nil), ("https://id.example/token", nil),
    ("https://contoso.ciamlogin.com/t/token", nil),
  ])
  func `an endpoint has its regional host`(global: String, regional: String?) throws {
    let region = try #require(AzureRegion("westus2"))
    #expect(try HTTPURL(global).regional(region)?.description == regional)
  }

  @Test(arguments: [("westus2", "westus2"), ("West US 2", "westus2"), ("a.b", nil), ("", nil), (nil, nil)])
  func `the environment may name the region`(variable: String?, name: String?) {
    let expected = name.flatMap { AzureRegion($0) }.map { AzureRegionChoice.named($0) } ?? .discovered
    #expect(AzureRegionChoice.automatic(environment: variable.map { ["REGION_NAME": $0] } ?? [:]) == expected)
  }

  @Test func `the application's own requests alone go to the region`() throws {
    let authority = "https://login.microsoftonline.com/11111111-aaaa-4aaa-8aaa-111111111111"
    let json = #"{"issuer": "\#(authority)/v2.0", "token_endpoint": "\#(authority)/oauth2/v2.0/token"}"#
    var request = TokenRequest(
      ClientAuthentication(
        "c", at: try ProviderMetadata(json: Array(json.utf8), authority: Authority(authority)), .secret(Secret("s"))),
      grant: .clientCredentials, scopes: .none, claims: nil)
    request.region = AzureRegion("westeurope")
    #expect(request.endpoint.host == "westeurope.login.microsoft.com")
    let others: [TokenGrant] = [
      .refreshToken(Secret("r")), .jwtBearer(Secret("a"), isOnBehalfOf: true), .deviceCode(Secret("d")),
    ]
    for grant in others {
      request.grant = grant
      #expect(request.endpoint.host == "login.microsoftonline.com")
    }
  }
}
