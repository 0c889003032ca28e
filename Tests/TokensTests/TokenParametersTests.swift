import Bytes
import HTTP
import Testing

@testable import Tokens

@Suite struct TokenParametersTests {
  private static func metadata() throws -> ProviderMetadata {
    try ProviderMetadata(
      json: Array(
        (#"{"issuer": "https://id.example", "token_endpoint": "https://id.example/token", "#
          + #""device_authorization_endpoint": "https://id.example/device"}"#).utf8),
      authority: Authority("https://id.example"))
  }

  @Test func `they are in every request, in the order of their names, encoded`() throws {
    let parameters = try TokenParameters(
      audiences: ["https://api.example/a b"], resources: ["urn:b", "urn:api"],
      additional: ["organization": "org_1", "Zone": "ä&="])
    let expected =
      "Zone=%C3%A4%26%3D&audience=https%3A%2F%2Fapi.example%2Fa%20b&organization=org_1"
      + "&resource=urn%3Ab&resource=urn%3Aapi"
    let request = TokenRequest(
      ClientAuthentication("c", at: try Self.metadata(), .secret(Secret("s")), placement: .body),
      grant: .clientCredentials, scopes: .none, claims: nil, parameters: parameters)
    #expect(
      String(decoding: request.body, as: UTF8.self)
        == "grant_type=client_credentials&client_id=c&\(expected)&client_secret=s")
    let device = try #require(
      ProviderForm(
        deviceCodesFor: ClientAuthentication("c", at: try Self.metadata(), nil), scopes: .none, claims: nil,
        parameters: parameters))
    #expect(String(decoding: device.body, as: UTF8.self).hasSuffix("&\(expected)"))
    var address = AuthorizationRequest(
      endpoint: try HTTPURL("https://id.example/authorize"), clientID: "c", redirectURI: "http://localhost",
      terms: SignInTerms(scopes: .none),
      session: AuthorizationSession(random: { [UInt8](repeating: 1, count: $0) }, digest: { $0 }))
    address.terms.parameters = parameters
    #expect(address.url.hasSuffix("&\(expected)"))
  }

  @Test(arguments: [
    ("https://API.example/", "https://api.example"), ("https://api.example", "https://api.example"),
    ("HTTPS://api.example:443/Tools/", "https://api.example/Tools"),
    ("https://api.example:8443/a/b", "https://api.example:8443/a/b"), ("urn:Api:/", "urn:Api:/"),
    ("api://App/", "api://App/"), ("http://127.0.0.1:80/x?y=Z", "http://127.0.0.1/x?y=Z"),
    ("https://api.example/#x", "https://api.example/#x"),
  ])
  func `a resource has one spelling`(written: String, expected: String) {
    #expect(TokenParameters.normalResource(written) == expected)
  }

  @Test func `they are part of the key`() throws {
    func key(_ parameters: TokenParameters) throws -> AcquisitionKey {
      AcquisitionKey(
        authority: try Authority("https://id.example"), clientID: "c", credential: CredentialVersion(0),
        subject: .application, scopes: .none, parameters: parameters, claims: nil)
    }
    let one = try TokenParameters(audiences: ["a"])
    #expect(try key(one) == key(TokenParameters(audiences: ["a"])) && key(one) != key(.none))
    #expect(try key(one) != key(TokenParameters(resources: ["urn:a"])))
  }

  @Test func `an audience takes the place of theirs, and the rest stays`() throws {
    let own = try TokenParameters(audiences: ["a", "b"], resources: ["urn:c"], additional: ["organization": "d"])
    let other = try TokenParameters(
      audiences: ["https://id.example"], resources: ["urn:c"], additional: ["organization": "d"])
    #expect(own.forAudience("https://id.example") == other)
  }

  static let refused: [(String?, String?, [String: String], TokenParameterError)] =
    ["grant_type", "client_id", "Client_Secret", "username", "subject_token", "scope", "audience", "fmi_path", "nonce"]
    .map { (nil, nil, [$0: "x"], .reserved($0)) } + [
      (nil, nil, ["a b": "x"], .name("a b")), (nil, nil, ["": "x"], .name("")), (nil, nil, ["a": ""], .value("a")),
      (nil, nil, ["a": "b\n"], .value("a")), (nil, nil, ["a": String(repeating: "x", count: 2049)], .value("a")),
      ("a\u{7F}", nil, [:], .value("audience")), (nil, "/relative", [:], .resource), (nil, "urn:", [:], .resource),
      (nil, "https://a.example/#x", [:], .resource), (nil, "1a:b", [:], .resource), (nil, "a b:c", [:], .resource),
    ]

  @Test(arguments: refused)
  func `a parameter that would change grant, application or person is refused, and so is one without text`(
    audience: String?, resource: String?, additional: [String: String], expected: TokenParameterError
  ) {
    #expect(throws: expected) {
      _ = try TokenParameters(
        audiences: [audience].compactMap(\.self), resources: [resource].compactMap(\.self), additional: additional)
    }
  }
}
