// The identity provider's answers, from a parsed request: grants and every refusal.

import Bytes
import FoundationEssentials
import Platform
import Testing
import Tokens

@testable import DemoProvider

@Suite("Identity provider") struct IdentityProviderTests {
  private typealias Fixture = DemoFixture
  typealias Sample = DemoFixture.Sample

  static let refusals: [(String, DemoRequest, status: Int, error: String, code: Int)] = [
    ("unknown tenant", Fixture.tokenRequest(tenant: "nowhere.example"), 400, "invalid_request", 90002),
    (
      "unknown tenant's metadata", DemoRequest(method: "GET", path: "/nobody/v2.0/.well-known/openid-configuration"),
      400, "invalid_request", 90002
    ),
    ("no tenant in particular", Fixture.tokenRequest(tenant: "common"), 400, "invalid_request", 50059),
    ("unknown path", DemoRequest(method: "GET", path: "/favicon.ico"), 404, "invalid_request", 90023),
    ("GET", DemoRequest(method: "GET", path: "/\(Sample.tenant)/oauth2/v2.0/token"), 400, "invalid_request", 900561),
    ("no form", Fixture.tokenRequest("%"), 400, "invalid_request", 9_002_313),
    ("no grant type", Fixture.tokenRequest("client_id=\(Sample.portal)"), 400, "invalid_request", 900144),
    (
      "unknown grant type", Fixture.tokenRequest("grant_type=magic&client_id=\(Sample.desk)"), 400, "invalid_request",
      90023
    ),
    ("no client", Fixture.tokenRequest("grant_type=client_credentials&scope=x"), 400, "invalid_request", 900144),
    ("no scope", Fixture.tokenRequest(Fixture.form(scope: "")), 400, "invalid_request", 900144),
    (
      "unknown application", Fixture.tokenRequest(Fixture.form(client: "00000000-0000-0000-0000-000000000000")), 400,
      "unauthorized_client", 700016
    ),
    (
      "no secret",
      Fixture.tokenRequest("grant_type=client_credentials&client_id=\(Sample.portal)&scope=api://orders/.default"), 401,
      "invalid_client", 7_000_218
    ),
    ("wrong secret", Fixture.tokenRequest(Fixture.form(secret: "other")), 401, "invalid_client", 7_000_215),
    (
      "a scope of one permission", Fixture.tokenRequest(Fixture.form(scope: "api://orders/Orders.Read")), 400,
      "invalid_scope", 1_002_012
    ),
    (
      "two resources", Fixture.tokenRequest(Fixture.form(scope: "api://orders/.default+api://other/.default")), 400,
      "invalid_scope", 70011
    ),
    (
      "unknown resource", Fixture.tokenRequest(Fixture.form(scope: "api://other/.default")), 400, "invalid_resource",
      500011
    ),
    (
      "Basic and body at once", Fixture.tokenRequest(fields: [("authorization", "Basic YTpi")]), 400, "invalid_request",
      9_002_313
    ),
  ]

  @Test(arguments: refusals) func `a scope that cannot be granted is refused with Entra's code`(
    name: String, request: DemoRequest, status: Int, error: String, code: Int
  ) throws {
    let answer = try DemoFixture.provider().answer(request, now: DemoFixture.now)
    #expect(answer.status == status)
    #expect(answer.field("cache-control") == "no-store")
    let document = try DemoFixture.json(answer)
    #expect(document["error"]?.text == error)
    #expect(document["error_codes"] == .array([.integer(Int64(code))]))
    #expect(document["timestamp"]?.text == "2023-11-14 22:13:20Z")
    let description = try #require(document["error_description"]?.text)
    #expect(description.hasPrefix("AADSTS\(code): "))
    #expect(description.contains("Trace ID: \(try #require(document["trace_id"]?.text)) "))
    #expect(description.hasSuffix("Timestamp: 2023-11-14 22:13:20Z"))
    #expect(!answer.text.contains("s3cret"))
  }

