import Testing
import Tokens

@Suite struct ClaimsTests {
  @Test(
    arguments: [
      (nil, [], nil),
      (nil, ["cp1"], #"{"access_token":{"xms_cc":{"values":["cp1"]}}}"#),
      (#"{"access_token": {"nbf": {"essential": true}}}"#, [], #"{"access_token":{"nbf":{"essential":true}}}"#),
      (
        #"{"id_token": {"auth_time": {"essential": true}}, "access_token": {"nbf": null, "xms_cc": {"values": "#
          + #"["x"]}}}"#,
        ["cp1", "foo"],
        #"{"access_token":{"nbf":null,"xms_cc":{"values":["cp1","foo"]}},"id_token":{"auth_time":{"essential":true}}}"#
      ),
      (#"{"access_token": null}"#, ["cp1"], #"{"access_token":{"xms_cc":{"values":["cp1"]}}}"#),
    ] as [(String?, [String], String?)])
  func `merge-table: challenge and capabilities merge`(challenge: String?, capabilities: [String], merged: String?)
    throws
  {
    let claims = try challenge.map { text in try Claims(json: text) }
    #expect(Claims(challenge: claims, capabilities: capabilities)?.text == merged)
  }

  @Test(arguments: ["", "not json", "[]", "\"{}\"", "{\"a\":}", "eyJhY2Nlc3NfdG9rZW4iOnt9fQ=="])
  func `bad-claims-json: what is not a JSON object is refused`(text: String) {
    #expect(throws: ClaimsError.notAnObject) { try Claims(json: text) }
  }

  @Test func `a huge request is refused`() {
    #expect(throws: ClaimsError.tooLarge) {
      try Claims(json: "{\"a\":\"\(String(repeating: "x", count: Claims.limit))\"}")
    }
    // One that becomes longer in canonical form.
    #expect(throws: ClaimsError.tooLarge) {
      try Claims(json: "{\"a\":\"\(String(repeating: "\u{7F}", count: Claims.limit / 2))\"}")
    }
  }

  @Test func `equal requests are equal however they are written`() throws {
    #expect(try Claims(json: #"{"b": 1, "a": [1.5, "x/y"]}"#) == Claims(json: #"{ "a" : [1.5,"x\/y"],"b":1 }"#))
    #expect(try Claims(json: #"{"a":1}"#) != Claims(json: #"{"a":2}"#))
  }
}
