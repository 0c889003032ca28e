// deploy/troubleshooting.md has the cures of the program.

import FoundationEssentials
import Telemetry
import TestSupport
import Testing

@testable import bearer_proxy

@Suite struct `Troubleshooting page` {
  static func page() throws -> String {
    try String(contentsOfFile: testsDirectory + "/../deploy/troubleshooting.md", encoding: .utf8)
  }

  @Test func `the program prints the committed page`() throws {
    #expect(try Self.page() == troubleshootingPage(), "bearer-proxy troubleshooting > deploy/troubleshooting.md")
  }

  @Test func `the page has every cure, and marks no other`() throws {
    let marks = try Self.page().split(separator: "<!--").dropFirst().compactMap { $0.split(separator: "-->").first }
    #expect(Set(marks) == Set(Cure.allCases.map { $0.rawValue[...] } + ["/"]))
  }

  @Test func `a changed cure is written anew, and words of the page's own stay`() {
    let page = { (first: String, second: String) in
      """
      - `a message`\\
        Its cause. **Cure:**<!--cacheFirewall--> \(first)<!--/--> `ls -l`. Else:<!--signInPort-->\(second)

      Another paragraph
      stays.
      """
    }
    let renewed = page("Does a firewall drop what goes there?", "\n  Another program may use that port.")
    #expect(troubleshootingPage(page("Former\n  words.", " Former.")) == renewed)
    #expect(troubleshootingPage(renewed) == renewed)
  }

  @Test func `every entry has a cause and a cure`() throws {
    let entries = try Self.page().split(separator: "\n- `").dropFirst()
    #expect(entries.count > 400)
    for entry in entries {
      let parts = entry.split(separator: "`\\\n  ", maxSplits: 1)
      let sentences = parts.last.map { $0.replacing("\n", with: " ").split(separator: "**Cure:**") }
      #expect(parts.count == 2 && sentences?.count == 2, "\(entry)")
    }
  }
}
