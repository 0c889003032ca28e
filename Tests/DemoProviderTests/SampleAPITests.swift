// The callers that the sample API admits, and its answers to the others.

import Bytes
import HTTPServer
import Platform
import Testing
import Tokens

@testable import DemoProvider

@Suite("Sample API") struct SampleAPITests {
  typealias Sample = DemoFixture.Sample

  /// A token signed with the issuer's key, or another, whose claims were changed.
  static func token(
    key: RSAKey? = nil, identifier: String? = nil, algorithm: JWTAlgorithm = .rs256,
    _ change: (inout JWTClaims) -> Void = { _ in }
  ) throws -> String {
    let good = try SignedJWT(DemoFixture.token())
    var claims = good.claims
    change(&claims)
    let header = JSONValue(["alg": algorithm.rawValue, "kid": identifier ?? good.header.kid, "typ": "JWT"])
    let input = SignedJWT.signingInput(header, claims.json)
    let scheme: RSASignatureAlgorithm = algorithm == .ps256 ? .ps256 : .rs256
    let signature = try (key ?? DemoFixture.key.get()).signature(of: input.span, scheme)
    return SignedJWT.compact(signingInput: input, signature: signature).revealed()
  }

  struct Row: Sendable, CustomTestStringConvertible {
    var name: String
    var authorization: @Sendable () throws -> String? = { "Bearer \(try token())" }
    var status = 401
    /// The challenge's parameters besides realm and authorization_uri; nil: there is no challenge.
    var challenge: String?
    var method = "GET"
    var path = "/api/me"
    var now: Int64 = 0
    var testDescription: String { name }
  }

  private static func invalid(_ reason: String) -> String {
    ", error=\"invalid_token\", error_description=\"\(reason)\""
  }

