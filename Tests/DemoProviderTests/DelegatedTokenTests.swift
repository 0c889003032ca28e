// The results of codes and refresh tokens: tokens of one API, and every refusal.

import Bytes
import HTTPServer
import Testing
import Tokens

@testable import DemoProvider

@Suite("Delegated tokens") struct DelegatedTokenTests {
  typealias Sample = DemoFixture.Sample

  @Test func `a code becomes an access token, an ID token, a refresh token and an account`() throws {
    let person = try PersonAtBrowser()
    let (answer, document) = try person.redeem(person.code())
    #expect(answer.status == 200, "\(answer.text)")
    #expect(document["scope"]?.text == "api://orders/Orders.Read")
    #expect(document["foci"] == nil)
    #expect(document["refresh_in"] == nil)
    let access = try SignedJWT(#require(document["access_token"]?.text)).claims
    #expect(access.scopes == ["Orders.Read"])
    #expect(access.audiences == [Sample.ordersAPI])
    #expect(access.roles.isEmpty)
    #expect(access.application == Sample.desk)
    #expect(access.issuer == DemoFixture.issuer)
    let identity = try #require(document["id_token"]?.text)
    let claims = try claims(identity)
    #expect(claims["nonce"]?.text == "n1")
    #expect(claims["preferred_username"]?.text == Sample.alice)
    #expect(claims["aud"]?.text == Sample.desk)
    #expect(claims["oid"]?.text == access.object)
    #expect(claims["tid"]?.text == Sample.tenant)
    #expect(claims["sub"]?.text != access.subject, "pairwise: another subject for another audience")
    let info = try #require(document["client_info"]?.text)
    #expect(
      try JSONValue(json: Base64URL.decode(info))?.members == [
        "uid": .string("c0a7050d-0000-4000-8000-0000000000d1"), "utid": .string(Sample.tenant),
      ])
    let me = try DemoFixture.api().answer(
      DemoRequest(
        method: "GET", path: "/api/list",
        fields: [("authorization", "Bearer \(try #require(document["access_token"]?.text))")]),
      now: person.now)
    #expect(me.status == 200)
    #expect(me.text.contains("\"user\": \"\(Sample.alice)\""))
  }

  private func claims(_ token: String) throws -> [String: JSONValue] {
    try SignedJWT(token).members(1)
  }

  static let redemptions: [(String, change: [String: String], refusal: [String])] = [
    ("another redirect URI", ["redirect_uri": "http://localhost:1"], ["invalid_grant", "500112", ""]),
    ("no verifier", ["code_verifier": ""], ["invalid_grant", "501481", ""]),
    ("another verifier", ["code_verifier": String(repeating: "b", count: 43)], ["invalid_grant", "501481", ""]),
    (
      "another application", ["client_id": Sample.portal, "client_secret": "s3cret+&="], ["invalid_grant", "70000", ""]
    ),
    (
      "two APIs at once", ["scope": "api://orders/Orders.Read api://ledger/Ledger.Read"],
      ["invalid_scope", "28000", ""]
    ),
    (
      "more than was consented to", ["scope": "api://orders/Orders.Write"],
      ["invalid_grant", "65001", "consent_required"]
    ),
  ]

  @Test(arguments: redemptions) func `a code is bound to who asked, where and how`(
    name: String, change: [String: String], refused: [String]
  ) throws {
    let person = try PersonAtBrowser()
    let code = try person.code()
    let (answer, document) = try person.redeem(code, change)
    #expect(answer.status >= 400)
    #expect(document.refusal == refused)
  }

  @Test func `a code is good once, and a second attempt ends what the first brought`() throws {
    let person = try PersonAtBrowser()
    let code = try person.code()
    let token = try #require(person.redeem(code).document["refresh_token"]?.text)
    #expect(try person.redeem(code).document.refusal == ["invalid_grant", "54005", ""])
    #expect(try person.refresh(token).document.refusal == ["invalid_grant", "50173", "bad_token"])
  }

  @Test func `consent for two APIs, tokens for one at a time, and one refresh token for both`() throws {
    let person = try PersonAtBrowser()
    let scope = "openid offline_access api://orders/Orders.Read api://ledger/Ledger.Read"
    let (_, first) = try person.redeem(person.code(Sample.alice, ["scope": scope]))
    #expect(first["scope"]?.text == "api://orders/Orders.Read")
    let token = try #require(first["refresh_token"]?.text)
    let (_, second) = try person.refresh(token, scope: "api://ledger/.default openid profile offline_access")
    #expect(second["scope"]?.text == "api://ledger/Ledger.Read")
    #expect(try SignedJWT(#require(second["access_token"]?.text)).claims.audiences == [Sample.ledgerAPI])
  }

