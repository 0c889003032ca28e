// Signing in through a browser: what is asked, which answers count, what is filed, and every bad end.

import Bytes
import FoundationEssentials
import HTTP
import HTTPClient
import Platform
import Testing
import TestSupport
import Tokens

@testable import Identity

@Suite struct InteractiveSignInTests {
  let provider = SignInProvider()
  let store = CacheStore.memory()

  /// A sign-in; `open` gets the address for the browser.
  private func start(
    store: CacheStore? = nil, _ change: (inout SignInRequest) throws -> Void = { _ in },
    open: @escaping @Sendable (String) async throws -> Void
  ) async throws -> AuthenticationResult {
    var request = SignInRequest(
      application: try await provider.application(capabilities: ["cp1"]), scopes: try ScopeSet(["api://orders/read"]))
    try change(&request)
    let loop = try EventLoop()
    defer { loop.shutDown() }
    return try await InteractiveSignIn(request, store: store ?? self.store, loop: loop, now: { SignInProvider.now })
      .acquireToken { address in
        do { try await open(address) } catch { Issue.record(error) }
      }
  }

  func signIn(
    store: CacheStore? = nil, _ change: (inout SignInRequest) throws -> Void = { _ in },
    browser: @escaping @Sendable (BrowserAtLoopback) async throws -> Void
  ) async throws -> AuthenticationResult {
    try await start(store: store, change) { [provider] address in
      let asked = try await BrowserAtLoopback(address)
      await provider.see(nonce: asked.asked["nonce"])
      try await browser(asked)
    }
  }

  /// A sign-in whose browser brings a code and nothing else.
  func signIn(code: String, store: CacheStore? = nil) async throws -> AuthenticationResult {
    try await signIn(store: store) { try await $0.bring("code=\(code)&state=\($0.state)") }
  }

