// Stronger and fresher: continuous access evaluation, authentication contexts, RFC 9470, and the second page of a
// sign-in.

import Bytes
import FoundationEssentials
import Testing
import Tokens

@testable import DemoProvider

@Suite("Assurance") struct AssuranceTests {
  typealias Sample = DemoFixture.Sample

  static let capable = #"{"access_token":{"xms_cc":{"values":["cp1"]}}}"#
  static let stepUp = #"{"access_token":{"acrs":{"essential":true,"value":"c1"}}}"#

  /// The API's answer to a token.
  struct Visit {
    var status: Int
    var challenge: String

    /// The claims that the challenge asks for.
    var claims: String? {
      guard let start = challenge.firstRange(of: "claims=\"")?.upperBound,
        let data = Data(base64Encoded: String(challenge[start...].prefix { $0 != "\"" }))
      else { return nil }
      return String(decoding: data, as: UTF8.self)
    }

    init(_ person: PersonAtBrowser, _ document: [String: JSONValue], _ path: String, method: String = "GET") throws {
      let token = try #require(document["access_token"]?.text, "\(document)")
      let answer = try DemoFixture.api(of: person.provider).answer(
        DemoRequest(method: method, path: path, fields: [("authorization", "Bearer \(token)")]),
        now: person.now)
      status = answer.status
      challenge = answer.field("www-authenticate") ?? ""
    }
  }