  @Test(arguments: [Sample.tenant, "contoso.example", "Contoso.Example"])
  func `the metadata names the tenant's issuer and endpoints, whatever the tenant is called`(tenant: String) throws {
    let request = DemoRequest(method: "GET", path: "/\(tenant)/v2.0/.well-known/openid-configuration")
    let document = try DemoFixture.json(DemoFixture.provider().answer(request, now: DemoFixture.now))
    #expect(document["issuer"]?.text == DemoFixture.issuer)
    #expect(document["token_endpoint"]?.text == "https://localhost:8443/\(Sample.tenant)/oauth2/v2.0/token")
    #expect(document["jwks_uri"]?.text == "https://localhost:8443/\(Sample.tenant)/discovery/v2.0/keys")
  }

  @Test(arguments: ["common", "organizations"])
  func `for an authority without a tenant, the issuer is a pattern`(segment: String) throws {
    let request = DemoRequest(method: "GET", path: "/\(segment)/v2.0/.well-known/openid-configuration")
    let document = try DemoFixture.json(DemoFixture.provider().answer(request, now: DemoFixture.now))
    #expect(document["issuer"]?.text == "https://localhost:8443/{tenantid}/v2.0")
    #expect(
      document["device_authorization_endpoint"]?.text == "https://localhost:8443/\(segment)/oauth2/v2.0/devicecode"
    )
  }

  private static let roles = ["Orders.Read", "Orders.Write"]

  static let grants: [(String, DemoRequest, roles: [String])] = [
    ("secret in the form", Fixture.tokenRequest(), roles),
    (
      "secret by Basic, form-encoded first",
      Fixture.tokenRequest(
        "grant_type=client_credentials&scope=api%3A%2F%2Forders%2F.default",
        fields: [("authorization", "Basic " + Data("\(Sample.portal):s3cret%2B%26%3D".utf8).base64EncodedString())]),
      roles
    ),
    (
      "the tenant's domain, the client in capitals",
      Fixture.tokenRequest(Fixture.form(client: Sample.portal.uppercased()), tenant: "contoso.example"), roles
    ),
    (
      "the resource by its client identifier",
      Fixture.tokenRequest(Fixture.form(scope: "\(Sample.ordersAPI)/.default")), roles
    ),
    (
      "the resource with a slash at its end", Fixture.tokenRequest(Fixture.form(scope: "api://orders//.default")), roles
    ),
    ("an application without roles", Fixture.tokenRequest(Fixture.form(client: Sample.visitor)), []),
  ]

  @Test(arguments: grants) func `an application that proves itself gets a token that its keys verify`(
    name: String, request: DemoRequest, roles: [String]
  ) throws {
    let provider = try DemoFixture.provider()
    let answer = provider.answer(request, now: DemoFixture.now)
    #expect(answer.status == 200, "\(answer.text)")
    let reply = try DemoFixture.json(answer)
    #expect(reply["token_type"]?.text == "Bearer")
    #expect(reply["expires_in"]?.seconds == 3600)
    let token = try SignedJWT(#require(reply["access_token"]?.text))
    let published = provider.answer(
      DemoRequest(method: "GET", path: "/\(Sample.tenant)/discovery/v2.0/keys"), now: DemoFixture.now)
    let keys = try #require(JWKSet(json: Array(published.text.utf8)))
    let key = try #require(keys.candidates(for: token.header).first)
    let verifier = try RSAPublicKey(modulus: key.modulus, exponent: key.exponent)
    #expect(try verifier.verifies(token.signature.span, of: token.signingInput.span, .rs256))
    let claims = token.claims
    #expect(claims.issuer == DemoFixture.issuer)
    #expect(claims.audiences == [Sample.ordersAPI])
    #expect(claims.tenant == Sample.tenant)
    #expect(claims.roles == roles)
    #expect(claims.version == "2.0")
    #expect(claims.identityType == "app")
    #expect(claims.subject == claims.object)
    #expect(claims.notBefore == DemoFixture.now)
    #expect(claims.expiresAt == DemoFixture.now + 3600)
    #expect(!answer.note.contains("ey"))
  }

  @Test func `every token has an identifier of its own`() throws {
    let first = try SignedJWT(DemoFixture.token()).claims.tokenIdentifier
    #expect(try first != SignedJWT(DemoFixture.token()).claims.tokenIdentifier)
  }
}
