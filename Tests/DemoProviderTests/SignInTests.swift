// Signing in: the order of pages for every prompt, and the checks that cannot be passed.

import Bytes
import FoundationEssentials
import HTTPServer
import Testing
import Tokens

@testable import DemoProvider

@Suite("Signing in") struct SignInTests {
  typealias Sample = DemoFixture.Sample

  @Test func `password, consent, code: and the next sign-in needs none of them`() throws {
    let person = try PersonAtBrowser()
    let first = try person.authorize()
    #expect(first.status == 200)
    #expect(first.heading == "Sign in")
    #expect(first.field("set-cookie")?.hasSuffix("; Path=/; Secure; HttpOnly; SameSite=Lax") == true)
    let wrong = try person.signIn(on: first, password: "guess")
    #expect(wrong.text.contains("role=\"alert\">The user name or the password is wrong."))
    let consent = try person.signIn(on: wrong)
    #expect(consent.heading == "Orders desk asks for your permission")
    for words in ["See your orders", "Orders.Read", "Keep the access you give", "alice@contoso.example", "Contoso"] {
      #expect(consent.text.contains(words))
    }
    let reply = try #require(PersonAtBrowser.Reply(person.press("accept", on: consent)))
    #expect(reply["state"] == "s 1&2")
    #expect(reply["code"]?.isEmpty == false)
    #expect(try PersonAtBrowser.Reply(person.authorize())?["code"]?.isEmpty == false)
  }

  struct Row: Sendable, CustomTestStringConvertible {
    var name: String
    var testDescription: String { name }
    /// The people who are signed in before, all with consent.
    var signedIn: [String] = []
    var change: [String: String] = [:]
    /// The next page; nil if the answer goes to the application.
    var heading: String?
    /// The error that goes to the application; nil: a code.
    var error: String?
    /// Seconds since the password was typed.
    var later: Int64 = 0
    /// The user name that the page holds already.
    var filledIn: String?
  }

  static let rows: [Row] = [
    Row(name: "nobody", heading: "Sign in"),
    Row(name: "one", signedIn: [Sample.alice]),
    Row(name: "two", signedIn: [Sample.alice, Sample.bob], heading: "Choose an account"),
    Row(
      name: "two, one hinted at", signedIn: [Sample.alice, Sample.bob], change: ["login_hint": "Bob@Contoso.example"]),
    Row(
      name: "somebody else hinted at", signedIn: [Sample.alice], change: ["login_hint": Sample.bob], heading: "Sign in",
      filledIn: Sample.bob),
    Row(
      name: "login", signedIn: [Sample.alice], change: ["prompt": "login", "login_hint": Sample.alice],
      heading: "Sign in", filledIn: Sample.alice),
    Row(
      name: "select_account", signedIn: [Sample.alice], change: ["prompt": "select_account"],
      heading: "Choose an account"),
    Row(name: "select_account, nobody", change: ["prompt": "select_account"], heading: "Sign in"),
    Row(
      name: "consent again", signedIn: [Sample.alice], change: ["prompt": "consent"],
      heading: "Orders desk asks for your permission"),
    Row(name: "none, nobody", change: ["prompt": "none"], error: "login_required"),
    Row(name: "none, one", signedIn: [Sample.alice], change: ["prompt": "none"]),
    Row(
      name: "none, two", signedIn: [Sample.alice, Sample.bob], change: ["prompt": "none"], error: "interaction_required"
    ),
    Row(
      name: "none, another hinted at", signedIn: [Sample.alice], change: ["prompt": "none", "login_hint": Sample.bob],
      error: "login_required"),
    Row(
      name: "none, no consent yet", signedIn: [Sample.alice],
      change: ["prompt": "none", "scope": "openid api://ledger/Ledger.Read"], error: "consent_required"),
    Row(
      name: "none, signed in too long ago", signedIn: [Sample.alice], change: ["prompt": "none", "max_age": "60"],
      error: "login_required", later: 61),
    Row(name: "recently enough", signedIn: [Sample.alice], change: ["max_age": "60"], later: 60),
    Row(
      name: "too long ago", signedIn: [Sample.alice], change: ["max_age": "60"], heading: "Sign in", later: 61,
      filledIn: Sample.alice),
    Row(
      name: "more scopes than consented to", signedIn: [Sample.alice],
      change: ["scope": "openid api://orders/Orders.Write"], heading: "Orders desk asks for your permission"),
    Row(
      name: "an unknown scope", signedIn: [Sample.alice], change: ["scope": "api://orders/Orders.Burn"],
      error: "invalid_scope"),
    Row(
      name: "an unknown API", signedIn: [Sample.alice], change: ["scope": "api://void/A.B"], error: "invalid_resource"),
    Row(name: "no scope", change: ["scope": ""], error: "invalid_request"),
    Row(name: "no PKCE", change: ["code_challenge": ""], error: "invalid_request"),
    Row(name: "PKCE that proves nothing", change: ["code_challenge_method": "plain"], error: "invalid_request"),
    Row(name: "a token at once", change: ["response_type": "token"], error: "invalid_request"),
    Row(name: "claims that are no JSON", change: ["claims": "a"], error: "invalid_request"),
  ]

