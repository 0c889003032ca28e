// Sign-ins that end without a token, and the addresses they use.

import Bytes
import FoundationEssentials
import HTTP
import HTTPClient
import Platform
import Testing
import TestSupport
import Tokens

@testable import Identity

extension InteractiveSignInTests {
  @Test func `an application's own redirect URI is another's no more`() async throws {
    let application = try await provider.application()
    let result = try await signIn {
      $0.application = application
      $0.application.callback = .own(application: "demo")
    } browser: { asked in
      #expect(asked.path == "/.bearer/callback/demo")
      let form = "code=C&state=\(asked.state)"
      for path in ["/", "/.bearer/callback", "/.bearer/callback/other", "/.bearer/callback/demo/"] {
        let page = try await asked.send("GET \(path)?\(form) HTTP/1.1\r\nHost: localhost:\(asked.port)\r\n\r\n")
        #expect(statusOf(page) == 404, "\(path)")
      }
      try await asked.bring(form)
    }
    #expect(result.account?.homeAccountID == "ann-1")
  }

  static let refusals: [(status: Int, json: String, needsInteraction: Bool, word: String)] = [
    (
      400, #"{"error":"invalid_grant","error_description":"AADSTS54005: the code C-9 was redeemed already"}"#, true,
      "invalid_grant"
    ),
    (400, #"{"error":"invalid_grant","suberror":"consent_required"}"#, true, "consent_required"),
    (401, #"{"error":"invalid_client"}"#, false, "token-request-rejected: invalid_client"),
    (503, "busy", false, "identity-provider-unavailable: answered with status 503"),
    (200, #"{"error":"access_denied"}"#, true, "declined"), (200, "{}", false, "identity-provider-unavailable"),
  ]

  @Test(arguments: refusals) func `a code that is not taken is sent once and ends the sign-in`(
    status: Int, json: String, needsInteraction: Bool, word: String
  ) async throws {
    await provider.change { $0.tokens = [(status, json)] }
    let error = await #expect(throws: SignInError.self) { try await signIn(code: "C-9") }
    #expect(error?.isInteractionRequired == needsInteraction)
    let message = try #require(error?.message())
    #expect(message.contains(word))
    #expect(!message.contains("C-9"))
    #expect(await provider.forms.count == 1)
  }

  @Test(arguments: SignInProvider.Flaw.allCases)
  func `an ID token that is not believed files nothing`(flaw: SignInProvider.Flaw) async throws {
    await provider.change { $0.flaw = flaw }
    let error = await #expect(throws: SignInError.self) { try await signIn(code: "C") }
    let expected: SignInError =
      switch flaw {
      case .absent: .idToken(.absent)
      case .garbage: .idToken(.parts)
      case .otherKey: .idToken(.signature)
      case .otherNonce: .idToken(.nonce)
      case .otherIssuer: .idToken(.issuer("https://evil.example"))
      case .otherAudience: .idToken(.audience(["client-2"]))
      case .expired: .idToken(.expired(at: SignInProvider.now - 200))
      case .noSubject: .withoutAccount
      }
    #expect(error == expected)
    #expect(error?.isInteractionRequired == false)
    let document = await store.snapshot()
    #expect(document[.account].isEmpty && document[.accessToken].isEmpty && document[.refreshToken].isEmpty)
  }

  @Test func `a provider without keys or without sign-in is reported`() async throws {
    await provider.change { $0.keys = 404 }
    await #expect(throws: SignInError.provider(AcquisitionError(.metadata(status: 404), retryAfter: 1))) {
      try await signIn(code: "C")
    }
    await provider.change { $0.hasAuthorization = false }
    await expectUnsupported(.browser)
  }

  @Test func `the browser does not come back in time`() async throws {
    let loop = try EventLoop()
    defer { loop.shutDown() }
    let request = SignInRequest(
      application: try await provider.application(), scopes: try ScopeSet(["api://orders/read"]))
    let signIn = InteractiveSignIn(request, store: store, loop: loop, timeout: .seconds(1), now: { SignInProvider.now })
    // No browser calls: on a busy machine the limit can pass before a call is answered.
    let error = await #expect(throws: SignInError.timedOut(seconds: 1)) { try await signIn.acquireToken { _ in } }
    #expect(error?.message() == "no answer came back from the browser within 1 s")
    #expect(error?.isInteractionRequired == false)
  }

  @Test func `giving up ends the wait, and the port is free`() async throws {
    let (addresses, seen) = AsyncStream.makeStream(of: Int.self)
    let waiting = Task { try await signIn { seen.yield($0.port) } }
    var iterator = addresses.makeAsyncIterator()
    let port = try #require(await iterator.next())
    waiting.cancel()
    await #expect(throws: SignInError.cancelled) { try await waiting.value }
    #expect(throws: TestSupportError.self) { try RawConnection(port: port) }
  }

  @Test func `other requests are sent away, and the sign-in goes on`() async throws {
    let result = try await signIn { asked in
      // A browser opens connections that it never uses; they delay no sign-in.
      let idle = try RawConnection(port: asked.port)
      let form = "code=C&state=\(asked.state)"
      let rows: [(String, Int)] = [
        ("GET /?\(form) HTTP/1.1\r\nHost: evil.example:\(asked.port)\r\n\r\n", 421),
        ("GET /?\(form) HTTP/1.1\r\nHost: localhost\r\n\r\n", 421),
        ("GET /?\(form) HTTP/1.1\r\nHost: localhost:1\r\n\r\n", 421),
        ("GET /favicon.ico HTTP/1.1\r\nHost: localhost:\(asked.port)\r\n\r\n", 404),
        ("GET / HTTP/1.1\r\nHost: localhost:\(asked.port)\r\n\r\n", 404),
        ("HEAD /?\(form) HTTP/1.1\r\nHost: localhost:\(asked.port)\r\n\r\n", 405),
        ("OPTIONS * HTTP/1.1\r\nHost: localhost:\(asked.port)\r\n\r\n", 405),
        (
          "POST / HTTP/1.1\r\nHost: localhost:\(asked.port)\r\nContent-Type: text/plain\r\nContent-Length: 1\r\n\r\nx",
          404
        ),
        (
          "POST / HTTP/1.1\r\nHost: localhost:\(asked.port)\r\nContent-Type: application/x-www-form-urlencoded\r\n"
            + "Content-Length: 99999\r\n\r\n", 413
        ),
        ("no request at all\r\n\r\n", 404),
      ]
      for (request, status) in rows {
        let page = try await asked.send(request)
        #expect(statusOf(page) == status, "\(request)")
        #expect(page.contains("Content-Security-Policy: default-src 'none'"))
      }
      let page = try await asked.send(
        "GET /?\(form) HTTP/1.1\r\nHost: 127.0.0.1:\(asked.port)\r\nSec-Fetch-Site: cross-site\r\n\r\n")
      #expect(statusOf(page) == 200)
      #expect(try await idle.isClosedByPeer())
    }
    #expect(result.account?.homeAccountID == "ann-1")
  }

  @Test func `a cache that cannot be written is said to be so`() async throws {
    let error = await #expect(throws: SignInError.store(.locked(nil))) {
      try await signIn(code: "C", store: await CacheStore.open(PlainBackend(fault: .locked(nil))) { _ in })
    }
    #expect(error?.message(cachePath: "/c.json").contains("/c.json.lockfile: held by another process") == true)
  }

  @Test func `Entra's account has the home that client_info names`() async throws {
    let info = Base64URL.encode(Array(#"{"uid":"u1","utid":"t1"}"#.utf8))
    await provider.change { $0.clientInfo = info }
    #expect(try await signIn(code: "C").account?.homeAccountID == "u1.t1")
  }
}
