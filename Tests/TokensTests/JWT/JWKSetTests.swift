import Testing

@testable import Tokens

@Suite("JWK set") struct JWKSetTests {
  static let document = #"""
    {"keys":[
      {"kty":"RSA","use":"sig","kid":"a","alg":"RS256","n":"AQAB","e":"AQAB","x5c":["MII"],"issuer":"https://i"},
      {"kty":"EC","kid":"b","crv":"P-256","x":"AA","y":"AA"},
      {"kty":"RSA","use":"enc","kid":"c","n":"AQAC","e":"AQAB"},
      {"kty":"RSA","kid":"d","n":"AQAD","e":"AQAB"},
      {"kty":"RSA","kid":"e","e":"AQAB"},
      {"kty":"RSA","kid":"f","n":"+/==","e":"AQAB"},
      {"kid":5},
      {"kty":"RSA","n":"AQAE","e":"AQAB","alg":"PS256"}
    ]}
    """#

  @Test func `usable keys are read and the others passed over`() throws {
    let set = try #require(JWKSet(json: Array(Self.document.utf8)))
    #expect(set.keys.map(\.identifier) == ["a", "c", "d", nil])
    #expect(set.keys.map(\.modulus) == [[1, 0, 1], [1, 0, 2], [1, 0, 3], [1, 0, 4]])
  }

  @Test(arguments: [
    (#""key_ops":["verify"]"#, true), (#""key_ops":["sign","verify"],"use":"sig""#, true), (#""key_ops":[]"#, false),
    (#""key_ops":["sign"]"#, false), (#""key_ops":["encrypt","wrapKey"]"#, false), (#""key_ops":["Verify"]"#, false),
    (#""key_ops":["verify"],"use":"enc""#, false), (#""key_ops":"verify""#, false), (#""key_ops":null"#, true),
    (#""use":"SIG""#, false), (#""alg":"RS512""#, false), (#""alg":"RSA-OAEP""#, false), (#""x5c":["MII"]"#, true),
  ])
  func `a key verifies what it is for`(member: String, verifies: Bool) throws {
    let set = try #require(JWKSet(json: Array(#"{"keys":[{"kty":"RSA","n":"AQAE","e":"AQAB",\#(member)}]}"#.utf8)))
    #expect(set.candidates(for: JWTHeader(alg: "RS256")).isEmpty != verifies)
  }

  @Test func `a key names the issuer that it signs for`() throws {
    let set = try #require(JWKSet(json: Array(Self.document.utf8)))
    #expect(set.keys.map(\.issuer) == ["https://i", nil, nil, nil])
  }

  @Test(
    arguments: [
      ("RS256", "a", ["a"]), ("PS256", "a", []), ("RS256", "c", []), ("PS256", "d", ["d"]), ("RS256", "zz", []),
      ("RS256", nil, ["a", "d"]), ("PS256", nil, ["d", "(unnamed)"]),
    ] as [(String, String?, [String])])
  func `a header's key is found by its name, use and algorithm`(alg: String, kid: String?, expected: [String]) throws {
    let set = try #require(JWKSet(json: Array(Self.document.utf8)))
    #expect(set.candidates(for: JWTHeader(alg: alg, kid: kid)).map { $0.identifier ?? "(unnamed)" } == expected)
  }

  @Test(arguments: ["", "[]", "{}", #"{"keys":{}}"#, "<html>", #"{"keys":[],"keys":[]}"#, #"{"keys":[],}"#])
  func `anything else is no key set`(text: String) {
    #expect(JWKSet(json: Array(text.utf8)) == nil)
  }
}