  @Test(arguments: rows) func `the next page depends on the accounts and on the prompt`(row: Row) throws {
    let person = try PersonAtBrowser()
    for user in row.signedIn { _ = try person.code(user, ["prompt": "login"]) }
    person.now = person.now + row.later
    let answer = try person.authorize(row.change)
    #expect(answer.heading == row.heading, "\(answer.field("location") ?? "")")
    if row.heading == nil {
      let reply = try #require(PersonAtBrowser.Reply(answer))
      #expect(reply["error"] == row.error)
      #expect((reply["code"] == nil) == (row.error != nil))
      #expect(reply["state"] == "s 1&2")
      #expect((reply["error_description"]?.hasPrefix("AADSTS") == true) == (row.error != nil))
    }
    if let name = row.filledIn { #expect(answer.text.contains("value=\"\(name)\"")) }
  }

  @Test(arguments: [
    (["redirect_uri": "https://evil.example/"], 400), (["redirect_uri": "http://localhost.evil.example"], 400),
    (["redirect_uri": ""], 400), (["client_id": "nobody"], 400),
  ]) func `an untrusted redirect URI gets no answer`(change: [String: String], status: Int) throws {
    let answer = try PersonAtBrowser().authorize(change)
    #expect(answer.status == status)
    #expect(answer.field("location") == nil)
    #expect(answer.heading == "That did not work")
  }

  @Test(arguments: [
    ("http://localhost", true), ("http://localhost:1234", true), ("http://localhost:1234/", true),
    ("http://127.0.0.1:9", true), ("http://localhost/path", false), ("https://localhost:1", false),
    ("http://localhost:1/?a=b", false), ("http://127.0.0.2", false), ("http://localhost@evil.example", false),
    ("javascript:alert(1)", false), ("", false), ("https://localhost:1/tls", true), ("http://localhost:1/tls", false),
    ("https://127.0.0.1:1/tls", false),
  ]) func `a loopback redirect may have any port and nothing else`(uri: String, isAllowed: Bool) {
    let registered = ["http://localhost", "http://127.0.0.1", "https://localhost/tls"]
    let application = Application(client: "", object: "", name: "", redirectURIs: registered)
    #expect(application.allows(redirectURI: uri) == isAllowed)
  }

  @Test func `the answer can come as a form that posts itself, escaped`() throws {
    let person = try PersonAtBrowser()
    _ = try person.code()
    let answer = try person.authorize(["response_mode": "form_post", "state": "\"><script>"])
    #expect(answer.status == 200)
    #expect(answer.text.contains("<form method=\"post\" action=\"http://localhost:4711\">"))
    #expect(answer.between("name=\"code\" value=\"", "\"")?.isEmpty == false)
    #expect(answer.between("name=\"state\" value=\"", "\"") == "&quot;&gt;&lt;script&gt;")
    let policy = try #require(answer.field("content-security-policy"))
    #expect(policy.contains("form-action http://localhost:4711;"))
    #expect(policy.contains("script-src 'sha256-"))
  }

  @Test func `a denial or cancellation is reported to the application`() throws {
    let person = try PersonAtBrowser()
    let consent = try person.signIn(on: person.authorize())
    #expect(try PersonAtBrowser.Reply(person.press("decline", on: consent))?["error"] == "access_denied")
    let again = try PersonAtBrowser()
    let page = try again.authorize()
    #expect(try PersonAtBrowser.Reply(again.press("cancel", on: page))?["error"] == "access_denied")
    // The page's form is good once.
    #expect(try again.press("cancel", on: page).status == 400)
  }

  @Test func `another person may sign in beside a signed-in one`() throws {
    let person = try PersonAtBrowser()
    _ = try person.code()
    let choice = try person.authorize(["prompt": "select_account"])
    #expect(choice.text.contains("Alice Arden"))
    let chosen = try person.press(
      "account", on: choice, ["account": try #require(choice.between("name=\"account\" value=\"", "\""))])
    #expect(PersonAtBrowser.Reply(chosen)?["code"] != nil)
    let other = try person.press("another", on: person.authorize(["prompt": "select_account"]))
    #expect(other.heading == "Sign in")
    #expect(try person.signIn(Sample.bob, on: other).heading == "Orders desk asks for your permission")
  }

  @Test func `a stranger is told so at the door of the tenant, and a guest comes in`() throws {
    let person = try PersonAtBrowser()
    let stranger = try person.signIn(Sample.alice, on: person.authorize(tenant: Sample.fabrikam))
    #expect(stranger.heading == "Sign in")
    #expect(stranger.text.contains("does not exist in tenant &#39;Fabrikam&#39;"))
    #expect(try person.signIn(Sample.fay, on: stranger).heading == "Orders desk asks for your permission")
    #expect(try PersonAtBrowser().code(Sample.fay, tenant: Sample.tenant).isEmpty == false)
  }

  @Test func `a form from another browser, or too late, is refused`() throws {
    let person = try PersonAtBrowser()
    let page = try person.authorize()
    let other = PersonAtBrowser(person.provider)
    _ = try other.authorize()
    #expect(try other.signIn(on: page).heading == "That did not work")
    person.now = person.now + Interaction.lifetime
    #expect(try person.signIn(on: page).heading == "That did not work")
  }

  @Test(arguments: [("origin", "https://evil.example"), ("origin", "null"), ("sec-fetch-site", "cross-site")])
  func `a form that a page of another site sends is refused`(name: String, value: String) throws {
    let provider = try DemoFixture.provider()
    for path in ["/device", "/\(Sample.tenant)/oauth2/v2.0/interaction"] {
      let request = DemoRequest(method: "POST", path: path, fields: [(name, value)], body: .whole(Array("a=b".utf8)))
      let answer = provider.answer(request, now: DemoFixture.now)
      #expect(answer.status == 403 && answer.text.contains("a page of another site"), "\(answer.text)")
    }
  }

  @Test func `an account that is not signed in here cannot be chosen, nor consent given before its page`() throws {
    let person = try PersonAtBrowser()
    let page = try person.authorize()
    #expect(try person.press("account", on: page, ["account": "c0a7050d-0000-4000-8000-0000000000d1"]).status == 400)
    #expect(try person.press("accept", on: person.authorize()).status == 400)
  }

  @Test func `signing out ends the sessions of the browser`() throws {
    let person = try PersonAtBrowser()
    _ = try person.code()
    _ = person.send("GET", "/\(Sample.tenant)/oauth2/v2.0/logout")
    #expect(try person.authorize().heading == "Sign in")
  }

  @Test func `every page is plain: no script, no frame, no cache, nothing from elsewhere`() throws {
    let person = try PersonAtBrowser()
    let signIn = try person.authorize(["login_hint": "\"><b>x"])
    #expect(signIn.text.contains("value=\"&quot;&gt;&lt;b&gt;x\""))
    for page in [
      signIn, try person.signIn(on: signIn), person.send("GET", "/device"), try person.authorize(["client_id": ""]),
    ] {
      let policy = try #require(page.field("content-security-policy"))
      #expect(policy.hasPrefix("default-src 'none'; style-src 'sha256-"))
      #expect(policy.contains("frame-ancestors 'none'"))
      #expect(!policy.contains("script-src"))
      #expect(!page.text.contains("<script"))
      #expect(page.field("x-frame-options") == "DENY")
      #expect(page.field("cache-control") == "no-store")
      #expect(page.text.contains("<html lang=\"en\">"))
    }
  }
}