  /// A sign-in that ends before a browser is opened, since the provider lacks something.
  func expectUnsupported(
    _ missing: SignInError.Way, _ change: @escaping (inout SignInRequest) throws -> Void = { _ in }
  ) async {
    await #expect(throws: SignInError.unsupported(missing)) {
      try await signIn(change) { _ in Issue.record("a browser is opened") }
    }
  }

  @Test(arguments: ["query", "form_post"])
  func `a code becomes tokens, and the person is filed`(mode: String) async throws {
    await provider.change { $0.responseModes = [mode] }
    let result = try await signIn { asked in
      #expect(asked.asked["response_mode"] == (mode == "query" ? nil : mode))
      #expect(asked.asked["scope"] == "api://orders/read offline_access openid profile")
      #expect(asked.asked["code_challenge_method"] == "S256")
      #expect(asked.asked["claims"] == #"{"access_token":{"xms_cc":{"values":["cp1"]}}}"#)
      #expect(asked.asked["prompt"] == nil)
      let page = try await asked.bring("code=C%2F1&state=\(asked.state)&session_state=x")
      #expect(page.hasPrefix("HTTP/1.1 200 OK\r\n"))
      #expect(page.contains("Content-Security-Policy: default-src 'none';"))
      #expect(page.contains("Cache-Control: no-store\r\n"))
      #expect(page.contains("You can close this page"))
      #expect(!page.contains("C/1") && !page.contains("C%2F1"))
    }
    #expect(result.accessToken == Secret("AT-1"))
    #expect(result.scopes.description == "api://orders/read openid")
    #expect(result.expiresOn == SignInProvider.now + 3600)
    #expect(result.account?.username == "ann@example.org")
    #expect(result.account?.homeAccountID == "ann-1")
    #expect(result.idTokenClaims?.subject == "ann-1")

    let form = try #require(await provider.forms.first)
    #expect(form["grant_type"] == "authorization_code")
    #expect(form["code"] == "C/1")
    #expect(form["code_verifier"]?.count == 43)
    #expect(form["scope"] == "api://orders/read offline_access openid profile")
    #expect(form["claims"] == #"{"access_token":{"xms_cc":{"values":["cp1"]}}}"#)
    let application = try await provider.application()
    let people = await SignedInAccounts(application, store: store).accounts()
    #expect(people.map(\.account.username) == ["ann@example.org"])
    #expect(people.map(\.canRefresh) == [true])
    #expect(people.first?.tokens.map(\.scopes) == [["api://orders/read", "openid"]])

    // Silent acquisition finds the filed tokens.
    let broker = TokenBroker(TokenBroker.Surroundings(now: { SignInProvider.now }), store: store)
    let wish = TokenSubscription(
      application: application, subject: .account("Ann@Example.org"), scopes: try ScopeSet(["api://orders/read"]))
    #expect(try await broker.bearer(for: wish).revealedToken() == "AT-1")
    #expect(await provider.forms.count == 1)

    try await SignedInAccounts(application, store: store).remove(account: try #require(result.account))
    #expect(await SignedInAccounts(application, store: store).accounts().isEmpty)
    let left = await store.snapshot()
    #expect(left[.refreshToken].isEmpty && left[.accessToken].isEmpty && left[.idToken].isEmpty)
  }

  @Test func `many silent connections keep no caller out`() async throws {
    let result = try await signIn { asked in
      var silent: [RawConnection] = []
      for _ in 0..<40 { silent.append(try RawConnection(port: asked.port)) }
      try await silent[39].send("GET /?co")
      #expect(try await asked.bring("code=C&state=\(asked.state)").hasPrefix("HTTP/1.1 200 OK\r\n"))
      // The oldest had to go long before the sign-in's end.
      #expect(try await silent[0].receive().isEmpty)
    }
    #expect(result.account?.username == "ann@example.org")
  }

  @Test func `PS256 is believed too`() async throws {
    await provider.change { $0.algorithm = .ps256 }
    let result = try await signIn(code: "C")
    #expect(result.idTokenClaims?.audiences == [SignInProvider.client])
  }

  @Test func `options go with the browser, extra scopes with it alone`() async throws {
    _ = try await signIn {
      $0.terms.extraScopes = try ScopeSet(["api://ledger/post"])
      $0.terms.prompt = .consent
      $0.terms.loginHint = "ann@example.org"
      $0.terms.claims = try Claims(json: #"{"access_token":{"nbf":{"essential":true}}}"#)
    } browser: { asked in
      #expect(asked.asked["scope"] == "api://ledger/post api://orders/read offline_access openid profile")
      #expect(asked.asked["prompt"] == "consent")
      #expect(asked.asked["login_hint"] == "ann@example.org")
      #expect(asked.asked["claims"]?.contains("nbf") == true)
      try await asked.bring("code=C&state=\(asked.state)")
    }
    let form = try #require(await provider.forms.first)
    #expect(form["scope"] == "api://orders/read offline_access openid profile")
    #expect(form["claims"] == #"{"access_token":{"nbf":{"essential":true},"xms_cc":{"values":["cp1"]}}}"#)
  }

  @Test func `without offline access no refresh token is asked for, and one that comes is not kept`() async throws {
    _ = try await signIn {
      $0.application.hasOfflineAccess = false
    } browser: { asked in
      #expect(asked.asked["scope"] == "api://orders/read openid profile")
      try await asked.bring("code=C&state=\(asked.state)")
    }
    #expect(await provider.forms.first?["scope"] == "api://orders/read openid profile")
    let people = await SignedInAccounts(try await provider.application(), store: store).accounts()
    #expect(people.map(\.canRefresh) == [false])
    #expect(await store.snapshot()[.refreshToken].isEmpty)
  }

  @Test func `an account is created if the provider offers that, and not otherwise`() async throws {
    await provider.change { $0.prompts = ["none", "create"] }
    _ = try await signIn {
      $0.terms.prompt = .create
    } browser: { asked in
      #expect(asked.asked["prompt"] == "create")
      try await asked.bring("code=C&state=\(asked.state)")
    }
    for prompts in [nil, ["none", "login"]] as [[String]?] {
      await provider.change { $0.prompts = prompts }
      await expectUnsupported(.registration) { $0.terms.prompt = .create }
    }
  }

  @Test func `a provider that promises no PKCE gets no sign-in of an application that requires it`() async throws {
    await expectUnsupported(.pkce) { $0.application.requiresPKCE = true }
  }

  @Test func `an issuer that knows no domain_hint is not sent one`() async throws {
    await expectUnsupported(.domainHint) { $0.terms.domainHint = DomainHint("contoso.com") }
  }

  @Test func `two sign-ins share no state, nonce or challenge`() async throws {
    let seen = Locked<[String]>([])
    for _ in 0..<2 {
      _ = try await signIn { asked in
        let values = ["state", "nonce", "code_challenge"].compactMap { asked.asked[$0] }
        #expect(values.map(\.count) == [22, 64, 43])
        seen.withLock { $0 += values }
        try await asked.bring("code=C&state=\(asked.state)")
      }
    }
    #expect(Set(seen.withLock { $0 }).count == 6)
  }

  /// `STATE` is replaced by the right one.
  static let badAnswers: [(String, form: String, SignInError, needsInteraction: Bool)] = [
    ("neither code nor error", "state=STATE", .answer(.withoutCode), false),
    ("another issuer", "code=C&state=STATE&iss=https://evil.example", .answer(.issuer), false),
    (
      "denied consent", "error=access_denied&error_description=AADSTS65004&state=STATE",
      .declined(TokenErrorReply(error: "access_denied", description: "AADSTS65004")), true
    ),
    (
      "nothing could be shown", "error=interaction_required&state=STATE",
      .refused(TokenErrorReply(error: "interaction_required")), true
    ),
    ("an unknown scope", "error=invalid_scope&state=STATE", .refused(TokenErrorReply(error: "invalid_scope")), false),
  ]

  @Test(arguments: badAnswers) func `an answer that is none ends the sign-in before any token request`(
    name: String, form: String, expected: SignInError, needsInteraction: Bool
  ) async throws {
    let error = await #expect(throws: SignInError.self) {
      try await signIn { asked in
        let page = try await asked.bring(form.replacing("STATE", with: asked.state))
        #expect(page.hasPrefix("HTTP/1.1 400 "))
        #expect(page.contains("<h1>Not signed in</h1>"))
      }
    }
    switch (error, expected) {
    case (.declined(let found), .declined(let expected)), (.refused(let found), .refused(let expected)):
      #expect(found.error == expected.error)
    default: #expect(error == expected)
    }
    #expect(error?.isInteractionRequired == needsInteraction)
    #expect(await provider.forms.isEmpty)
    #expect(await store.snapshot()[.account].isEmpty)
  }

  @Test(arguments: [
    "code=C&state=evil", "code=C", "error=access_denied&state=evil", "error=access_denied", "code=C&code=D&state=STATE",
    "code=%zz&state=STATE", "state=STATE&state=STATE&code=C",
  ]) func `an answer to another sign-in does not end this one`(form: String) async throws {
    let result = try await signIn { asked in
      for _ in 0..<3 {
        let page = try await asked.bring(form.replacing("STATE", with: asked.state))
        #expect(statusOf(page) == 400 && page.contains("no answer to the sign-in that waits here"))
      }
      #expect(statusOf(try await asked.bring("code=C&state=\(asked.state)")) == 200)
    }
    #expect(result.account?.homeAccountID == "ann-1")
    #expect(await provider.forms.count == 1)
  }

  @Test func `the address that begins a sign-in works once, and not ahead of the person`() async throws {
    let seen = Locked<[Int]>([])
    let result = try await start { [provider] start in
      #expect(!start.contains("state") && !start.contains("id.example"))
      let place = try #require(URLComponents(string: start))
      let (port, path) = (try #require(place.port), place.path)
      func ask(_ head: String) async throws -> String {
        let connection = try RawConnection(port: port)
        try await connection.send("\(head)\r\nHost: 127.0.0.1:\(port)\r\n\r\n")
        return try await connection.receive()
      }
      for head in [
        "GET \(path) HTTP/1.1\r\nSec-Purpose: prefetch;prerender", "GET \(path) HTTP/1.1\r\nPurpose: prefetch",
        "GET \(path)x HTTP/1.1", "HEAD \(path) HTTP/1.1", "POST \(path) HTTP/1.1",
      ] { #expect((400...499).contains(statusOf(try await ask(head))), "\(head)") }
      let asked = try await BrowserAtLoopback(start)
      await provider.see(nonce: asked.asked["nonce"])
      let again = try await ask("GET \(path) HTTP/1.1")
      #expect(statusOf(again) == 410 && !again.contains(asked.state))
      // Before the code: the sign-in may be over before this task runs again.
      seen.withLock { $0.append(1) }
      try await asked.bring("code=C&state=\(asked.state)")
    }
    #expect(result.account?.homeAccountID == "ann-1")
    #expect(seen.withLock { $0.count } == 1)
  }

  @Test(arguments: [true, false]) func `the page asks whether to keep a sign-in, once, before anything is kept`(
    keeps: Bool
  ) async throws {
    let store = store
    do {
      let result = try await signIn {
        $0.confirmation = .page
      } browser: { asked in
        let page = try await asked.bring("code=C&state=\(asked.state)")
        #expect(statusOf(page) == 200 && page.contains("<b>ann@example.org</b> signed in to <b>demo</b>"))
        #expect(await store.snapshot()[.account].isEmpty)
        let action = try #require(page.firstMatch(of: /action="([^"]+)"/)?.1)
        let form = "keep=\(keeps ? "yes" : "no")"
        func post(_ path: some StringProtocol, _ more: String = "") async throws -> String {
          try await asked.send(
            "POST \(path) HTTP/1.1\r\nHost: localhost:\(asked.port)\r\nContent-Type: "
              + "application/x-www-form-urlencoded\r\n\(more)Content-Length: \(form.utf8.count)\r\n\r\n\(form)")
        }
        // A browser without the page, or another one, decides nothing. Nor does the answer once more.
        #expect(statusOf(try await post("/keep")) == 404)
        #expect(statusOf(try await post(action, "Sec-Fetch-Site: cross-site\r\n")) == 404)
        #expect(statusOf(try await asked.bring("code=D&state=\(asked.state)")) == 400)
        let end = try await post(action, "Sec-Fetch-Site: same-origin\r\n")
        #expect(end.contains(keeps ? "is signed in to" : "Nothing of this sign-in was kept"))
      }
      #expect(keeps && result.account?.homeAccountID == "ann-1")
    } catch let error as SignInError {
      #expect(!keeps && error == .notConfirmed("ann@example.org") && error.isInteractionRequired)
    }
    #expect(await store.snapshot()[.account].isEmpty == !keeps)
    #expect(await store.snapshot()[.refreshToken].isEmpty == !keeps)
  }

  @Test(arguments: [true, false]) func `the program is asked whether to keep a sign-in, before anything is kept`(
    keeps: Bool
  ) async throws {
    let (store, asked) = (store, Locked<[String]>([]))
    do {
      _ = try await signIn {
        $0.confirmation = .program { account in
          asked.withLock { $0.append(account.name) }
          #expect(await store.snapshot()[.account].isEmpty)
          return keeps
        }
      } browser: { browser in
        let page = try await browser.bring("code=C&state=\(browser.state)")
        #expect(page.contains("The terminal asks whether to keep it"))
      }
      #expect(keeps)
    } catch let error as SignInError {
      #expect(!keeps && error == .notConfirmed("ann@example.org"))
    }
    #expect(asked.withLock { $0 } == ["ann@example.org"])
    #expect(await store.snapshot()[.account].isEmpty == !keeps)
  }

  @Test(arguments: [nil, "https://evil.example", SignInProvider.issuer])
  func `an issuer that promises its name has to give it`(issuer: String?) async throws {
    await provider.change { $0.namesIssuer = true }
    let form = issuer.map { "&iss=\($0)" } ?? ""
    do {
      _ = try await signIn { try await $0.bring("code=C&state=\($0.state)\(form)") }
      #expect(issuer == SignInProvider.issuer)
    } catch let error as SignInError {
      #expect(error == .answer(issuer == nil ? .issuerMissing : .issuer))
      #expect(issuer != SignInProvider.issuer)
      #expect(await provider.forms.isEmpty)
    }
  }
}
