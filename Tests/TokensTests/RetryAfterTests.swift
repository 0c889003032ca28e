import Bytes
import Testing
import Tokens

@Suite struct RetryAfterTests {
  // 1994-11-06T08:49:37Z is 784111777, RFC 9110's example.
  private static let now = UnixTime(784_111_777 - 120)

  @Test(
    arguments: [
      ("120", 120), (" 5 ", 5), ("0", 1), ("7200", 3600), ("99999999999999999999", 3600),
      ("Sun, 06 Nov 1994 08:49:37 GMT", 120), ("Sunday, 06-Nov-94 08:49:37 GMT", 120),
      ("Sun Nov  6 08:49:37 1994", 120),
      ("Sun, 06 Nov 1994 08:00:00 GMT", 1), ("Mon, 07 Nov 1994 08:49:37 GMT", 3600),
      ("", nil), ("soon", nil), ("-5", nil), ("1.5", nil), ("+5", nil), ("Sun, 06 Nov 1994 08:49:37 CET", nil),
      ("Sun, 32 Nov 1994 08:49:37 GMT", nil), ("Sun, 06 Foo 1994 08:49:37 GMT", nil),
      ("Sun, 06 Nov 1994 08:49 GMT", nil),
      ("Sun, 06 Nov 1994 25:49:37 GMT", nil),
    ] as [(String, Int64?)])
  func `seconds or a date become seconds from 1 to 3600`(field: String, seconds: Int64?) {
    #expect(RetryAfter(field: field, now: Self.now)?.seconds == seconds)
  }

  @Test(
    arguments: [
      ("Thu, 29 Feb 2024 00:00:10 GMT", 1_709_164_800), ("Fri, 01 Mar 2024 00:00:10 GMT", 1_709_251_200),
      ("Thu, 01 Jan 2026 00:00:10 GMT", 1_767_225_600), ("Thursday, 01-Jan-26 00:00:10 GMT", 1_767_225_600),
    ] as [(String, Int64)])
  func `dates follow the calendar`(field: String, now: Int64) {
    #expect(RetryAfter(field: field, now: UnixTime(now))?.seconds == 10)
  }
}
