// Callers' tokens: which are valid, until when, and how often the issuer is asked for its keys.

import Bytes
import Testing
import Tokens

@testable import Identity

@Suite struct CallerTokenCheckTests {
  private let provider = SignInProvider()
  private let clock = ManualClock()

  private func check(audiences: Set<String> = ["api://proxy", SignInProvider.client]) async throws -> CallerTokenCheck {
    CallerTokenCheck(issuer: try await provider.application(), audiences: audiences, now: { [clock] in clock.now })
  }

  private func expectUntrusted(
    _ ask: () async throws -> BelievedClaims, sourceLocation: SourceLocation = #_sourceLocation
  ) async {
    await #expect(sourceLocation: sourceLocation) {
      _ = try await ask()
    } throws: { error in
      if case .untrusted = error as? CallerTokenRefusal { true } else { false }
    }
  }

  @Test func `a token of the issuer, for one of the audiences, is believed until it expires`() async throws {
    let token = try #require(await provider.idToken())
    let check = try await check()
    // No longer than its keys are, without another look.
    #expect(try await check.accept(token).until == SignInProvider.now + 600)
    clock.advance(3659)
    #expect(try await check.accept(token).until == SignInProvider.now + 3600)
    clock.advance(1)
    await expectUntrusted { try await check.accept(token) }
  }

  @Test func `a token without the scopes of the rule is told so, and another's token is not`() async throws {
    let token = try #require(await provider.idToken())
    let check = CallerTokenCheck(
      issuer: try await provider.application(), audiences: ["api://proxy", SignInProvider.client],
      scopes: try ScopeSet(["a", "b"]), now: { [clock] in clock.now })
    await #expect(throws: CallerTokenRefusal.withoutScopes(try ScopeSet(["a", "b"]))) { try await check.accept(token) }
    #expect(await check.issuerName() == SignInProvider.issuer)
    await provider.change { $0.flaw = .otherKey }
    let other = try #require(await provider.idToken())
    await expectUntrusted { try await check.accept(other) }
  }

  @Test(arguments: [SignInProvider.Flaw.garbage, .otherKey, .otherIssuer, .otherAudience, .expired])
  func `a token with a flaw is not`(flaw: SignInProvider.Flaw) async throws {
    await provider.change { $0.flaw = flaw }
    let token = try #require(await provider.idToken())
    let check = try await check()
    await expectUntrusted { try await check.accept(token) }
  }

  @Test(arguments: ["none", "HS256", "RS512"])
  func `the token does not choose how it is checked`(algorithm: String) async throws {
    let token = try #require(await provider.idToken()).split(separator: ".")
    let header = Base64URL.encode(Array(#"{"alg":"\#(algorithm)","kid":"k1"}"#.utf8))
    let check = try await check()
    for signature in [token[2], ""] {
      await expectUntrusted {
        try await check.accept("\(header).\(token[1]).\(signature)")
      }
    }
  }

  @Test func `without keys no token can be verified, and fetched keys are kept`() async throws {
    let token = try #require(await provider.idToken())
    await provider.change { $0.keys = 503 }
    let check = try await check()
    await #expect(throws: CallerTokenRefusal.issuerUnavailable) { try await check.accept(token) }
    await provider.change { $0.keys = 200 }
    // Not asked again at once.
    await #expect(throws: CallerTokenRefusal.issuerUnavailable) { try await check.accept(token) }
    clock.advance(5)
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
    for _ in 0..<3 { await expectUntrusted { try await check.accept(unknown) } }
    #expect(await provider.keyRequests == 1)
    clock.advance(60)
    for _ in 0..<3 { await expectUntrusted { try await check.accept(unknown) } }
    #expect(await provider.keyRequests == 2)
  }

  @Test func `a token whose key was withdrawn is believed until the keys are fetched again`() async throws {
    let token = try #require(await provider.idToken())
    let check = try await check()
    let believed = try await check.accept(token)
    await provider.change { $0.hasWithdrawnKey = true }
    clock.advance(599)
    #expect(clock.now < believed.until)
    #expect(try await check.accept(token) == believed)
    clock.advance(1)
    #expect(clock.now >= believed.until)
    await expectUntrusted { try await check.accept(token) }
    #expect(await provider.keyRequests == 2)
  }

  @Test func `while the keys cannot be fetched again, those that are known serve for an hour`() async throws {
    await provider.change { $0.claims["exp"] = .integer(SignInProvider.now.seconds + 86_400) }
    let token = try #require(await provider.idToken())
    let check = try await check()
    _ = try await check.accept(token)
    await provider.change { $0.keys = 503 }
    clock.advance(600)
    // One attempt a minute for all callers.
    for _ in 0..<3 { #expect(try await check.accept(token).until == clock.now + 60) }
    #expect(await provider.keyRequests == 2)
    clock.advance(2990)
    #expect(try await check.accept(token).until == SignInProvider.now + 3600)
    clock.advance(10)
    await #expect(throws: CallerTokenRefusal.issuerUnavailable) { try await check.accept(token) }
    await provider.change { $0.keys = 200 }
    clock.advance(5)
    #expect(try await check.accept(token).until == clock.now + 600)
  }

  @Test(arguments: [nil, "JWT", "at+jwt", "logout+jwt", "secevent+jwt", "dpop+jwt"])
  func `a JWT that the issuer signed for another purpose is refused`(type: String?) async throws {
    await provider.change { $0.type = type }
    let token = try #require(await provider.idToken())
    let check = try await check()
    if [nil, "JWT", "at+jwt"].contains(type) {
      _ = try await check.accept(token)
    } else {
      await expectUntrusted { try await check.accept(token) }
    }
  }

  @Test func `an ID token is refused, and a bound token needs its certificate`() async throws {
    let check = try await check()
    await provider.see(nonce: "of-a-sign-in")
    let identity = try #require(await provider.idToken())
    await expectUntrusted { try await check.accept(identity) }
    await provider.see(nonce: nil)
    let digest = [UInt8](repeating: 7, count: 32)
    await provider.change { $0.claims["cnf"] = .object(["x5t#S256": .string(Base64URL.encode(digest))]) }
    let bound = try #require(await provider.idToken())
    await expectUntrusted { try await check.accept(bound) }
    await expectUntrusted {
      try await check.accept(bound, certificate: [UInt8](repeating: 8, count: 32))
    }
    _ = try await check.accept(bound, certificate: digest)
  }
}
