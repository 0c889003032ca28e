import Testing

@testable import bearer_proxy

@Suite struct HelpTextTests {
  @Test(arguments: [nil] + CommandName.allCases)
  func `help fits a terminal of 80 columns`(command: CommandName?) {
    let lines = helpText(command).split(separator: "\n")
    // A path or a usage line without blanks cannot be divided.
    #expect(lines.filter { $0.count > 80 && $0.drop { $0 == " " }.contains(" ") && !$0.contains("completions/") } == [])
    #expect(lines.count > 3)
  }

  static let texts: [(String, Int, String)] = [
    ("short", 0, "short"),
    (
      String(repeating: "word ", count: 20) + "end", 2,
      String(repeating: "word ", count: 15) + "word\n  word word word word end"
    ),
    (String(repeating: "x", count: 90), 0, String(repeating: "x", count: 90)),
    ("a\n\nb", 0, "a\n\nb"),
  ]

  @Test(arguments: texts)
  func `long lines are divided at blanks`(text: String, indentation: Int, expected: String) {
    #expect(text.wrapped(indentation: indentation) == expected)
  }
}
