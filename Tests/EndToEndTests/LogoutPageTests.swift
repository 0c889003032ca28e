// The page for signing out: its callers, and the removed tokens.

import DemoProvider
import TestSupport
import Testing

@Suite("Signing out at the pages", .timeLimit(.minutes(8))) struct LogoutPageTests {
  private typealias Sample = DemoDirectory.Sample
  private static let page = "/.bearer/logout?route=my-orders"

  private func press(
    _ stage: SignInStage, _ page: Answer, _ change: [String: String] = [:], _ arguments: [String] = [],
    jar: String = "jar"
  ) async throws -> Answer {
    try await stage.browse(
      "/.bearer/logout", form(of: page, change, fields: ["route", "seal", "account"]) + arguments, jar: jar)
  }

  @Test func `the account leaves the cache, and the browser goes to the provider's end of the session`() async throws {
    let stage = try await SignInStage(signIn: "{logout: true}")
    #expect(try await stage.browse(Self.page).heading == "No account is signed in")
    #expect(try await stage.signIn().status == 303)
    #expect(try await eventually { try await stage.browse("/my/orders/list").status == 200 })
    let page = try await stage.browse(Self.page)
    #expect(page.status == 200 && page.heading == "Sign out" && page.body.contains(Sample.alice))
    let done = try await press(stage, page)
    #expect(done.status == 303, "\(done.body)")
    let location = try #require(done["location"])
    #expect(location.hasPrefix("\(stage.services.providerOrigin)/\(Sample.tenant)/oauth2/v2.0/logout?client_id="))
    let back = stage.origin.replacing(":", with: "%3A").replacing("/", with: "%2F") + "%2F.bearer%2Fsigned-out"
    #expect(location.hasSuffix("&post_logout_redirect_uri=\(back)"), "\(location)")
    #expect(!location.contains("id_token"))
    #expect(try await stage.browse("/.bearer/signed-out").heading == "You are signed out")
    #expect(!stage.directory.read("cache.json").contains("refreshtoken"))
    #expect(try await eventually { try await stage.browse("/my/orders/list").status == 401 })
  }

  @Test func `a sign-out needs a form that this proxy made for this browser`() async throws {
    let stage = try await SignInStage(signIn: "{logout: true}")
    #expect(try await stage.signIn().status == 303)
    let page = try await stage.browse(Self.page)
    let question = try await stage.browse(SignInStage.link)
    let seal = try #require(question.body.between("name=\"seal\" value=\"", "\""))
    for (heading, answer) in [
      ("Changed form", try await press(stage, page, ["seal": seal])),
      ("Changed form", try await press(stage, page, ["seal": "1.x"])),
      ("Changed form", try await press(stage, page, ["route": "bobs-orders"])),
      ("No cookie", try await press(stage, page, jar: "empty")),
      ("Refused", try await press(stage, page, [:], ["-H", "Sec-Fetch-Site: cross-site"])),
      ("No account is signed in", try await press(stage, page, ["account": "another"])),
    ] {
      #expect(answer.heading == heading, "\(answer.body)")
    }
    #expect(try await stage.browse("/my/orders/list").status == 200)
    // And the other way round.
    let out = try #require(page.body.between("name=\"seal\" value=\"", "\""))
    #expect(try await stage.press(question, ["seal": out]).heading == "Changed form")
  }

  @Test(.enabled(if: hasBrowser, "no browser: apt-get install chromium chromium-driver"))
  func `Chromium signs out here and at the provider, and comes back`() async throws {
    let stage = try await SignInStage(signIn: "{logout: true}")
    try await walk(
      "logout_browser.py",
      [
        "--origin", stage.origin, "--route",
        "my-orders", "--back", "/my/orders/list",
      ], expecting: "ok: no policy was broken")
  }
}
