// Signing in by a code: waits, requests and every end, with a clock that the waits move.

import Bytes
import HTTP
import HTTPClient
import Platform
import Testing
import Tokens

@testable import Identity

@Suite struct DeviceCodeSignInTests {
  private let provider = SignInProvider()
  private let store = CacheStore.memory()
  private let waits = Locked<[Int64]>([])

  private func signIn(
    extra: ScopeSet = .none, sleep: (@Sendable (Int64) async -> Void)? = nil,
    present: @escaping @Sendable (DeviceAuthorizationReply) async -> Void = { _ in }
  ) async throws -> AuthenticationResult {
    let request = SignInRequest(
      application: try await provider.application(capabilities: ["cp1"], secret: "s3cret"),
      scopes: try ScopeSet(["api://orders/read"]), extraScopes: extra)
    let waits = waits
    return try await DeviceCodeSignIn(
      request, store: store, now: { SignInProvider.now + waits.withLock { $0.reduce(0, +) } },
      sleep: { seconds in
        waits.withLock { $0.append(seconds) }
        await sleep?(seconds)
      }
    ).acquireToken(present: present)
  }

  private static func error(_ word: String, _ status: Int = 400) -> (status: Int, json: String) {
    (status, #"{"error":"\#(word)"}"#)
  }

  @Test func `a code is shown, asked after, and becomes tokens`() async throws {
    await provider.change {
      $0.tokens = [
        Self.error("authorization_pending"), Self.error("slow_down"), Self.error("authorization_pending", 200),
      ]
    }
    let shown = Locked<[String]>([])
    let result = try await signIn(sleep: nil) { codes in
      shown.withLock { $0 = [codes.userCode, codes.verificationURI, "\(codes.expiresIn)"] }
    }
    #expect(shown.withLock { $0 } == ["AB-CD", "https://id.example/device", "1800"])
    #expect(waits.withLock { $0 } == [5, 5, 10, 10])
    #expect(result.account?.username == "ann@example.org")
    let forms = await provider.forms
    #expect(forms.count == 5)
    let claims = #"{"access_token":{"xms_cc":{"values":["cp1"]}}}"#
    #expect(
      forms[0] == [
        "client_id": SignInProvider.client, "client_secret": "s3cret", "claims": claims,
        "scope": "api://orders/read offline_access openid profile",
      ])
    #expect(
      forms[1] == [
        "client_id": SignInProvider.client, "client_secret": "s3cret", "claims": claims, "client_info": "1",
        "grant_type": "urn:ietf:params:oauth:grant-type:device_code", "device_code": "DC",
      ])
    let source = await store.snapshot()[.account].values.first?["account_source"]
    #expect(source == "urn:ietf:params:oauth:grant-type:device_code")
  }

  @Test func `a code for several APIs is redeemed for the first`() async throws {
    _ = try await signIn(extra: try ScopeSet(["api://ledger/post"]))
    let forms = await provider.forms
    #expect(forms[0]["scope"] == "api://ledger/post api://orders/read offline_access openid profile")
    #expect(forms[1]["scope"] == "api://orders/read offline_access openid profile")
  }

  static let ends: [(answers: [(status: Int, json: String)], error: SignInError, needsInteraction: Bool)] = [
    ([error("expired_token")], .codeExpired, false),
    ([error("authorization_declined")], .declined(TokenErrorReply(error: "access_denied")), true),
    ([error("invalid_grant")], .refused(TokenErrorReply(error: "invalid_grant")), true),
    ([error("invalid_client", 401)], .provider(.rejected("invalid_client", retryAfter: 1)), false),
    ([error("bad_verification_code")], .provider(.rejected("bad_verification_code", retryAfter: 1)), false),
    (Array(repeating: (502, "<html>"), count: 40), .codeExpired, false),
  ]

  @Test(arguments: ends) func `every bad end is one error`(
    answers: [(status: Int, json: String)], error: SignInError, needsInteraction: Bool
  ) async throws {
    await provider.change { $0.tokens = answers }
    let found = await #expect(throws: SignInError.self) { try await signIn() }
    if case .provider(let met)? = found {
      #expect(SignInError.provider(met.told) == error)
    } else {
      #expect(found == error)
    }
    #expect(found?.isInteractionRequired == needsInteraction)
    #expect(await store.snapshot()[.account].isEmpty)
  }

  @Test func `giving up ends the wait`() async throws {
    let (naps, napping) = AsyncStream.makeStream(of: Void.self)
    let waiting = Task {
      try await signIn(sleep: { _ in
        napping.yield()
        await TokenBroker.sleep(3600)
      })
    }
    var iterator = naps.makeAsyncIterator()
    await iterator.next()
    waiting.cancel()
    await #expect(throws: SignInError.cancelled) { try await waiting.value }
    #expect(await provider.forms.count == 1)
  }

  @Test func `a provider without codes, or that gives none, is said to be so`() async throws {
    await provider.change { $0.device = (400, #"{"error":"unauthorized_client"}"#) }
    await #expect(throws: SignInError.provider(.rejected("unauthorized_client", retryAfter: 1))) {
      try await signIn()
    }
    await provider.change { $0.hasDeviceCodes = false }
    await #expect(throws: SignInError.unsupported(.deviceCode)) { try await signIn() }
  }

  @Test(arguments: [SignInProvider.Flaw.otherKey, .otherAudience, .absent])
  func `its ID token is judged too`(flaw: SignInProvider.Flaw) async throws {
    await provider.change { $0.flaw = flaw }
    await #expect(throws: SignInError.self) { try await signIn() }
    #expect(await store.snapshot()[.account].isEmpty)
  }
}
