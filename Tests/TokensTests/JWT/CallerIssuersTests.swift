import Bytes
import Testing

@testable import Tokens

@Suite struct CallerIssuersTests {
  private static let tenant = "11111111-aaaa-4aaa-8aaa-111111111111"
  private static let other = "22222222-bbbb-4bbb-8bbb-222222222222"
  private static let personal = "9188040d-6c67-4c5b-b112-36a304b66dad"

  @Test(
    arguments: [
      (["a"], #"{"scp":"A b"}"#, ""), (["a", "c"], #"{"scp":"a b"}"#, "c"), (["a"], #"{"scope":"a b"}"#, ""),
      (["a"], #"{"roles":["a"]}"#, ""), (["a"], "{}", "a"), ([], "{}", ""), (["a"], #"{"scp":"ab"}"#, "a"),
      // Entra names a scope without the API.
      (["api://app/tools.call"], #"{"scp":"tools.call"}"#, ""), (["app/tools.call"], #"{"scp":"tools.call"}"#, ""),
      (["api://other/tools.call"], #"{"scp":"tools.call"}"#, "api://other/tools.call"),
      (["api://app/tools.call"], #"{"scp":"call"}"#, "api://app/tools.call"),
      (["tools.call"], #"{"scp":"api://app/tools.call"}"#, "tools.call"),
    ] as [([String], String, String)])
  func `a token lacks the scopes that it names in no form of its issuer`(
    required: [String], claims: String, missing: String
  ) throws {
    let authority = try Authority("https://login.microsoftonline.com/\(Self.tenant)")
    let parsed = try SignedJWT("eyJhbGciOiJSUzI1NiJ9.\(Base64URL.encode(Array(claims.utf8))).AA").claims
    let found = authority.scopes(try ScopeSet(required), missingIn: parsed, audiences: ["api://app", "app"])
    #expect(found.description == missing)
  }

  struct Row: Sendable, CustomTestStringConvertible {
    var authority = "login.microsoftonline.com/\(tenant)"
    var named = "https://login.microsoftonline.com/\(tenant)/v2.0"
    var iss: String
    var tid: String? = tenant
    var isTaken = true
    var testDescription: String { "\(authority) \(iss) \(tid ?? "")" }
  }

  private static let template = "https://login.microsoftonline.com/{tenantid}/v2.0"
  private static let second = "https://login.microsoftonline.com/\(tenant)/v2.0"
  private static let first = "https://sts.windows.net/\(tenant)/"
  private static let ofPersons = "https://login.microsoftonline.com/\(personal)/v2.0"
  private static let (china, us) = ("login.partner.microsoftonline.cn/\(tenant)", "login.microsoftonline.us/\(tenant)")

  private static let rows = [
    // Every spelling of the authority, both versions.
    Row(iss: second), Row(iss: first), Row(authority: "login.microsoftonline.com/\(tenant)/v2.0", iss: first),
    Row(authority: "login.microsoftonline.com/contoso.onmicrosoft.com", iss: first),
    Row(authority: "sts.windows.net/\(tenant)", iss: first), Row(authority: "login.windows.net/\(tenant)", iss: first),
    // Another tenant, in the issuer or in the claim.
    Row(iss: "https://sts.windows.net/\(other)/", isTaken: false),
    Row(iss: "https://sts.windows.net/\(other)/", tid: other, isTaken: false),
    Row(iss: first, tid: other, isTaken: false), Row(iss: second, tid: other, isTaken: false),
    Row(iss: first, tid: nil, isTaken: false), Row(iss: first, tid: "contoso.com", isTaken: false),
    Row(iss: second, tid: nil),
    // Another spelling of the issuer, and issuers of other clouds.
    Row(iss: "https://sts.windows.net/\(tenant)", isTaken: false),
    Row(iss: "https://sts.windows.net/\(tenant)/v2.0", isTaken: false),
    Row(iss: "http://sts.windows.net/\(tenant)/", isTaken: false),
    Row(iss: "https://sts.windows.net.evil.example/\(tenant)/", isTaken: false),
    Row(iss: "https://sts.chinacloudapi.cn/\(tenant)/", isTaken: false),
    Row(iss: "https://\(us)/v2.0", isTaken: false),
    Row(authority: china, named: "https://\(china)/v2.0", iss: "https://sts.chinacloudapi.cn/\(tenant)/"),
    Row(authority: china, named: "https://\(china)/v2.0", iss: first, isTaken: false),
    Row(authority: us, named: "https://\(us)/v2.0", iss: first),
    // Every tenant, if issuer and claim agree.
    Row(authority: "login.microsoftonline.com/organizations", named: template, iss: first),
    Row(authority: "login.microsoftonline.com/common", named: template, iss: second),
    Row(
      authority: "login.microsoftonline.com/common", named: template, iss: "https://sts.windows.net/\(other)/",
      isTaken: false),
    Row(authority: "login.microsoftonline.com/common", named: template, iss: template, tid: nil, isTaken: false),
    Row(
      authority: "login.microsoftonline.com/organizations", named: template, iss: ofPersons, tid: personal,
      isTaken: false),
    Row(authority: "login.microsoftonline.com/common", named: template, iss: ofPersons, tid: personal),
    // Not Entra: the one name.
    Row(authority: "id.example/t", named: "https://id.example/t", iss: "https://id.example/t", tid: other),
    Row(authority: "id.example/t", named: "https://id.example/t", iss: first, isTaken: false),
  ]

  @Test(arguments: rows) func `tokens of both versions are the authority's, if issuer and tenant agree`(row: Row) throws
  {
    let authority = try Authority("https://" + row.authority)
    let token = try Self.token(iss: row.iss, tid: row.tid)
    let isPlausible = row.iss != Self.template && authority.mayIssue(token)
    #expect(authority.issuers(of: token, named: row.named).contains(row.iss) == row.isTaken)
    if row.isTaken { #expect(isPlausible) }
  }

  @Test(
    arguments: [
      (nil, second, tenant, true), (template, second, tenant, true), (second, second, tenant, true),
      // Keys of version 2.0 metadata sign tokens of version 1.0; those of a version 1.0 name would, too.
      (template, first, tenant, true), ("https://sts.windows.net/{tenantid}/", first, tenant, true),
      // A key of personal accounts signs nothing for a company.
      (ofPersons, second, tenant, false), (ofPersons, first, tenant, false), (ofPersons, ofPersons, personal, true),
      ("https://login.microsoftonline.us/{tenantid}/v2.0", second, tenant, false), ("", second, tenant, false),
    ] as [(String?, String, String, Bool)])
  func `a key signs for the issuer that it names`(issuer: String?, iss: String, tid: String, isKey: Bool) throws {
    var key = JWK(identifier: "k", algorithm: .rs256, modulus: [1], exponent: [1])
    key.issuer = issuer
    let token = try Self.token(iss: iss, tid: tid)
    for authority in ["common", tid] {
      let named = authority == "common" ? Self.template : Self.template.replacing("{tenantid}", with: tid)
      let authority = try Authority("https://login.microsoftonline.com/\(authority)")
      #expect(authority.isKey(key, for: token, named: named) == isKey)
    }
    #expect(try Authority("https://id.example").isKey(key, for: token, named: "https://id.example"))
  }

  @Test func `a client id is an audience with api in front of it, within one tenant`() throws {
    let id = Self.other
    for configured in [id, "api://" + id] {
      let own = try Authority("https://login.microsoftonline.com/\(Self.tenant)").audiences([
        configured, "api://orders",
      ])
      #expect(own == [id, "api://" + id, "api://orders"])
      for authority in ["https://login.microsoftonline.com/common", "https://id.example"] {
        #expect(try Authority(authority).audiences([configured]) == [configured])
      }
    }
  }

  private static func token(iss: String, tid: String?) throws -> SignedJWT {
    let claims = #"{"iss":"\#(iss)"\#(tid.map { #","tid":"\#($0)""# } ?? "")}"#
    return try SignedJWT("eyJhbGciOiJSUzI1NiJ9.\(Base64URL.encode(Array(claims.utf8))).AA")
  }
}
