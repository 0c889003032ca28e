import HTTP
import Testing

@Suite struct ExpectContinueTests {
  @Test(
    arguments: [
      ("1.1", "", .none), ("1.1", "Expect: 100-continue\r\n", .continue100),
      ("1.1", "Expect: 100-Continue\r\nExpect: 100-continue\r\n", .continue100), ("1.1", "Expect:\r\n", .none),
      ("1.1", "Expect: 100-continue, x\r\n", .unknown), ("1.1", "Expect: 100-continue=1\r\n", .unknown),
      ("1.1", "Expect: 100-continue\r\nExpect: x\r\n", .unknown), ("1.0", "Expect: 100-continue\r\n", .none),
    ] as [(String, String, ExpectContinue)])
  func `only 100-continue is an expectation, and only in HTTP 1.1`(
    version: String, fields: String, expected: ExpectContinue
  ) {
    let expectation = withRequest("POST / HTTP/\(version)\r\nHost: h\r\n\(fields)\r\n") { ExpectContinue.of($0, $1) }
    #expect(expectation == expected)
  }
}