  static let rows: [Row] = [
    Row(name: "no field", authorization: { nil }, challenge: ""),
    Row(name: "another scheme", authorization: { "Basic YTpi" }, challenge: ""),
    Row(name: "scheme alone", authorization: { "Bearer" }, challenge: ""),
    Row(
      name: "no JWT", authorization: { "Bearer opaque" },
      challenge: invalid("the token is no valid JWT of the issuer")),
    Row(name: "a good token", status: 200),
    Row(name: "the scheme in capitals", authorization: { "BEARER \(try token())" }, status: 200),
    Row(
      name: "the API by its URI", authorization: { "Bearer \(try token { $0.audiences = ["api://orders"] })" },
      status: 200),
    Row(
      name: "another audience", authorization: { "Bearer \(try token { $0.audiences = ["api://graph"] })" },
      challenge: invalid("the token is for another audience")),
    Row(name: "expired beyond the leeway", challenge: invalid("the token expired 60 seconds ago"), now: 3660),
    Row(name: "expired within the leeway", status: 200, now: 3659),
    Row(
      name: "signed by another key under the issuer's name", authorization: { "Bearer \(try token(key: .generate()))" },
      challenge: invalid("the token is no valid JWT of the issuer")),
    Row(
      name: "a changed claim",
      authorization: {
        let parts = try token().split(separator: ".")
        let claims = try token { $0.roles = ["Orders.Approve"] }.split(separator: ".")[1]
        return "Bearer \(parts[0]).\(claims).\(parts[2])"
      },
      challenge: invalid("the token is no valid JWT of the issuer")),
    Row(name: "role granted", status: 200, path: "/api/list"),
    Row(
      name: "delegated scope instead of a role",
      authorization: { "Bearer \(try token { claims in (claims.roles, claims.scopes) = ([], ["Orders.Read"]) })" },
      status: 200, path: "/api/list"),
    Row(
      name: "role not granted", status: 403,
      challenge: ", error=\"insufficient_scope\", scope=\"api://orders/Orders.Approve\"", method: "POST",
      path: "/api/approvals"),
    Row(
      name: "no roles at all", authorization: { "Bearer \(try DemoFixture.token(client: Sample.visitor))" },
      status: 403, challenge: ", error=\"insufficient_scope\", scope=\"api://orders/Orders.Read\"", path: "/api/list"),
    Row(
      name: "the other API's token", authorization: { "Bearer \(try token { $0.audiences = [Sample.ledgerAPI] })" },
      challenge: invalid("the token is for another audience")),
    Row(
      name: "another tenant of the same provider",
      authorization: { "Bearer \(try token { $0.issuer = "\(DemoFixture.origin)/\(Sample.fabrikam)/v2.0" })" },
      status: 200),
    Row(name: "no such path", authorization: { nil }, status: 404, path: "/api/you"),
    Row(name: "no such method", authorization: { nil }, status: 404, method: "DELETE"),
  ]

  @Test(arguments: rows) func `allowed callers are accepted, and refused ones learn why`(row: Row) throws {
    let authorization = try row.authorization()
    let request = DemoRequest(
      method: row.method, path: row.path, fields: authorization.map { [("authorization", $0)] } ?? [])
    let answer = try DemoFixture.api().answer(request, now: DemoFixture.now + row.now)
    #expect(answer.status == row.status, "\(answer.text)")
    let prefix =
      "Bearer realm=\"orders\", authorization_uri=\"\(DemoFixture.origin)/\(Sample.tenant)/oauth2/v2.0/authorize\""
    #expect(answer.field("www-authenticate") == row.challenge.map { prefix + $0 })
  }

  @Test func `the ledger takes its own tokens, by its own scopes`() throws {
    let api = try DemoFixture.api(.ledger)
    let token = try Self.token { claims in
      (claims.audiences, claims.roles, claims.scopes) = ([Sample.ledgerAPI], [], ["Ledger.Read"])
    }
    let fields = [(name: "authorization", value: "Bearer \(token)")]
    let list = api.answer(DemoRequest(method: "GET", path: "/ledger/list", fields: fields), now: DemoFixture.now)
    #expect(list.status == 200)
    #expect(list.text.contains("12.50 EUR"))
    let post = api.answer(DemoRequest(method: "POST", path: "/ledger/approvals", fields: fields), now: DemoFixture.now)
    #expect(post.status == 403)
    #expect(post.field("www-authenticate")?.hasPrefix("Bearer realm=\"ledger\"") == true)
    #expect(post.field("www-authenticate")?.hasSuffix("scope=\"api://ledger/Ledger.Post\"") == true)
    #expect(
      api.answer(DemoRequest(method: "GET", path: "/api/list", fields: fields), now: DemoFixture.now).status == 404)
  }

  @Test func `the report says who called and what arrived, and never the token`() throws {
    let token = try DemoFixture.token()
    let request = DemoRequest(
      method: "GET", path: "/api/me", query: "verbose=1",
      fields: [
        ("host", "localhost:8444"), ("authorization", "Bearer \(token)"), ("cookie", "session=1"), ("via", "1.1 a"),
        ("via", "1.1 b"),
      ])
    let answer = try DemoFixture.api().answer(request, now: DemoFixture.now + 10)
    let text = answer.text
    #expect(!text.contains(token.prefix(20)))
    #expect(!text.contains("session"))
    let report = try DemoFixture.json(answer)
    let caller = try #require(report["caller"]?.members)
    #expect(caller["kind"]?.text == "application")
    #expect(caller["application"]?.text == Sample.portal)
    #expect(caller["roles"]?.texts == ["Orders.Read", "Orders.Write"])
    let seen = try #require(report["request"]?.members)
    #expect(seen["query"]?.text == "verbose=1")
    let fields = try #require(seen["fields"]?.members)
    #expect(fields["via"]?.text == "1.1 a, 1.1 b")
    let facts = try #require(report["token"]?.members)
    #expect(facts["expires_in"]?.seconds == 3590)
    #expect(facts["identifier"]?.text == (try SignedJWT(token).claims.tokenIdentifier))
  }

  @Test(arguments: [
    ("", 5, 300), ("count=3&pause_ms=0", 3, 0), ("count=-1", 0, 300), ("count=999999&pause_ms=999999", 1000, 10_000),
    ("count=x", 5, 300),
  ]) func `ticks are as many as asked for, within bounds`(query: String, count: Int, pause: Int) throws {
    let request = DemoRequest(
      method: "GET", path: "/api/ticks", query: query, fields: [("authorization", "Bearer \(try DemoFixture.token())")])
    let answer = try DemoFixture.api().answer(request, now: DemoFixture.now)
    guard case .paced(let ticks, let between, _) = answer.response.content else {
      Issue.record("no stream")
      return
    }
    #expect(ticks == count && between == .milliseconds(pause))
  }

  @Test func `an upload's receipt names its size and digest`() throws {
    let api = try DemoFixture.api()
    let request = DemoRequest(
      method: "PUT", path: "/api/uploads", fields: [("authorization", "Bearer \(try DemoFixture.token())")],
      body: .digest(byteCount: 5_000_000_000, sha256: [0x0A, 0xFF]))
    #expect(api.digests(request) && !api.digests(DemoRequest(method: "POST", path: "/api/approvals")))
    let receipt = try DemoFixture.json(api.answer(request, now: DemoFixture.now))
    #expect(receipt["bytes"]?.seconds == 5_000_000_000)
    #expect(receipt["sha256"]?.text == "0aff")
  }
}

extension JWTClaims {
  /// The claims that this suite changes, and those of every token of the sample provider.
  fileprivate var json: JSONValue {
    JSONValue([
      "iss": issuer, "sub": subject, "aud": audiences, "exp": expiresAt, "nbf": notBefore, "iat": issuedAt,
      "tid": tenant, "oid": object, "azp": application, "roles": roles.nonEmpty, "idtyp": identityType,
      "scp": scopes.isEmpty ? nil : scopes.joined(separator: " "), "ver": version, "uti": tokenIdentifier,
    ])
  }
}
