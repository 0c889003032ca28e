// A secret's description, and its equality.

import Bytes
import Testing

@Suite struct SecretTests {
  private struct Holder { var label = "key"; var secret: Secret }

  @Test func `no textual form holds the bytes`() {
    let secret = Secret("s3cret-value")
    var dumped = ""
    dump(Holder(secret: secret), to: &dumped)
    let forms = [
      "\(secret)", String(describing: secret), String(reflecting: secret), "\(Holder(secret: secret))",
      "\([secret])", dumped, String(describing: Optional(secret)),
    ]
    for form in forms { #expect(!form.contains("s3cret"), "\(form)") }
    #expect("\(secret)" == "[secret]")
  }

  @Test func `the bytes are what was put in`() {
    let secret = Secret("ab\u{E9}")
    #expect(secret.revealed() == "ab\u{E9}")
    #expect(secret.count == 4)
    #expect(secret.bytes[0] == 0x61 && secret.bytes[3] == 0xA9)
  }

  @Test(arguments: [
    ("", "", true), ("a", "", false), ("secret", "secret", true), ("secret", "secreT", false),
    ("Xecret", "secret", false),
    ("secret", "secret ", false),
  ])
  func `two secrets are equal when their bytes are`(left: String, right: String, equal: Bool) {
    #expect((Secret(left) == Secret(right)) == equal)
  }
}