  @Test func `a critical event ends tokens already out, and the challenge's claims bring one that counts`() throws {
    let person = try PersonAtBrowser()
    let (_, first) = try person.redeem(person.code(), ["claims": Self.capable])
    #expect(try Visit(person, first, "/api/list").status == 200)
    person.testing(.criticalEvent, #"{"user": "alice@contoso.example"}"#)
    let refused = try Visit(person, first, "/api/list")
    #expect(refused.status == 401)
    #expect(refused.challenge.contains(", error=\"insufficient_claims\", claims=\""))
    let claims = try #require(refused.claims)
    #expect(claims == #"{"access_token":{"nbf":{"essential":true,"value":"1700000001"}}}"#)
    // In the same second: without the claims the next token is as old as the one before.
    let token = try #require(first["refresh_token"]?.text)
    let (_, plain) = try person.refresh(token, claims: Self.capable)
    #expect(try Visit(person, plain, "/api/list").status == 401)
    let (_, healed) = try person.refresh(token, claims: claims)
    #expect(try Visit(person, healed, "/api/list").status == 200)
    person.now = person.now + 1
    #expect(try Visit(person, person.refresh(token).document, "/api/list").status == 200)
  }

  @Test func `an application that declared nothing learns only that its token is invalid`() throws {
    let person = try PersonAtBrowser()
    let (_, document) = try person.redeem(person.code())
    person.testing(.criticalEvent, #"{"user": "alice@contoso.example"}"#)
    let refused = try Visit(person, document, "/api/list")
    #expect(refused.status == 401)
    #expect(refused.challenge.hasSuffix("error=\"invalid_token\", error_description=\"the token was revoked\""))
    let context = try Visit(PersonAtBrowser(), document, "/api/payouts")
    #expect(context.status == 403)
    #expect(context.claims == nil)
  }

  @Test func `an authentication context is refused, asked for, satisfied on a second page, and kept by refresh`() throws
  {
    let person = try PersonAtBrowser()
    let (_, before) = try person.redeem(person.code(), ["claims": Self.capable])
    let refused = try Visit(person, before, "/api/payouts")
    #expect(refused.status == 401)
    let claims = try #require(refused.claims)
    #expect(claims == Self.stepUp)
    let silent = try person.refresh(#require(before["refresh_token"]?.text), claims: claims).document
    #expect(silent.refusal == ["interaction_required", "50076", "basic_action"])
    #expect(silent["claims"]?.text == Self.stepUp)

    let page = try person.authorize(["claims": claims])
    #expect(page.heading == "Verify that it is you", "the password was typed before")
    let wrong = try person.verify(on: page, code: "x")
    #expect(wrong.text.contains("role=\"alert\">That was another code."))
    #expect(wrong.between("the code is ", "<") != page.between("the code is ", "<"))
    let reply = try #require(PersonAtBrowser.Reply(person.verify(on: wrong)))
    let (_, after) = try person.redeem(#require(reply["code"]), ["claims": claims])
    #expect(try Visit(person, after, "/api/payouts", method: "POST").status == 200)
    let (_, later) = try person.refresh(#require(after["refresh_token"]?.text))
    #expect(try Visit(person, later, "/api/payouts").status == 200)
    #expect(try Visit(person, before, "/api/payouts").status == 401, "the token before is what it was")
  }

  struct RecencyRow: Sendable, CustomTestStringConvertible {
    var testDescription: String
    var change: [String: String] = [:]
    var later: Int64 = 0
    var challenge: String?
  }

  static let recency: [RecencyRow] = [
    RecencyRow(testDescription: "password alone", challenge: "acr_values=\"mfa\", max_age=\"600\""),
    RecencyRow(testDescription: "a wish for something unknown", change: ["acr_values": "phr"], challenge: "acr_values"),
    RecencyRow(testDescription: "with a code", change: ["acr_values": "phr mfa"]),
    RecencyRow(testDescription: "still recent", change: ["acr_values": "mfa"], later: 600),
    RecencyRow(testDescription: "no longer recent", change: ["acr_values": "mfa"], later: 601, challenge: "acr_values"),
  ]

  @Test(arguments: recency) func `a recent sign-in with a second factor is asked for in the words of RFC 9470`(
    row: RecencyRow
  ) throws {
    let person = try PersonAtBrowser()
    let (_, document) = try person.redeem(person.code(Sample.alice, row.change))
    person.now = person.now + row.later
    let visit = try Visit(person, document, "/api/statements")
    #expect(visit.status == (row.challenge == nil ? 200 : 401))
    if let challenge = row.challenge {
      #expect(visit.challenge.contains("error=\"insufficient_user_authentication\""))
      #expect(visit.challenge.contains(challenge))
    }
  }

  @Test func `max_age asks for the password again, and with it for the code`() throws {
    let person = try PersonAtBrowser()
    _ = try person.code(Sample.alice, ["acr_values": "mfa"])
    person.now = person.now + 700
    let page = try person.authorize(["acr_values": "mfa", "max_age": "600"])
    #expect(page.heading == "Sign in")
    let second = try person.signIn(on: page)
    #expect(second.heading == "Verify that it is you")
    let code = try #require(PersonAtBrowser.Reply(person.verify(on: second))?["code"])
    let (_, document) = try person.redeem(code)
    #expect(try Visit(person, document, "/api/statements").status == 200)
    let identity = try SignedJWT(#require(document["id_token"]?.text)).claims
    #expect(identity.authenticatedAt == person.now)
  }

  @Test func `whom the directory asks for a code always cannot be silent without it`() throws {
    let person = try PersonAtBrowser()
    let (_, document) = try person.redeem(person.code(Sample.bob))
    let token = try #require(document["refresh_token"]?.text)
    person.testing(.behaviour, #"{"second_factor": ["Bob@contoso.example"]}"#)
    let refused = try person.refresh(token).document
    #expect(refused.refusal == ["interaction_required", "50076", "basic_action"])
    #expect(refused["claims"]?.text == IdentityProvider.policyClaims)
    let quiet = try #require(PersonAtBrowser.Reply(person.authorize(["prompt": "none", "login_hint": Sample.bob])))
    #expect(quiet["error"] == "interaction_required")
    let (_, after) = try person.redeem(person.code(Sample.bob, ["claims": IdentityProvider.policyClaims]))
    #expect(try person.refresh(#require(after["refresh_token"]?.text)).answer.status == 200)
    #expect(try person.refresh(token).answer.status == 400, "the sign-in before is what it was")
    #expect(try person.code(Sample.alice, ["prompt": "login"]).isEmpty == false)
  }

  @Test(arguments: [
    "[]", "{", #"{"access_token":{"acrs":{"essential":true,"value":"c9"}}}"#,
  ]) func `claims that mean nothing are refused at both endpoints`(claims: String) throws {
    let person = try PersonAtBrowser()
    let reply = try #require(PersonAtBrowser.Reply(person.authorize(["claims": claims])))
    #expect(reply["error"] == "invalid_request")
    let (_, document) = try person.redeem(person.code())
    let refused = try person.refresh(#require(document["refresh_token"]?.text), claims: claims).document
    #expect(refused["error"]?.text == "invalid_request")
  }

  @Test func `a missing permission is demanded by the client's scope`() throws {
    let person = try PersonAtBrowser()
    let (_, document) = try person.redeem(person.code())
    let visit = try Visit(person, document, "/api/approvals", method: "POST")
    #expect(visit.status == 403)
    #expect(visit.challenge.hasSuffix("error=\"insufficient_scope\", scope=\"api://orders/Orders.Approve\""))
    let (_, more) = try person.redeem(
      person.code(Sample.alice, ["scope": "openid offline_access api://orders/Orders.Approve"]))
    #expect(more["scope"]?.text == "api://orders/Orders.Read api://orders/Orders.Approve", "consent adds up")
    #expect(try Visit(person, more, "/api/approvals", method: "POST").status == 200)
  }
}
