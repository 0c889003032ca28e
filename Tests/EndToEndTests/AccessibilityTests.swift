// The pages in a real browser, for people with any ability: computed contrast in both colour
// schemes, the keyboard alone, names and landmarks. Tests/peers/accessible.py says what is held to which criterion of
// WCAG.

import DemoProvider
import Glibc
import TestSupport
import Testing

@Suite(
  "Pages can be read and used", .timeLimit(.minutes(12)),
  .enabled(if: hasBrowser, "no browser: apt-get install chromium chromium-driver, and Tests/run does it where it can"))
struct AccessibilityTests {
  private typealias Sample = DemoDirectory.Sample

  @Test func `the pages on the way through a sign-in`() async throws {
    let stage = try await SignInStage()
    try await walk(
      "accessible.py",
      pictures + [
        "--walk", stage.origin, "--route", "my-orders", "--return", "/my/orders/list",
        "--elsewhere", "http://127.0.0.1:\(stage.proxy.port)/open/none", "--strong", "/my/orders/payouts",
      ], expecting: "ok: 12 kinds of pages can be read and used")
  }

  @Test func `the pages that ask for more, offer a choice, refuse or accompany a sign-in`() async throws {
    let stage = try await SignInStage(account: nil)
    // Several people, and everything that an API can want.
    for (route, user) in [("my-orders", Sample.alice), ("bobs-orders", Sample.bob)] {
      _ = try await stage.signIn("/.bearer/sign-in?route=\(route)", user: user)
    }
    let back = try await stage.browse(
      stage.atTheProvider(
        stage.press(stage.browse("/.bearer/sign-in?route=bobs-orders&return=%2Fbobs%2Forders%2Flist")), user: Sample.bob
      ),
      ["-H", "Sec-Fetch-Site: cross-site"])
    #expect(back.body.contains("http-equiv=\"refresh\""), "\(back.body)")
    for path in ["payouts", "statements"] { #expect(try await stage.proxy.get("/bobs/orders/\(path)").status == 401) }
    let refreshing = try stage.directory.write(
      back.body.replacing("http-equiv=\"refresh\"", with: "name=\"refresh\""), to: "going-back.html")
    let login = try Login(stage.proxy.configuration, ["--route", "my-orders"])
    let redirect = try #require(
      try await login.address().between("redirect_uri=http%3A%2F%2F", "&")?.replacing("%3A", with: ":"))
    let page = "\(stage.origin)/.bearer/sign-in?route="
    try await walk(
      "accessible.py",
      pictures + [
        "choice=\(page)my-orders", "more is needed=\(page)bobs-orders", "unknown link=\(page)nobody",
        "unsafe link=\(page)my-orders&return=//evil.example", "going back=file://\(refreshing)",
        "refused with a choice=\(stage.origin)/my/orders/list", "at the terminal=http://\(redirect)/nothing",
        "device=\(stage.services.providerOrigin)/device", "provider's first page=\(stage.services.providerOrigin)/",
        "no route=\(stage.origin)/no/such/route",
      ], expecting: "ok: 10 kinds of pages can be read and used")
    login.process.send(SIGTERM)
  }

  /// Without this page, a look that finds nothing would prove nothing.
  @Test func `a page with every flaw is found to have each of them`() async throws {
    let directory = try TemporaryDirectory()
    let page = try directory.write(
      """
      <!doctype html><title> </title>
      <style>
      body{background:#fff;color:#999} :focus-visible{outline:0 none} a.pale:focus-visible{outline:3px solid #eee}
      .wide{width:900px} .on{position:absolute;top:5px;left:5px} .problem{border:0} \
      .tiny{display:block;width:9px;height:9px;overflow:hidden} input{border:1px solid #ccc}
      </style>
      <h2>First</h2><h1>One</h1><h1>Two</h1><h4>Four</h4>
      <p class="problem wide">pale words</p>
      <input name="q"><a class="pale" tabindex="3" href="#y">pale</a><input type="password"><input type="radio" \
      name="r">
      <button></button><a class="tiny" href="#x">tiny</a>
      <img src="data:,"><i id="a"></i><i id="a"></i>
      <label>which <input aria-invalid="true"></label>
      <div class="on">one text</div><div class="on">another</div><footer class="wide">wide</footer>
      """, to: "bad.html")
    let result = try await run([
      "/usr/bin/python3", testsDirectory + "/peers/accessible.py", "bad=file://\(page)",
    ])
    #expect(result.status == 1)
    for flaw in [
      "no language", "no title", "not one h1", "h1 is not the first heading", "a level of headings is left out",
      "not one main", "h1 is not in main", "no viewport", "text outside every landmark",
      "a control without a name: <input",
      "a control without a name: <button", "a small target", "choice without a legend", "a password that is not said",
      "picture without words", "a problem that is not announced", "an id twice", "an order of its own",
      "light: text 2.8", "light: edge of a field", "dark: the page is not", "focus cannot be seen", "focus contrast 1.",
      "Tab does not go", "it scrolls sideways", "forced colours, light: no edge", "text at 200 %: the footer is wider",
      "text at 100 %: 'another' is on 'one text'", "a screen reader has no name for a button",
      "a screen reader finds 0 of: main", "a screen reader has no title", "does not say what is wrong with: which",
    ] { #expect(result.errors.contains(flaw), "\(flaw) is not in: \(result.errors)") }
  }
}
