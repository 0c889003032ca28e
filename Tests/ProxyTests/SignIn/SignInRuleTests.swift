// The rules of the sign-in pages: what may be returned to, whose form and whose answer it is, what is said.

import Bytes
import HTTP
import HTTPClient
import Identity
import Platform
import Telemetry
import Testing
import Tokens

@testable import Proxy

@Suite("Sign-in rules") struct SignInRuleTests {
  static let now = UnixTime(1_800_000_000)
  static let browser = String(repeating: "b", count: 43)

  @Test(arguments: [
    ("/", true), ("/orders/list?a=1&b=%2F", true), ("/a//b", true), ("", false), ("orders", false),
    ("//evil.example", false),
    ("/\\evil.example", false), ("/\t/evil.example", false), ("/\n/evil.example", false),
    ("https://evil.example/", false),
    ("javascript:alert(1)", false), ("/a b", false), ("/a#b", false), ("/é", false), ("/.bearer/sign-in", false),
    ("/%2ebearer/sign-in", false), ("/x/../.bearer/callback?code=C", false), ("/%2e%2e/.bearer/sign-in", false),
    ("/;a/.bearer/sign-in", false), ("/a/.bearer/sign-in", true), ("/a?b=/.bearer/sign-in", true),
    ("/" + String(repeating: "a", count: 2048), false),
  ]) func `a browser returns to a path of the listener only`(text: String, isAllowed: Bool) {
    #expect((ReturnPath(text) != nil) == isAllowed)
  }

  @Test func `a page replaces an answer that one more sign-in can change`() {
    for challenge in [nil] + RecordedChallenge.allCases {
      let isMet = challenge == .claims || challenge == .insufficientScope || challenge == .stepUp
      #expect(SignInPages.reason(nil, challenge) == (isMet ? "upstream_challenge" : nil))
      // Of several who are signed in, it chooses none.
      #expect(SignInPages.reason(.accountAmbiguous, challenge) == nil)
      for reason in InteractionReason.allCases where reason != .accountAmbiguous {
        #expect(SignInPages.reason(reason, challenge) == reason.rawValue)
      }
    }
  }

  @Test(arguments: [
    ("GET", "/.bearer/sign-in", SignInEndpoint.form), ("HEAD", "/.bearer/sign-in", .form),
    ("POST", "/.bearer/sign-in", .begin), ("GET", "/.bearer/callback", .callback),
    ("GET", "/.bearer/callback/desk", .callback), ("POST", "/.bearer/callback/desk", .otherMethod(allow: "GET")),
    ("GET", "/.bearer/callbacks", .nothing),
    ("POST", "/.bearer/callback", .otherMethod(allow: "GET")),
    ("PUT", "/.bearer/sign-in", .otherMethod(allow: "GET, HEAD, POST")), ("GET", "/.bearer/", .nothing),
    ("GET", "/.bearer/sign-in/", .nothing), ("GET", "/.BEARER/sign-in", .nothing),
  ]) func `each place has its methods`(method: String, path: String, endpoint: SignInEndpoint) {
    #expect(SignInEndpoint(method: method, path: path) == endpoint)
  }

  @Test(arguments: [
    (nil, nil, SignInPageRequest.Source.unsaid), ("same-origin", nil, .ownPage), ("same-origin", "null", .ownPage),
    ("same-site", nil, .otherPage), ("cross-site", "http://localhost:8080", .otherPage), ("none", nil, .noPage),
    (nil, "null", .unsaid), (nil, "http://localhost:8080", .ownPage), (nil, "http://localhost:8081", .otherPage),
    (nil, "https://localhost:8080", .otherPage),
  ]) func `a browser tells where a form comes from`(site: String?, from: String?, source: SignInPageRequest.Source) {
    #expect(SignInPageRequest.source(site: site, from: from, own: "http://localhost:8080") == source)
  }

  @Test(arguments: [
    ("http://localhost:8080/", "bearer-sign-in-8080", "/.bearer/", false),
    ("https://p.example/", "__Host-bearer-sign-in-443", "/", true),
  ]) func `the cookie is the pages' and the listener's own`(
    url: String, name: String, path: String, isSecure: Bool
  ) throws {
    let rule = SignInOrigin(try HTTPURL(url)).cookie
    let cookie = rule.field(Self.browser, lifetime: 600)
    #expect(cookie.hasPrefix("\(name)=\(Self.browser); Path=\(path); Max-Age=600"))
    #expect(cookie.contains("; Secure") == isSecure)
    #expect(cookie.hasSuffix("; HttpOnly; SameSite=Lax"))
    let other = String(repeating: "o", count: 43)
    #expect(rule.browsers(in: "a=1; \(name)=\(Self.browser); b=2") == [Self.browser])
    #expect(rule.browsers(in: "bearer-sign-in-9=\(Self.browser)").isEmpty, "another listener's")
    #expect(rule.browsers(in: "\(name)=x; \(name)=\(Self.browser); \(name)=\(other)") == [Self.browser, other])
    #expect(rule.browsers(in: "\(name)=\(Self.browser); \(name)=\(Self.browser)") == [Self.browser])
    #expect(rule.browsers(in: "\(name)=short").isEmpty)
    #expect(rule.browsers(in: "\(name)=\(String(repeating: "\"", count: 43))").isEmpty)
    #expect(rule.browsers(in: "").isEmpty)
  }

