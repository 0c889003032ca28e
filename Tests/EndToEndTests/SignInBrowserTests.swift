// The sign-in pages in a real browser: headless Chromium, driven by Tests/peers/browser.py.

import DemoProvider
import FoundationEssentials
import TestSupport
import Testing

/// True if there is a browser to drive. Tests/run installs one if it can.
let hasBrowser = ["chromium", "chromedriver"].allSatisfy {
  FileManager.default.isExecutableFile(atPath: "/usr/bin/\($0)")
}

/// BEARER_PROXY_PICTURES=DIR keeps pictures of the browser's pages, for those who change them.
let pictures = ProcessInfo.processInfo.environment["BEARER_PROXY_PICTURES"].map { ["--screenshots", $0] } ?? []

/// Runs a script of Tests/peers with Debian's Python, which has to succeed and to say this.
func walk(_ script: String, _ arguments: [String], expecting words: String) async throws {
  let command = ["/usr/bin/python3", testsDirectory + "/peers/" + script] + arguments
  let result = try await run(command, within: .seconds(600))
  #expect(result.status == 0, "\(result.output)\(result.errors)")
  #expect(result.output.contains(words), "\(result.output)")
}

@Suite(
  "Sign-in pages in a browser", .timeLimit(.minutes(12)),
  .enabled(if: hasBrowser, "no browser: apt-get install chromium chromium-driver, and Tests/run does it where it can"))
struct SignInBrowserTests {
  @Test func `Chromium signs in, consents, declines, comes back, and is refused what it should be`() async throws {
    let stage = try await SignInStage()
    try await walk(
      "browser.py",
      [
        "--origin", stage.origin, "--route", "my-orders",
        "--return", "/my/orders/list", "--strong", "/my/orders/payouts", "--more", "/my/orders/uploads", "--drafts",
        "/my/orders/drafts", "--neighbour",
        // Of another origin, and of the same site: what is worse than another.
        "--elsewhere", "http://127.0.0.1:\(stage.proxy.port)/open/none",
      ] + pictures, expecting: "ok: no policy was broken")
  }

  @Test func `Chromium is told what came too late, and can begin again`() async throws {
    let stage = try await SignInStage(signIn: "{limit: 2s}")
    try await walk(
      "browser.py",
      [
        "--origin", stage.origin, "--route", "my-orders",
        "--return", "/my/orders/list", "--limit", "2",
      ] + pictures, expecting: "ok: who comes back too late is told so")
  }

  @Test func `Chromium signs in for login, whatever pages of other sites send to its port`() async throws {
    let scene = try DemoScene()
    let proxy = try await scene.proxy([scene.route("open")])
    let login = try Login(proxy.configuration, ["--route", "open"])
    let result = try await run(
      ["/usr/bin/python3", testsDirectory + "/peers/login_browser.py", "--start", try await login.start()] + pictures,
      within: .seconds(500))
    #expect(result.status == 0, "\(result.output)\(result.errors)")
    #expect(result.output.contains("ok: no policy was broken"))
    #expect(try await login.result().status == 0)
    #expect(try await eventually { try await proxy.get("/open/list").status == 200 })
  }
}
