// Challenges in WWW-Authenticate fields: Microsoft's, RFC 6750's and RFC 9470's, and faulty ones.

import Bytes
import HTTP
import Testing
@testable import Tokens

@Suite struct BearerChallengeTests {
  private static let json = #"{"access_token":{"nbf":{"essential":true,"value":"1604106651"}}}"#
  private static let base64 = "eyJhY2Nlc3NfdG9rZW4iOnsibmJmIjp7ImVzc2VudGlhbCI6dHJ1ZSwidmFsdWUiOiIxNjA0MTA2NjUxIn19fQ=="
  // Its base64 has a plus, a slash and padding: {"a":"???>>>"}
  private static let odd = #"{"a":"???>>>"}"#

  private static func reading(_ lines: String...) -> BearerChallengeReading {
    var list = AuthenticationChallengeList()
    for line in lines { list.read(Array(line.utf8).span) }
    return BearerChallengeReading(list)
  }

  private static func challenge(_ lines: String...) throws -> BearerChallenge {
    var list = AuthenticationChallengeList()
    for line in lines { list.read(Array(line.utf8).span) }
    guard case .usable(let challenge) = BearerChallengeReading(list) else {
      throw ChallengeFault.malformed
    }
    return challenge
  }

  @Test func `Microsoft's claims challenge is read`() throws {
    let challenge = try Self.challenge(
      #"Bearer realm="", authorization_uri="https://login.microsoftonline.com/common/oauth2/authorize", "#
        + #"error="insufficient_claims", claims="\#(Self.base64)""#)
    #expect(challenge.error == .insufficientClaims)
    #expect(challenge.claims == (try Claims(json: Self.json)))
    #expect(challenge.authority == "https://login.microsoftonline.com/common")
    #expect(challenge.realm == "")
  }

  @Test(
    arguments: [
      (base64, json), (String(base64.dropLast(2)), json), (String(base64.dropLast()), json),
      ("eyJhIjoiPz8/Pj4+In0=", odd), ("eyJhIjoiPz8_Pj4-In0=", odd), ("eyJhIjoiPz8_Pj4-In0", odd),
      (#"{\"access_token\": {\"nbf\": {\"essential\": true, \"value\": \"1604106651\"}}}"#, json), ("{}", "{}"),
    ])
  func `header-claims-base64: claims come in base64 of either alphabet, padded or not, and as they are`(
    text: String, expected: String
  ) throws {
    let challenge = try Self.challenge(#"Bearer error="insufficient_claims", claims="\#(text)""#)
    #expect(challenge.claims?.text == (try Claims(json: expected).text))
  }

  @Test(
    arguments: [
      "", "not base64!", "bnVsbA==", "W10=", "eyJhIjo=", "{\\\"a\\\":}", "e 30=", "/////w==", "eyJhIjoiPz8/Pj4+In0===",
    ])
  func `claims that are no JSON object are not acted upon`(text: String) {
    #expect(Self.reading(#"Bearer error="insufficient_claims", claims="\#(text)""#) == .unusable(.claims))
  }

  @Test func `claims beyond the limit are not acted upon`() {
    let bytes = Array(#"{"a":"\#(String(repeating: "x", count: Claims.limit))"}"#.utf8)
    #expect(
      Self.reading("Bearer error=insufficient_claims, claims=\"\(Base64URL.encode(bytes))\"") == .unusable(.claims))
  }

  @Test(
    arguments: [
      ("insufficient_claims", true), ("INSUFFICIENT_CLAIMS", true), ("invalid_token", true), ("", true),
      ("insufficient_scope", false), ("insufficient_user_authentication", false), ("some_error", false),
    ])
  func `header-wrong-error: claims count if the error asks for a token with them`(error: String, counts: Bool) throws {
    let challenge = try Self.challenge(#"Bearer error="\#(error)", claims="\#(Self.base64)""#)
    #expect((challenge.claims != nil) == counts)
  }

  @Test func `a demand for another sign-in is read`() throws {
    let challenge = try Self.challenge(
      #"Bearer error="insufficient_user_authentication", error_description="A different\#u{7} way", "#
        + #"acr_values="myACR urn:x", max_age="5", resource_metadata="https://api.example/.well-known/x""#)
    #expect(challenge.error == .insufficientUserAuthentication)
    #expect(challenge.authenticationContexts == ["myACR", "urn:x"])
    #expect(challenge.maxAge == 5)
    #expect(challenge.description == "A different  way")
    #expect(challenge.resourceMetadata == "https://api.example/.well-known/x")
  }

  @Test func `wanted scopes are read`() throws {
    let challenge = try Self.challenge(#"bearer ERROR=insufficient_scope, Scope="b a  b""#)
    #expect(challenge.error == .insufficientScope)
    #expect(challenge.scopes.words == ["a", "b"])
  }

  @Test(
    arguments: [
      ("authorization_uri", "https://login.example/t/oauth2/authorize"), ("authorization", "https://login.example/t"),
      ("authority", "https://login.example/t/"), ("authorization_uri", "https://login.example/t/oauth2/v2.0/authorize"),
      ("authorization_uri", "https://login.example/t/v2.0"),
      ("AUTHORIZATION", "https://login.example/t/oauth2/authorize"),
    ])
  func `authority-hint: the authority is told in several ways`(name: String, value: String) throws {
    #expect(try Self.challenge("Bearer \(name)=\"\(value)\"").authority == "https://login.example/t")
  }

  @Test(
    arguments: [
      ("Bearer", .usable(BearerChallenge())),
      ("Basic realm=x", .absent),
      ("", .absent),
      ("Negotiate, Bearer", .usable(BearerChallenge())),
      ("PoP nonce=x, Bearer error=invalid_token", .usable(BearerChallenge(error: .invalidToken))),
      ("Bearer realm=a, Bearer error=invalid_token", .usable(BearerChallenge(error: .invalidToken))),
      (
        "Bearer error=invalid_token, Bearer realm=a, error=invalid_token",
        .usable(BearerChallenge(error: .invalidToken))
      ),
      ("Bearer error=invalid_token, Bearer error=insufficient_scope", .unusable(.conflicting)),
      ("Bearer error=a, error=a", .unusable(.repeatedParameter)),
      ("Bearer scope=a, SCOPE=b", .unusable(.repeatedParameter)),
      ("Bearer x=1, x=2", .usable(BearerChallenge())),
      ("Bearer error=insufficient_claims", .usable(BearerChallenge(error: .insufficientClaims))),
      ("Bearer claims=\"{\"a\":1}\"", .unusable(.malformed)),
      ("Bearer abc=", .unusable(.malformed)),
      ("x=1", .unusable(.malformed)),
      ("Basic realm=\"x", .absent),
      ("Bearer scope=\"a \\\" b\"", .unusable(.parameter)),
      ("Bearer acr_values=\"ü\"", .unusable(.parameter)),
      ("Bearer max_age=\"-1\"", .unusable(.parameter)),
      ("Bearer max_age=\"\"", .unusable(.parameter)),
      ("Bearer max_age=\"9999999999\"", .unusable(.parameter)),
      ("Bearer error=\"\u{7}\"", .unusable(.parameter)),
    ] as [(String, BearerChallengeReading)])
  func `several challenges and strange ones come to one reading`(line: String, expected: BearerChallengeReading) {
    #expect(Self.reading(line) == expected)
  }

  @Test func `challenges beyond the limits are not acted upon`() {
    #expect(Self.reading("Bearer " + (0..<100).map { "p\($0)=1" }.joined(separator: ",")) == .unusable(.tooLarge))
    #expect(Self.reading("Bearer scope=\"\(String(repeating: "a ", count: 3000))\"") == .unusable(.parameter))
    #expect(Self.reading("Bearer", String(repeating: "x", count: 70_000)) == .unusable(.tooLarge))
  }
}