  struct SealRow: Sendable, CustomTestStringConvertible {
    var testDescription: String
    var browser = SignInRuleTests.browser
    var form = sealed
    var later: Int64 = 0
    var verdict = SignInSeal.Verdict.forged
    var change: @Sendable (String) -> String = { $0 }
  }

  static let sealed = SignInForm(route: "orders", returnTo: ReturnPath("/a"))
  static let seals: [SealRow] = [
    SealRow(testDescription: "as it was", verdict: .good(browser: browser)),
    SealRow(testDescription: "in time", later: 599, verdict: .good(browser: browser)),
    SealRow(testDescription: "too late", later: 600, verdict: .expired),
    SealRow(testDescription: "before it was made", later: -1, verdict: .expired),
    SealRow(testDescription: "another browser", browser: String(repeating: "c", count: 43)),
    SealRow(testDescription: "another route", form: SignInForm(route: "ledger", returnTo: ReturnPath("/a"))),
    SealRow(testDescription: "another return", form: SignInForm(route: "orders", returnTo: ReturnPath("/b"))),
    SealRow(
      testDescription: "asks no more",
      form: SignInForm(route: "orders", returnTo: ReturnPath("/a"), asksBeforeReturn: true)),
    SealRow(testDescription: "no return", form: SignInForm(route: "orders")),
    SealRow(testDescription: "a younger date", later: 700) { seal in
      "\(now.seconds + 700)" + seal.drop { $0 != "." }
    },
    SealRow(testDescription: "none") { _ in "" },
    SealRow(testDescription: "no code") { $0.prefix { $0 != "." } + "." },
    SealRow(testDescription: "more behind it") { $0 + ".x" },
  ]

