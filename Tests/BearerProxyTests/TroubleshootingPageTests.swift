// deploy/troubleshooting.md has the cures of the program.

import CProgram
import FoundationEssentials
import Proxy
import Telemetry
import TestSupport
import Testing
import Tokens

@testable import bearer_proxy

@Suite struct `Troubleshooting page` {
  static let page = String(cString: troubleshooting_page())

  @Test func `the program prints the committed page`() throws {
    let committed = try String(contentsOfFile: testsDirectory + "/../deploy/troubleshooting.md", encoding: .utf8)
    #expect(committed == Self.page)
  }

  /// Every cure that the program gives, with general parts.
  static let cures =
    ProviderCure.allCases.map(\.page) + UpstreamCure.allCases.map(\.page) + TLSCure.allCases.map(\.page)
    + CacheCure.allCases.map(\.page) + SignInCure.allCases.map(\.page) + NextStep.allCases.map(\.rawValue)
    + InteractionReason.allCases.map { OperatorCommands(configuration: "FILE").advice($0, route: "NAME") }

  @Test(arguments: cures) func `the page has every cure`(cure: String) {
    let words = Self.page.split { $0 == " " || $0 == "\n" }
    #expect(words.joined(separator: " ").contains(cure))
  }

  @Test func `every entry has a cause and a cure`() {
    let entries = Self.page.split(separator: "\n- `").dropFirst()
    #expect(entries.count > 400)
    for entry in entries {
      let parts = entry.split(separator: "`\\\n  ", maxSplits: 1)
      let sentences = parts.last.map { $0.replacing("\n", with: " ").split(separator: "**Cure:** ") }
      #expect(parts.count == 2 && sentences?.count == 2, "\(entry)")
    }
  }
}