  @Test func `an access token holds everything that was consented to for its API`() throws {
    let person = try PersonAtBrowser()
    _ = try person.code()
    let (_, document) = try person.redeem(
      person.code(Sample.alice, ["scope": "openid api://orders/Orders.Write"]), ["scope": "api://orders/Orders.Write"])
    #expect(document["scope"]?.text == "api://orders/Orders.Read api://orders/Orders.Write")
    #expect(document["refresh_token"] == nil, "offline_access was not asked for")
  }

  @Test func `refresh tokens rotate, and the replaced one is tolerated or ends the family`() throws {
    let person = try PersonAtBrowser()
    let first = try #require(person.redeem(person.code()).document["refresh_token"]?.text)
    let second = try #require(person.refresh(first).document["refresh_token"]?.text)
    #expect(first != second)
    let third = try #require(person.refresh(first).document["refresh_token"]?.text)
    person.testing(.behaviour, #"{"refuse_replaced": true}"#)
    let fourth = try #require(person.refresh(third).document["refresh_token"]?.text)
    #expect(try person.refresh(second).document.refusal == ["invalid_grant", "70000", "bad_token"])
    #expect(try person.refresh(fourth).document.refusal == ["invalid_grant", "50173", "bad_token"])
  }

  @Test func `lifetimes are as they were ordered`() throws {
    let person = try PersonAtBrowser()
    person.testing(.behaviour, #"{"refresh_in": 60, "access_token_lifetime": 120}"#)
    let (_, document) = try person.redeem(person.code())
    #expect(document["refresh_in"]?.seconds == 60)
    #expect(document["expires_in"]?.seconds == 120)
  }

  @Test func `a refresh token ends by revocation, and never serves another application`() throws {
    let person = try PersonAtBrowser()
    let token = try #require(person.redeem(person.code()).document["refresh_token"]?.text)
    let stolen = try person.token([
      "grant_type": "refresh_token", "refresh_token": token, "client_id": Sample.portal, "client_secret": "s3cret+&=",
      "scope": "api://orders/.default",
    ])
    #expect(stolen.document.refusal == ["invalid_grant", "70000", ""])
    person.testing(.revoke, #"{"user": "alice@contoso.example"}"#)
    #expect(try person.refresh(token).document.refusal == ["invalid_grant", "50173", "bad_token"])
    #expect(try person.authorize().heading == "Sign in")
  }

  @Test func `a guest has one account and an object per tenant`() throws {
    let person = try PersonAtBrowser()
    let home = try person.redeem(person.code(Sample.fay, tenant: "organizations"), tenant: "organizations").document
    _ = try person.code(Sample.fay, tenant: Sample.tenant)
    let token = try #require(home["refresh_token"]?.text)
    let (_, there) = try person.token([
      "grant_type": "refresh_token", "refresh_token": token, "scope": "openid api://orders/Orders.Read",
      "client_info": "1",
    ])
    #expect(there["client_info"]?.text == home["client_info"]?.text)
    let objects = try [home, there].map { try claims(#require($0["id_token"]?.text))["oid"]?.text }
    #expect(objects[0] != objects[1])
    #expect(try claims(#require(there["id_token"]?.text))["tid"]?.text == Sample.tenant)
  }

  @Test func `a failure that was ordered is told in full, as often as ordered`() throws {
    let person = try PersonAtBrowser()
    let token = try #require(person.redeem(person.code()).document["refresh_token"]?.text)
    person.testing(
      .behaviour,
      #"""
      {"fail": {"times": 1, "status": 400, "error": "interaction_required", "code": 50076, "suberror": "basic_action",
        "claims": "{\"access_token\":{}}"}}
      """#)
    let document = try person.refresh(token).document
    #expect(document.refusal == ["interaction_required", "50076", "basic_action"])
    #expect(document["claims"]?.text == #"{"access_token":{}}"#)
    #expect(try person.refresh(token).answer.status == 200)
  }

  @Test(arguments: [("origin", "https://localhost:8443"), ("sec-fetch-site", "same-origin")])
  func `the testing endpoint is no browser's`(name: String, value: String) throws {
    let answer = try DemoFixture.provider().answer(
      DemoRequest(
        method: "POST", path: "/testing/revoke", fields: [(name, value)],
        body: .whole(Array(#"{"user":"alice@contoso.example"}"#.utf8))), now: DemoFixture.now)
    #expect(answer.status == 403)
  }

  @Test func `requests are counted per endpoint`() throws {
    let person = try PersonAtBrowser()
    _ = try person.redeem(person.code())
    let counts = person.provider.answer(DemoRequest(method: "GET", path: "/testing/requests"), now: person.now)
    let document = try DemoFixture.json(counts)
    #expect(document["token"]?.seconds == 1)
    #expect(document["authorize"]?.seconds == 1)
    #expect(document["interaction"]?.seconds == 2)
  }
}
