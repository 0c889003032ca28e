// The words in which other programs ask for tokens: what each sends, returns and refuses.

import Bytes
import HTTPClient
import Platform
import Testing
import Tokens

@testable import Identity

@Suite struct ClientApplicationTests {
  private func application(_ bench: AccountBench) throws -> PublicClientApplication {
    PublicClientApplication(try base(bench, secret: nil))
  }

  private func base(_ bench: AccountBench, secret: String?) throws -> ClientApplicationBase {
    ClientApplicationBase(
      try bench.application(secret: secret), cache: bench.store,
      surroundings: TokenBroker.Surroundings(
        now: { [clock = bench.clock] in clock.now }, jitter: { 0 },
        sleep: { [naps = bench.naps] in await naps.rest($0) }, patience: TokenBroker.endlessPatience),
      loop: try EventLoop())
  }

  private func error(_ body: () async throws -> AuthenticationResult) async -> ClientApplicationError? {
    do { _ = try await body() } catch { return error as? ClientApplicationError }
    return nil
  }

  @Test func `silence is served from the cache, with whose, for what and until when`() async throws {
    let bench = try AccountBench.signedIn()
    let application = try application(bench)
    let account = try #require(await application.accounts().first)
    let result = try await application.acquireTokenSilent(scopes: ["A"], account: account)
    #expect(result.accessToken == Secret("AT-alice"))
    #expect(result.tokenType == "Bearer")
    #expect(result.scopes.words == ["A"])
    #expect(result.expiresOn == ManualClock.start + 3600)
    #expect(result.tenantID == AccountBench.tenant)
    #expect(result.account?.name == "Alice@contoso.example")
    #expect(result.tokenSource == .cache)
    #expect(result.idTokenClaims == nil)
    #expect(await bench.provider.forms.isEmpty)
    #expect(!"\(result)".contains("AT-alice"))
  }

  @Test func `force_refresh asks the provider, and what it answers is what silence finds next`() async throws {
    let bench = try AccountBench.signedIn()
    let application = try application(bench)
    await bench.provider.script(tokens: [AccountBench.tokens("AT-2", refreshToken: "RT-2")])
    let forced = try await application.acquireTokenSilent(scopes: ["A"], account: nil, forceRefresh: true)
    #expect(forced.accessToken == Secret("AT-2") && forced.tokenSource == .identityProvider)
    let next = try await application.acquireTokenSilent(scopes: ["A"], account: nil)
    #expect(next.accessToken == Secret("AT-2"))
    #expect(await bench.redeemed() == ["RT-alice"])
  }

