// The sign-in pages in a real browser: headless Chromium, driven by Tests/peers/browser.py.

import DemoProvider
import FoundationEssentials
import TestSupport
import Testing

/// Whether there is a browser to drive. Tests/run installs one where it can.
private let hasBrowser = ["chromium", "chromedriver"].allSatisfy {
  FileManager.default.isExecutableFile(atPath: "/usr/bin/\($0)")
}

@Suite(
  "Sign-in pages in a browser", .timeLimit(.minutes(3)),
  .enabled(if: hasBrowser, "no browser: apt-get install chromium chromium-driver, and Tests/run does it where it can"))
struct SignInBrowserTests {
  @Test func `Chromium signs in, consents, declines, comes back, and is refused what it should be`() async throws {
    let stage = try await SignInPageTests.Stage()
    let result = try await run(
      [
        "/usr/bin/python3", testsDirectory + "/peers/browser.py", "--origin", stage.origin, "--route", "my-orders",
        "--return", "/my/orders/list",
        "--strong", "/my/orders/payouts",
      ], within: .seconds(150))
    await stage.services.stop()
    #expect(result.status == 0, "\(result.output)\(result.errors)")
    #expect(result.output.contains("ok: no policy was broken"))
  }
}
