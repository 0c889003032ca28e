// deploy/troubleshooting.md and the cures of the program are one table.

import FoundationEssentials
import Telemetry
import TestSupport
import Testing

@testable import bearer_proxy

@Suite struct `Troubleshooting page` {
  @Test func `the committed page is what the program prints`() throws {
    let committed = try String(contentsOfFile: testsDirectory + "/../deploy/troubleshooting.md", encoding: .utf8)
    #expect(committed == TroubleshootingPage.text, "bearer-proxy troubleshooting > deploy/troubleshooting.md")
  }

  /// Every cure that the program gives, with general parts.
  static let cures =
    ProviderCure.allCases.map(\.page) + UpstreamCure.allCases.map(\.page) + TLSCure.allCases.map(\.page)
    + CacheCure.allCases.map(\.page) + SignInCure.allCases.map(\.page) + NextStep.allCases.map(\.rawValue)

  @Test(arguments: cures) func `the page has every cure`(cure: String) {
    let words = TroubleshootingPage.text.split { $0 == " " || $0 == "\n" }
    #expect(words.joined(separator: " ").contains(cure))
  }

  @Test func `every entry has a cause and a cure`() {
    let entries = TroubleshootingPage.text.split(separator: "\n- `").dropFirst()
    #expect(entries.count > 400)
    for entry in entries {
      let parts = entry.split(separator: "`\\\n  ", maxSplits: 1)
      let sentences = parts.last.map { $0.replacing("\n", with: " ").split(separator: "**Cure:** ") }
      #expect(parts.count == 2 && sentences?.count == 2, "\(entry)")
    }
  }
}
