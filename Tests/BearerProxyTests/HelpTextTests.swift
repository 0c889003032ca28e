import FoundationEssentials
import TestSupport
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

  private func page(_ name: String) throws -> String {
    try String(contentsOfFile: testsDirectory + "/../\(name)", encoding: .utf8)
  }

  @Test func `the table of README has every command, and no other`() throws {
    let section = try page("README.md").split(separator: "## Commands\n")[1].split(separator: "\n## ")[0]
    let rows = section.split(separator: "\n").filter { $0.hasPrefix("| `") }
    let listed = rows.flatMap { $0.split(separator: "|")[0].split { !$0.isLowercase }.map(String.init) }
    #expect(listed.sorted() == CommandName.allCases.map(\.rawValue).sorted())
  }

  @Test func `the pages about commands name every option, and no other`() throws {
    let pages = try page("deploy/operations.md") + page("config/sign-in.md")
    let words = pages.split { !$0.isLowercase && $0 != "-" }.filter { $0.hasPrefix("--") && !$0.hasPrefix("---") }
    let named = words.map { String($0.dropFirst(2)) }.filter { !$0.isEmpty }
    #expect(Set(named) == Set(Option.allCases.map(\.rawValue)))
  }
}