  @Test(arguments: seals) func `a form is good from the browser that got it, unchanged and in time`(row: SealRow) throws
  {
    let seal = SignInSeal(key: Array(repeating: 7, count: 32), lifetime: 600)
    let text = row.change(try seal.seal(Self.browser, Self.sealed, now: Self.now))
    // Beside a cookie that another service set.
    let planted = String(repeating: "p", count: 43)
    for browsers in [[row.browser], [planted, row.browser], [row.browser, planted]] {
      #expect(try seal.judge(text, browsers, row.form, now: Self.now + row.later) == row.verdict)
    }
    #expect(
      try SignInSeal(key: Array(repeating: 8, count: 32), lifetime: 600).judge(
        text, [row.browser], row.form, now: Self.now) == .forged)
  }

  @Test func `lengths keep two forms from having one seal`() throws {
    let seal = SignInSeal(key: Array(repeating: 7, count: 32), lifetime: 600)
    let one = try seal.seal("b", SignInForm(route: "a/x", returnTo: nil), now: Self.now)
    #expect(try seal.judge(one, ["b"], SignInForm(route: "a", returnTo: ReturnPath("/x")), now: Self.now) == .forged)
  }

  struct WordsRow: Sendable, CustomTestStringConvertible {
    var testDescription: String
    var claims: String?
    var scopes: [String] = ["api://orders/Orders.Read"]
    var acrValues: [String] = []
    var maxAge: Int64?
    var isSignedIn = true
    var heading: String
    var conditions: [String] = []
  }

  static let words: [WordsRow] = [
    WordsRow(testDescription: "nobody", isSignedIn: false, heading: "Sign in"),
    WordsRow(
      testDescription: "a step-up after signing out", maxAge: 0, isSignedIn: false, heading: "Sign in",
      conditions: ["that you sign in now, whenever you did before"]),
    WordsRow(testDescription: "once more", heading: "Sign in again"),
    WordsRow(
      testDescription: "more scopes", scopes: ["api://orders/Orders.Read", "api://orders/Orders.Write"],
      heading: "More permissions are needed"),
    WordsRow(
      testDescription: "an authentication context",
      claims: #"{"access_token":{"acrs":{"essential":true,"value":"c1"}}}"#,
      heading: "Confirm that it is you", conditions: ["a stronger sign-in, such as with a one-time code (c1)"]),
    WordsRow(
      testDescription: "RFC 9470", acrValues: ["mfa"], maxAge: 600, heading: "Confirm that it is you",
      conditions: ["a stronger sign-in, such as with a one-time code (mfa)", "a sign-in of the last 10 minutes"]),
    WordsRow(
      testDescription: "now", maxAge: 0, heading: "Confirm that it is you",
      conditions: ["that you sign in now, whenever you did before"]),
    WordsRow(
      testDescription: "an event", claims: #"{"access_token":{"nbf":{"essential":true,"value":"1"},"xms_cc":{}}}"#,
      heading: "Sign in again",
      conditions: ["a new token: something about your access changed since the last one"]),
    WordsRow(
      testDescription: "a policy", claims: #"{"access_token":{"capolids":{"essential":true,"values":["p"]}}}"#,
      heading: "Confirm that it is you", conditions: ["what a policy of your organisation asks for"]),
  ]

  @Test(arguments: words) func `demands are described in words`(row: WordsRow) throws {
    let need = SignInRequirement(
      claims: try row.claims.map { try Claims(json: $0) }, scopes: try ScopeSet(row.scopes),
      authenticationContexts: row.acrValues, maxAge: row.maxAge, since: Self.now)
    let configured = try ScopeSet(["api://orders/Orders.Read"])
    let requirement = RouteSignInRequirement(need, configured: configured, now: Self.now)
    let words = SignInText(requirement, configured: configured, isSignedIn: row.isSignedIn)
    #expect(words.heading == row.heading)
    #expect(words.conditions == row.conditions)
  }

  @Test func `demanded scopes join the route's scopes, except those that cannot be combined`() throws {
    let need = SignInRequirement(scopes: try ScopeSet(["api://orders/Orders.Write"]), since: Self.now)
    let some = RouteSignInRequirement(need, configured: try ScopeSet(["api://orders/Orders.Read"]), now: Self.now)
    #expect(some.scopes.description == "api://orders/Orders.Read api://orders/Orders.Write")
    let all = RouteSignInRequirement(need, configured: try ScopeSet(["api://orders/.default"]), now: Self.now)
    #expect(all.scopes.description == "api://orders/.default")
    #expect(need.isMet(by: some.met) && need.isMet(by: all.met))
  }

  @Test(arguments: [
    ("User.Read", "User.Read", nil), ("api://orders/Orders.Read", "Orders.Read", "api://orders"),
    ("https://vault.example//.default", "Everything it is registered for", "https://vault.example/"),
  ]) func `a scope is a permission at an API`(word: String, permission: String, resource: String?) {
    #expect(SignInText.scope(word) == (permission, resource))
  }

  @Test func `everything that a page shows is escaped`() throws {
    let evil = "\"><script>alert(1)</script>&'"
    let page = SignInPages().question(
      SignInPages.Question(
        words: SignInText(
          RouteSignInRequirement(
            SignInRequirement(scopes: try ScopeSet(["api://<b>/x"]), authenticationContexts: [evil], since: Self.now),
            configured: .none,
            now: Self.now), configured: .none, isSignedIn: true),
        application: evil, route: evil, account: evil, form: SignInForm(route: evil, returnTo: ReturnPath("/\"><b>")),
        seal: evil))
    let text = String(decoding: page.body, as: UTF8.self)
    #expect(!text.contains("<script"))
    #expect(!text.contains("<b>/x"))
    #expect(text.contains("value=\"/&quot;&gt;&lt;b&gt;\""))
    let declined = SignInPageFailure(.declined(TokenErrorReply(error: evil))).retrying(SignInForm(route: evil))
    let failure = SignInPages().failure(declined)
    #expect(!String(decoding: failure.body, as: UTF8.self).contains("<script"))
  }

  @Test func `a server error is not called silence, and a missing time is not called long ago`() {
    let error = SignInPageFailure(.provider(AcquisitionError(.metadata(status: 500))))
    #expect(error.heading == "The identity provider has a problem" && error.text.contains("with status 500"))
    let silence = SignInPageFailure(.provider(AcquisitionError(.unreached(.timedOut(host: "id.example")))))
    #expect(silence.heading == "The identity provider does not answer" && silence.status == 503)
    let missing = SignInError.idToken(.age(authenticatedAt: nil)).message()
    #expect(missing.contains("it has no auth_time"))
    #expect(SignInError.idToken(.age(authenticatedAt: Self.now)).message().contains("signed in too long ago"))
  }

  @Test func `no page can be framed, run a script, load anything or be kept`() throws {
    let pages = SignInPages()
    for page in [pages.failure(.expired), pages.done(nil, route: "orders")] {
      var fields: [String: String] = [:]
      for (name, value) in page.fields { fields["\(name)"] = value }
      let policy = try #require(fields["Content-Security-Policy"])
      #expect(policy.hasPrefix("default-src 'none'; style-src 'sha256-"))
      for part in ["base-uri 'none'", "frame-ancestors 'none'", "form-action 'none'"] { #expect(policy.contains(part)) }
      #expect(!policy.contains("script-src"))
      #expect(fields["X-Frame-Options"] == "DENY")
      #expect(fields["Cache-Control"] == "no-store")
      #expect(fields["Referrer-Policy"] == "no-referrer")
      #expect(fields["X-Content-Type-Options"] == "nosniff")
    }
  }
}
