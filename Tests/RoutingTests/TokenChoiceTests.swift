// The token that a request picks by a field.

import Bytes
import HTTP
import Routing
import Testing

@Suite struct TokenChoiceTests {
  private static let choice = TokenChoice(field: "X-Account", values: [("bob", 4), ("mail", 7)])

  @Test(
    arguments: [
      ("", .usual), ("x-account: bob", .slot(4)), ("X-ACCOUNT: mail", .slot(7)), ("X-Account: Bob", .refused),
      ("X-Account: ", .refused), ("X-Account: bob, mail", .refused), ("X-Account: eve", .refused),
      ("X-Account: bob\r\nX-Account: bob", .refused), ("X-Account: bob\r\nX-Account: eve", .refused),
      ("X-Accounts: eve", .usual), ("Host-X-Account: eve", .usual),
    ] as [(String, TokenChoice.Verdict)])
  func `only what is listed can be picked, and only once`(fields: String, expected: TokenChoice.Verdict) throws {
    let text = "GET / HTTP/1.1\r\nHost: a\r\n" + (fields.isEmpty ? "" : fields + "\r\n") + "\r\n"
    try withRequest(text) { head, buffer in
      let verdict = buffer.withBytes { Self.choice.verdict(head, $0) }
      #expect(verdict == expected)
    }
  }
}