  @Test func `claims go to the provider each time, and plain silence gets what they brought`() async throws {
    let bench = try AccountBench.signedIn()
    let application = try application(bench)
    let claims = try Claims(json: #"{"access_token":{"nbf":{"essential":true,"value":"1"}}}"#)
    await bench.provider.script(tokens: [
      AccountBench.tokens("AT-2", refreshToken: "RT-2"), AccountBench.tokens("AT-3", refreshToken: "RT-3"),
    ])
    for token in ["AT-2", "AT-3"] {
      let result = try await application.acquireTokenSilent(scopes: ["A"], account: nil, claims: claims)
      #expect(result.accessToken == Secret(token))
      #expect(await bench.provider.forms.last?.contains("claims=%7B%22access_token%22") == true)
    }
    bench.clock.advance(1)
    #expect(try await application.acquireTokenSilent(scopes: ["A"], account: nil).accessToken == Secret("AT-3"))
    #expect(await bench.redeemed() == ["RT-alice", "RT-2"])
  }

  @Test func `no account, several accounts and a provider that wants more are interaction required`() async throws {
    let empty = AccountBench()
    let nobody = try application(empty)
    let none = await error { try await nobody.acquireTokenSilent(scopes: ["A"], account: nil) }
    #expect(none?.isInteractionRequired == true && none?.interactionRequired?.reason == .noAccount)

    let bench = try AccountBench.signedIn()
    let application = try application(bench)
    try await bench.signIn(AccountBench.bob, scopes: "A", token: "AT-bob", refreshToken: "RT-bob")
    let several = await error { try await application.acquireTokenSilent(scopes: ["A"], account: nil) }
    #expect(several?.interactionRequired?.reason == .accountAmbiguous)
    let bob = try #require(await application.accounts().first { $0.name == "bob@contoso.example" })
    #expect(try await application.acquireTokenSilent(scopes: ["A"], account: bob).accessToken == Secret("AT-bob"))

    await bench.provider.script(tokens: [
      AccountBench.refusal("interaction_required", suberror: "basic_action", claims: #"{"access_token":{"p":null}}"#)
    ])
    let more = await error { try await application.acquireTokenSilent(scopes: ["B"], account: bob) }
    #expect(more?.interactionRequired?.reason == .basicAction)
    #expect(more?.interactionRequired?.claims?.text == #"{"access_token":{"p":null}}"#)
  }

  @Test func `trouble that no sign-in mends is not interaction required`() async throws {
    let bench = try AccountBench.signedIn()
    let application = try application(bench)
    await bench.provider.script(tokens: [
      .json(503, "", retryAfter: "30"), .failure(.closed(host: "login.microsoftonline.com")),
    ])
    let down = await error { try await application.acquireTokenSilent(scopes: ["A"], account: nil, forceRefresh: true) }
    #expect(down?.isInteractionRequired == false)
    #expect(down?.description.contains("identity-provider-unavailable") == true)
    // The provider said when to come back, and force does not overrule that.
    let again = await error {
      try await application.acquireTokenSilent(scopes: ["A"], account: nil, forceRefresh: true)
    }
    #expect(again?.isInteractionRequired == false)
    #expect(await bench.provider.forms.count == 1)
    // A cached token still serves.
    #expect(try await application.acquireTokenSilent(scopes: ["A"], account: nil).accessToken == Secret("AT-alice"))
  }

  @Test func `a removed account is not served any more`() async throws {
    let bench = try AccountBench.signedIn()
    let application = try application(bench)
    let alice = try #require(await application.accounts().first)
    _ = try await application.acquireTokenSilent(scopes: ["A"], account: alice)
    try await application.remove(account: alice)
    #expect(await application.accounts().isEmpty)
    let gone = await error { try await application.acquireTokenSilent(scopes: ["A"], account: alice) }
    #expect(gone?.interactionRequired?.reason == .noAccount)
    #expect(await bench.provider.forms.isEmpty)
  }

  @Test func `an application asks for itself, once until it is forced`() async throws {
    let bench = AccountBench()
    let application = ConfidentialClientApplication(try base(bench, secret: "s3cret"))
    await bench.provider.script(tokens: [
      AccountBench.tokens("AT-1", scope: "api://orders/.default", person: nil),
      AccountBench.tokens("AT-2", scope: "api://orders/.default", person: nil),
    ])
    let scopes = ["api://orders/.default"]
    let first = try await application.acquireTokenForClient(scopes: scopes)
    #expect(first.accessToken == Secret("AT-1") && first.account == nil)
    #expect(try await application.acquireTokenForClient(scopes: scopes).accessToken == Secret("AT-1"))
    let forced = try await application.acquireTokenForClient(scopes: scopes, forceRefresh: true)
    #expect(forced.accessToken == Secret("AT-2"))
    #expect(await bench.provider.forms.count == 2)
    #expect(await application.accounts().isEmpty)
  }

  @Test func `a request that a provider would refuse is not sent`() async throws {
    let bench = try AccountBench.signedIn()
    let application = try application(bench)
    let confidential = ConfidentialClientApplication(try base(bench, secret: "s3cret"))
    let errors = [
      await error { try await application.acquireTokenSilent(scopes: ["openid"], account: nil) },
      await error { try await application.acquireTokenSilent(scopes: ["a b"], account: nil) },
      await error { try await application.acquireTokenByDeviceCode(scopes: []) { _ in } },
      await error { try await confidential.acquireTokenForClient(scopes: ["A"]) },
    ]
    #expect(
      errors == [
        .accountScopes(.reserved("openid")), .scope(.word("a b")), .accountScopes(.none),
        .applicationScopes(.notDefault("A")),
      ])
    #expect(errors.allSatisfy { $0?.isInteractionRequired == false && $0?.description.isEmpty == false })
    #expect(await bench.provider.forms.isEmpty)
  }

  @Test func `an application that cannot be is refused when it is made`() throws {
    #expect(throws: ClientApplicationError.authority(.plaintext)) {
      try PublicClientApplication(clientID: "c", authority: "http://id.example/")
    }
    let error = #expect(throws: ClientApplicationError.self) {
      try ConfidentialClientApplication(
        clientID: "c", credential: .secret(Secret("s")), authority: "https://id.example/", caFile: "/nowhere/ca.pem")
    }
    guard case .trust(.unreadable(path: "/nowhere/ca.pem", _)) = error else {
      Issue.record("\(String(describing: error))")
      return
    }
  }

  @Test func `both ways to sign in return the person, whom silence serves next`() async throws {
    let provider = SignInProvider()
    let application = PublicClientApplication(
      ClientApplicationBase(
        try await provider.application(), cache: CacheStore.memory(),
        surroundings: TokenBroker.Surroundings(
          now: { SignInProvider.now }, sleep: { _ in }, patience: TokenBroker.endlessPatience), loop: try EventLoop()))
    let scopes = ["api://orders/read"]
    let device = try await application.acquireTokenByDeviceCode(scopes: scopes) { #expect($0.userCode == "AB-CD") }
    let ann = try #require(device.account)
    #expect(ann.name == "ann@example.org" && device.idTokenClaims?.subject == "ann-1")
    #expect(try await application.acquireTokenSilent(scopes: scopes, account: ann).tokenSource == .cache)
    try await application.remove(account: ann)

    let browser = try await application.acquireTokenInteractive(
      scopes: scopes, prompt: .login, loginHint: "ann@example.org", timeout: 240
    ) { address in
      do {
        let asked = try await BrowserAtLoopback(address)
        await provider.see(nonce: asked.asked["nonce"])
        #expect(asked.asked["prompt"] == "login" && asked.asked["login_hint"] == "ann@example.org")
        try await asked.bring("code=C&state=\(asked.state)")
      } catch {
        Issue.record(error)
      }
    }
    #expect(browser.account == ann && browser.tokenSource == .identityProvider)
    #expect(try await application.acquireTokenSilent(scopes: scopes, account: nil).tokenSource == .cache)

    await provider.change { $0.tokens = [(400, #"{"error":"authorization_declined"}"#)] }
    let declined = await error { try await application.acquireTokenByDeviceCode(scopes: scopes) { _ in } }
    #expect(declined?.isInteractionRequired == true)
    #expect(declined?.description.hasPrefix("the sign-in was declined") == true)
  }

  @Test func `a token is exchanged for the caller's, once, and what the provider wants of the caller is told`()
    async throws
  {
    let bench = try AccountBench.signedIn()
    let application = ConfidentialClientApplication(try base(bench, secret: "s3cret"))
    await bench.provider.script(tokens: [
      AccountBench.tokens("AT-onward"),
      .json(400, #"{"error": "invalid_grant", "suberror": "consent_required"}"#),
    ])
    let first = try await application.acquireTokenOnBehalfOf(assertion: Secret("caller-1"), scopes: ["A"])
    #expect(first.accessToken == Secret("AT-onward") && first.account == nil)
    #expect(
      try await application.acquireTokenOnBehalfOf(assertion: Secret("caller-1"), scopes: ["A"]).accessToken
        == first.accessToken)
    let refused = await error {
      try await application.acquireTokenByTokenExchange(
        subjectToken: Secret("caller-2"), audiences: ["ledger"], scopes: ["A"])
    }
    guard case .acquisition(let error)? = refused, let told = error.assertionRefused else {
      Issue.record("\(String(describing: refused))")
      return
    }
    #expect(told.refusal == .consent)
    #expect(refused?.isInteractionRequired == false)
    let forms = await bench.provider.forms
    #expect(forms.count == 2)
    #expect(forms[0].contains("assertion=caller-1&") && forms[0].contains("requested_token_use=on_behalf_of"))
    #expect(forms[1].contains("subject_token=caller-2&") && forms[1].contains("&audience=ledger&"))
    // Nothing of it is a person's, and nothing is filed.
    #expect(await application.accounts().count == 1)
  }
}
