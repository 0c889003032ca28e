import Bytes
import Testing

@testable import Tokens

@Suite struct PlainAnswerTests {
  private static let now = UnixTime(1_700_000_000)
  private static let sent = SentSecrets([Secret("s3cret-of-mine")])

  private static func failure(
    _ status: Int, _ body: String, _ contentType: String? = "text/html; charset=utf-8"
  ) throws -> TokenFailure {
    try #require(throws: TokenFailure.self) {
      try TokenReply(
        ProviderAnswer(status: status, contentType: contentType, body: Array(body.utf8)), sent: sent, now: now)
    }
  }

  /// A status; true if it is a refusal: asking again changes nothing.
  static let statuses: [(Int, Bool)] = [
    (400, true), (401, true), (403, true), (404, true), (405, true), (407, true), (410, true), (415, true), (302, true),
    (308, true), (451, true), (408, false), (425, false), (429, false), (500, false), (502, false), (503, false),
    (200, false), (204, false),
  ]

  @Test(arguments: statuses)
  func `an answer without JSON is a refusal by its status`(status: Int, isRefusal: Bool) throws {
    let failure = try Self.failure(status, "<html>no</html>")
    #expect(failure.errorClass == (isRefusal ? .configuration : .transient))
    #expect(failure.reply?.error == (isRefusal ? "status \(status)" : nil))
    #expect(failure.reply?.isWithoutCode == (isRefusal ? true : nil))
  }

  @Test func `JSON without an error is no other answer, and an OAuth error is not hidden by its status`() throws {
    #expect(
      try Self.failure(403, #"{"message": "Forbidden"}"#, "application/json").reply?.description
        == #"application/json without an OAuth error: '{"message": "Forbidden"}'"#)
    #expect(try Self.failure(403, #"{"error": "invalid_client"}"#).reply == TokenErrorReply(error: "invalid_client"))
  }

  static let texts: [(String, String?, String)] = [
    ("", "text/html", "an empty answer without an OAuth error"),
    ("Forbidden\r\n", "text/plain", "text/plain without an OAuth error: 'Forbidden'"),
    ("no", nil, "an answer without a content type without an OAuth error: 'no'"),
    (
      "<!DOCTYPE html><html><head><title>403 Forbidden</title></head>\n<body>Ask  the\u{1B}[2J firewall</body></html>",
      "text/html; charset=utf-8", "text/html without an OAuth error: '403 Forbidden Ask the [2J firewall'"
    ),
    ("<html></html>", "text/html", "text/html without an OAuth error"),
    (
      String(repeating: "word ", count: 2000), "text/plain",
      "text/plain without an OAuth error: '" + String(repeating: "word ", count: 40) + "…'"
    ),
  ]

  @Test(arguments: texts)
  func `the beginning of its text is shown on one line, without tags`(
    body: String, contentType: String?, expected: String
  ) throws {
    let description = try #require(try Self.failure(403, body, contentType).reply?.description)
    #expect(description == expected)
    #expect(description.utf8.count < 320)
  }

  @Test(arguments: [
    "The secret s3cret-of-mine is wrong", "<p>s3cret-<b>of</b>-mine</p>", "s3cret%2Dof%2Dmine",
    String(repeating: "x ", count: 2040) + "s3cret-of-mine", "czNjcmV0LW9mLW1pbmU=",
  ])
  func `nothing of a text that repeats a secret is shown`(body: String) throws {
    let description = try #require(try Self.failure(403, body).reply?.description)
    #expect(!description.contains("s3cret") && !description.contains("czNj"))
    #expect(description.contains("repeats a secret"))
  }

  @Test func `a content type that repeats a secret is not shown`() throws {
    #expect(try Self.failure(403, "x", "s3cret-of-mine/html").reply?.description?.contains("s3cret") == false)
  }
}
