import Testing
import Tokens

@Suite struct AssertionClaimsTests {
  @Test func `any claim that assertions do not have may be added`() throws {
    #expect(try AssertionClaims(["client_ip": "192.0.2.7", "https://a.example/b": ""]).all.count == 2)
  }

  static let refusals: [([String: String], AssertionClaimsError)] = [
    (["aud": "x"], AssertionClaimsError.reserved("aud")), (["exp": "1"], .reserved("exp")),
    (["iat": "1"], .reserved("iat")),
    (["iss": "x"], .reserved("iss")), (["jti": "x"], .reserved("jti")), (["nbf": "1"], .reserved("nbf")),
    (["sub": "x"], .reserved("sub")), (["JTI": "x"], .reserved("JTI")), (["": "x"], .name("")),
    (["a\nb": "x"], .name("a\nb")),
    ([String(repeating: "a", count: 65): "x"], .name(String(repeating: "a", count: 65))),
    (["a": String(repeating: "b", count: 1025)], .value("a")),
    (Dictionary(uniqueKeysWithValues: (0...16).map { ("c\($0)", "") }), .tooMany),
  ]

  @Test(arguments: refusals)
  func `none replaces what an assertion is judged by, and they are bounded`(
    claims: [String: String], expected: AssertionClaimsError
  ) {
    #expect(throws: expected) { try AssertionClaims(claims) }
  }
}
