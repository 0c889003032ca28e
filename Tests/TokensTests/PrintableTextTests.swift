import Testing
import Tokens

@Suite struct PrintableTextTests {
  @Test(arguments: [
    ("AADSTS50076: use a second factor", "AADSTS50076: use a second factor"),
    ("\u{1B}[2J\u{1B}]0;owned\u{07}", " [2J ]0;owned "),
    ("one\r\ntwo\u{2028}three\u{85}four", "one  two three four"),
    ("safe \u{202E}exe.txt\u{2066}", "safe  exe.txt "),
    ("zero\u{0}\u{7F}\u{9B}31m", "zero   31m"),
    ("Ünïcode 例", "Ünïcode 例"),
    ("", ""),
  ])
  func `a terminal is given nothing that it would obey`(text: String, shown: String) {
    #expect(text.printable(limit: 100) == shown)
  }

  @Test(arguments: [
    ("AADSTS65001: consent is missing", 31, "AADSTS65001: consent is missing"),
    ("AADSTS65001: consent is missing", 30, "AADSTS65001: consent is …"),
    ("trace 0123456789", 10, "trace …"), ("0123456789", 4, "0123"), ("", 4, ""),
  ])
  func `codes are whole, or left out`(text: String, limit: Int, shown: String) {
    #expect(text.printable(words: limit) == shown)
  }

  @Test func `no more is shown than the limit`() {
    #expect(String(repeating: "a", count: 10_000).printable(limit: 80) == String(repeating: "a", count: 80))
  }
}
