// The identity provider's answers, from a parsed request: grants and every refusal.

import Bytes
import FoundationEssentials
import Platform
import Testing
import Tokens

@testable import DemoProvider

@Suite("Identity provider") struct IdentityProviderTests {
  typealias Sample = DemoFixture.Sample

  struct Refusal: Sendable, CustomTestStringConvertible {
    var testDescription: String
    var request: DemoRequest
    var status: Int
    var error: String
    var code: Int
  }

  static let refusals: [Refusal] = [
    Refusal(
      testDescription: "unknown tenant",
      request: DemoFixture.tokenRequest(DemoFixture.form(scope: "api://orders/.default"), tenant: "nowhere.example"),
      status: 400, error: "invalid_request", code: 90002),
    Refusal(
      testDescription: "unknown tenant's metadata",
      request: DemoRequest(method: "GET", path: "/nobody/v2.0/.well-known/openid-configuration"),
      status: 400, error: "invalid_request", code: 90002),
    Refusal(
      testDescription: "no tenant in particular",
      request: DemoFixture.tokenRequest(DemoFixture.form(scope: "api://orders/.default"), tenant: "common"),
      status: 400, error: "invalid_request", code: 50059),
    Refusal(
      testDescription: "unknown path", request: DemoRequest(method: "GET", path: "/favicon.ico"),
      status: 404, error: "invalid_request", code: 90023),
    Refusal(
      testDescription: "GET", request: DemoRequest(method: "GET", path: "/\(Sample.tenant)/oauth2/v2.0/token"),
      status: 400, error: "invalid_request", code: 900561),
    Refusal(
      testDescription: "no form", request: DemoFixture.tokenRequest("%"),
      status: 400, error: "invalid_request", code: 9_002_313),
    Refusal(
      testDescription: "no grant type", request: DemoFixture.tokenRequest("client_id=\(Sample.portal)"),
      status: 400, error: "invalid_request", code: 900144),
    Refusal(
      testDescription: "unknown grant type",
      request: DemoFixture.tokenRequest("grant_type=magic&client_id=\(Sample.desk)"),
      status: 400, error: "invalid_request", code: 90023),
    Refusal(
      testDescription: "no client", request: DemoFixture.tokenRequest("grant_type=client_credentials&scope=x"),
      status: 400, error: "invalid_request", code: 900144),
    Refusal(
      testDescription: "no scope",
      request: DemoFixture.tokenRequest(DemoFixture.form(scope: "")),
      status: 400, error: "invalid_request", code: 900144),
    Refusal(
      testDescription: "unknown application",
      request: DemoFixture.tokenRequest(
        DemoFixture.form(client: "00000000-0000-0000-0000-000000000000", scope: "api://orders/.default")),
      status: 400, error: "unauthorized_client", code: 700016),
    Refusal(
      testDescription: "no secret",
      request: DemoFixture.tokenRequest(
        "grant_type=client_credentials&client_id=\(Sample.portal)&scope=api://orders/.default"),
      status: 401, error: "invalid_client", code: 7_000_218),
    Refusal(
      testDescription: "wrong secret",
      request: DemoFixture.tokenRequest(DemoFixture.form(secret: "other", scope: "api://orders/.default")),
      status: 401, error: "invalid_client", code: 7_000_215),
    Refusal(
      testDescription: "a scope of one permission",
      request: DemoFixture.tokenRequest(DemoFixture.form(scope: "api://orders/Orders.Read")),
      status: 400, error: "invalid_scope", code: 1_002_012),
    Refusal(
      testDescription: "two resources",
      request: DemoFixture.tokenRequest(DemoFixture.form(scope: "api://orders/.default+api://other/.default")),
      status: 400, error: "invalid_scope", code: 70011),
    Refusal(
      testDescription: "unknown resource",
      request: DemoFixture.tokenRequest(DemoFixture.form(scope: "api://other/.default")),
      status: 400, error: "invalid_resource", code: 500011),
    Refusal(
      testDescription: "Basic and body at once",
      request: DemoFixture.tokenRequest(
        DemoFixture.form(scope: "api://orders/.default"), fields: [("authorization", "Basic YTpi")]),
      status: 400, error: "invalid_request", code: 9_002_313),
  ]

