// Which tokens of callers are believed, until when, and how often the issuer is asked for its keys.

import Testing
import Tokens

@testable import Identity

@Suite struct CallerTokenCheckTests {
  private let provider = SignInProvider()
  private let clock = ManualClock()

  private func check(audiences: Set<String> = ["api://proxy", SignInProvider.client]) async throws -> CallerTokenCheck {
    CallerTokenCheck(issuer: try await provider.application(), audiences: audiences, now: { [clock] in clock.now })
  }

  @Test func `a token of the issuer, for one of the audiences, is believed until it expires`() async throws {
    let token = try #require(await provider.idToken())
    let check = try await check()
    #expect(try await check.accept(token) == SignInProvider.now + 3600)
    clock.advance(3659)
    #expect(try await check.accept(token) == SignInProvider.now + 3600)
    clock.advance(1)
    await #expect(throws: CallerTokenRefusal.untrusted) { try await check.accept(token) }
  }

  @Test(arguments: [SignInProvider.Flaw.garbage, .otherKey, .otherIssuer, .otherAudience, .expired])
  func `a token with a flaw is not`(flaw: SignInProvider.Flaw) async throws {
    await provider.change { $0.flaw = flaw }
    let token = try #require(await provider.idToken())
    let check = try await check()
    await #expect(throws: CallerTokenRefusal.untrusted) { try await check.accept(token) }
  }

  @Test(arguments: ["none", "HS256", "RS512"])
  func `the token does not choose how it is checked`(algorithm: String) async throws {
    let token = try #require(await provider.idToken()).split(separator: ".")
    let header = Base64URL.encode(Array(#"{"alg":"\#(algorithm)","kid":"k1"}"#.utf8))
    let check = try await check()
    for signature in [token[2], ""] {
      await #expect(throws: CallerTokenRefusal.untrusted) {
        try await check.accept("\(header).\(token[1]).\(signature)")
      }
    }
  }

  @Test func `without keys nobody can tell, and keys once had are kept`() async throws {
    let token = try #require(await provider.idToken())
    await provider.change { $0.keys = 503 }
    let check = try await check()
    await #expect(throws: CallerTokenRefusal.issuerUnavailable) { try await check.accept(token) }
    await provider.change { $0.keys = 200 }
    _ = try await check.accept(token)
    await provider.change { $0.keys = 503 }
    _ = try await check.accept(token)
    #expect(await provider.keyRequests == 2)
  }

  @Test func `an unknown key has the keys fetched again, once a minute at most`() async throws {
    let token = try #require(await provider.idToken()).split(separator: ".")
    let header = Base64URL.encode(Array(#"{"alg":"RS256","kid":"another"}"#.utf8))
    let unknown = "\(header).\(token[1]).\(token[2])"
    let check = try await check()
    _ = try await check.accept(token.joined(separator: "."))
    for _ in 0..<3 { await #expect(throws: CallerTokenRefusal.untrusted) { try await check.accept(unknown) } }
    #expect(await provider.keyRequests == 1)
    clock.advance(60)
    for _ in 0..<3 { await #expect(throws: CallerTokenRefusal.untrusted) { try await check.accept(unknown) } }
    #expect(await provider.keyRequests == 2)
  }
}
