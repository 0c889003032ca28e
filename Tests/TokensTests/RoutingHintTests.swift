import Bytes
import HTTP
import Testing

@testable import Tokens

@Suite struct RoutingHintTests {
  private static let object = "aaaaaaaa-0001-4001-8001-aaaaaaaaaaaa"
  private static let tenant = "11111111-aaaa-4aaa-8aaa-111111111111"

  @Test func `ids alone are sent, as they are`() {
    #expect(RoutingHint(homeAccountID: "\(Self.object).\(Self.tenant)")?.text == "Oid:\(Self.object)@\(Self.tenant)")
    let others: [String?] = [
      nil, "", "subject", "\(Self.object)-b2c_1_sign_in.\(Self.tenant)", "\(Self.object).\(Self.tenant).x",
      "\(Self.object)\r\nx: y.\(Self.tenant)", "\(Self.object).common",
    ]
    for id in others { #expect(RoutingHint(homeAccountID: id) == nil, "\(id ?? "nil")") }
    #expect(RoutingHint(object: Self.object, tenant: nil) == nil)
  }

  @Test func `a user name that would break a field is not sent`() {
    #expect(RoutingHint(username: "ann@contoso.example")?.text == "UPN:ann@contoso.example")
    for name in ["", "ann\r\nx: y", "ann lee", "\u{E9}ve@contoso.example", String(repeating: "a", count: 257)] {
      #expect(RoutingHint(username: name) == nil)
    }
  }

  private func fields(_ endpoint: String, _ authority: String) throws -> [String] {
    let json = #"{"issuer": "\#(authority)", "token_endpoint": "\#(endpoint)"}"#
    var request = TokenRequest(
      ClientAuthentication("c", at: try ProviderMetadata(json: Array(json.utf8), authority: Authority(authority)), nil),
      grant: .refreshToken(Secret("r")), scopes: .none, claims: nil)
    request.routingHint = RoutingHint(username: "ann@contoso.example")
    return request.fields.filter { $0.name == "x-anchormailbox" }.map(\.value)
  }

  @Test(arguments: [
    ("https://login.microsoftonline.com/common", true), ("https://login.microsoftonline.us/common", true),
    ("https://westus2.login.microsoft.com/common", true),
    ("https://contoso.ciamlogin.com/contoso.onmicrosoft.com", false),
    ("https://contoso.b2clogin.com/contoso/b2c_1_a", false), ("https://sts.contoso.example/adfs", false),
    ("https://accounts.google.com", false), ("https://id.example", false),
    ("https://login.microsoftonline.com.evil.example", false),
  ])
  func `Entra's hosts alone are told whose account it is`(authority: String, isTold: Bool) throws {
    #expect(try fields("\(authority)/token", authority) == (isTold ? ["UPN:ann@contoso.example"] : []))
  }

  @Test func `an issuer that names an endpoint elsewhere does not learn it either`() throws {
    let authority = "https://login.microsoftonline.com/common"
    #expect(try fields("https://elsewhere.example/token", authority).isEmpty)
  }

  @Test func `a code's answer names the account, unproven`() throws {
    let info = Base64URL.encode(Array(#"{"uid":"\#(Self.object)","utid":"\#(Self.tenant)"}"#.utf8))
    let issuer = ReplyIssuer("https://login.microsoftonline.com/x", isPromised: false, isExact: false)
    let reply = try AuthorizationReply(
      form: Array("state=s&code=c&client_info=\(info)".utf8), state: "s", issuer: issuer)
    #expect(reply.accountHint?.text == "Oid:\(Self.object)@\(Self.tenant)")
    let other = try AuthorizationReply(form: Array("state=s&code=c&client_info=e".utf8), state: "s", issuer: issuer)
    #expect(other.accountHint == nil)
  }
}