  @Test(arguments: refusals) func `a scope that cannot be granted is refused with Entra's code`(row: Refusal) throws {
    let answer = try DemoFixture.provider().answer(row.request, now: DemoFixture.now)
    #expect(answer.status == row.status)
    #expect(answer.field("cache-control") == "no-store")
    let document = try DemoFixture.json(answer)
    #expect(document["error"] as? String == row.error)
    #expect(document["error_codes"] as? [Int] == [row.code])
    #expect(document["timestamp"] as? String == "2023-11-14 22:13:20Z")
    let description = try #require(document["error_description"] as? String)
    #expect(description.hasPrefix("AADSTS\(row.code): "))
    #expect(description.contains("Trace ID: \(try #require(document["trace_id"] as? String)) "))
    #expect(description.hasSuffix("Timestamp: 2023-11-14 22:13:20Z"))
    #expect(!answer.text.contains("s3cret"))
  }

  @Test(arguments: [Sample.tenant, "contoso.example", "Contoso.Example"])
  func `the metadata names the tenant's issuer and endpoints, whatever the tenant is called`(tenant: String) throws {
    let request = DemoRequest(method: "GET", path: "/\(tenant)/v2.0/.well-known/openid-configuration")
    let document = try DemoFixture.json(DemoFixture.provider().answer(request, now: DemoFixture.now))
    #expect(document["issuer"] as? String == DemoFixture.issuer)
    #expect(document["token_endpoint"] as? String == "https://localhost:8443/\(Sample.tenant)/oauth2/v2.0/token")
    #expect(document["jwks_uri"] as? String == "https://localhost:8443/\(Sample.tenant)/discovery/v2.0/keys")
  }

  @Test(arguments: ["common", "organizations"])
  func `for an authority without a tenant, the issuer is a pattern`(segment: String) throws {
    let request = DemoRequest(method: "GET", path: "/\(segment)/v2.0/.well-known/openid-configuration")
    let document = try DemoFixture.json(DemoFixture.provider().answer(request, now: DemoFixture.now))
    #expect(document["issuer"] as? String == "https://localhost:8443/{tenantid}/v2.0")
    #expect(
      document["device_authorization_endpoint"] as? String == "https://localhost:8443/\(segment)/oauth2/v2.0/devicecode"
    )
  }

  struct Grant: Sendable, CustomTestStringConvertible {
    var testDescription: String
    var request: DemoRequest
    var roles = ["Orders.Read", "Orders.Write"]
  }

  static let grants: [Grant] = [
    Grant(
      testDescription: "secret in the form",
      request: DemoFixture.tokenRequest(DemoFixture.form(scope: "api://orders/.default"))),
    Grant(
      testDescription: "secret by Basic, form-encoded first",
      request: DemoFixture.tokenRequest(
        "grant_type=client_credentials&scope=api%3A%2F%2Forders%2F.default",
        fields: [
          ("authorization", "Basic " + Data("\(Sample.portal):s3cret%2B%26%3D".utf8).base64EncodedString())
        ])),
    Grant(
      testDescription: "the tenant's domain, the client in capitals",
      request: DemoFixture.tokenRequest(
        DemoFixture.form(client: Sample.portal.uppercased(), scope: "api://orders/.default"), tenant: "contoso.example")
    ),
    Grant(
      testDescription: "the resource by its client identifier",
      request: DemoFixture.tokenRequest(DemoFixture.form(scope: "\(Sample.ordersAPI)/.default"))),
    Grant(
      testDescription: "the resource with a slash at its end",
      request: DemoFixture.tokenRequest(DemoFixture.form(scope: "api://orders//.default"))),
    Grant(
      testDescription: "an application without roles",
      request: DemoFixture.tokenRequest(DemoFixture.form(client: Sample.visitor, scope: "api://orders/.default")),
      roles: []),
  ]

  @Test(arguments: grants) func `an application that proves itself gets a token that its keys verify`(row: Grant) throws
  {
    let provider = try DemoFixture.provider()
    let answer = provider.answer(row.request, now: DemoFixture.now)
    #expect(answer.status == 200, "\(answer.text)")
    let reply = try DemoFixture.json(answer)
    #expect(reply["token_type"] as? String == "Bearer")
    #expect(reply["expires_in"] as? Int == 3600)
    let token = try SignedJWT(#require(reply["access_token"] as? String))
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
    #expect(claims.roles == row.roles)
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
