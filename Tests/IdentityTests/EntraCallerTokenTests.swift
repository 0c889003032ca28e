// Callers' tokens of Entra: both versions, keys with their issuers, and what forged ones cost the issuer.

import Bytes
import HTTP
import HTTPClient
import Platform
import Testing
import Tokens

@testable import Identity

@Suite struct EntraCallerTokenTests {
  private static let tenant = "11111111-aaaa-4aaa-8aaa-111111111111"
  private static let client = "22222222-bbbb-4bbb-8bbb-222222222222"
  private static let second = "https://login.microsoftonline.com/\(tenant)/v2.0"
  private let clock = ManualClock()

  /// Entra's metadata and keys, counted.
  private actor Entra {
    var keyIssuer: String?
    var isAway = false
    private(set) var requests = 0

    func change(keyIssuer: String?) { self.keyIssuer = keyIssuer }
    func leave() { isAway = true }
    func comeBack() { isAway = false }

    func answer(_ request: FetchRequest) throws -> FetchResponse {
      requests += 1
      if isAway { return FetchResponse(status: 503, body: []) }
      if request.url.target.hasSuffix("/keys") {
        let key = try SignInProvider.key.get().publicKey
        var jwk = JWK(identifier: "k1", algorithm: .rs256, modulus: key.modulus, exponent: key.exponent)
        jwk.issuer = keyIssuer
        return FetchResponse(status: 200, body: Array(JWKSet(keys: [jwk]).json.canonicalText().utf8))
      }
      let members: [String: JSONValue] = [
        "issuer": .string(second),
        "token_endpoint": .string("https://login.microsoftonline.com/\(tenant)/oauth2/v2.0/token"),
        "jwks_uri": .string("https://login.microsoftonline.com/\(tenant)/discovery/v2.0/keys"),
      ]
      return FetchResponse(status: 200, body: Array(JSONValue.object(members).canonicalText().utf8))
    }
  }

  private func check(_ entra: Entra, authority: String) throws -> CallerTokenCheck {
    let fetch: Fetch = { request throws(FetchError) in
      do {
        return try await entra.answer(request)
      } catch {
        throw .closed(host: request.url.host)
      }
    }
    let issuer = Application(
      name: "callers", authority: try Authority(authority), clientID: "", credential: nil, fetch: fetch)
    return CallerTokenCheck(issuer: issuer, audiences: [Self.client], now: { [clock] in clock.now })
  }

  private func token(_ changes: [String: JSONValue] = [:], isSigned: Bool = true) throws -> String {
    var claims: [String: JSONValue] = [
      "iss": .string("https://sts.windows.net/\(Self.tenant)/"), "tid": .string(Self.tenant),
      "aud": .string("api://" + Self.client), "appid": .string("caller"), "ver": .string("1.0"), "scp": .string("read"),
      "sub": .string("s"), "exp": .integer(clock.now.seconds + 3600),
    ]
    claims.merge(changes) { $1 }
    let parts = [#"{"alg":"RS256","kid":"k1","typ":"JWT"}"#, JSONValue.object(claims).canonicalText()]
    let input = Array(parts.map { Base64URL.encode(Array($0.utf8)) }.joined(separator: ".").utf8)
    let signature = isSigned ? try SignInProvider.key.get().signature(of: input.span, .rs256) : [1, 2, 3]
    return SignedJWT.compact(signingInput: input, signature: signature).revealed()
  }

  private func refusal(_ check: CallerTokenCheck, _ token: String) async -> CallerTokenRefusal? {
    do throws(CallerTokenRefusal) {
      _ = try await check.accept(token)
      return nil
    } catch {
      return error
    }
  }

  @Test(arguments: [
    "https://login.microsoftonline.com/\(tenant)", "https://login.microsoftonline.com/\(tenant)/v2.0",
    "https://login.microsoftonline.com/contoso.onmicrosoft.com", "https://sts.windows.net/\(tenant)/",
  ])
  func `tokens of both versions let callers in, with every spelling of the authority`(authority: String) async throws {
    let check = try check(Entra(), authority: authority)
    #expect(try await check.accept(token()).tenant == Self.tenant)
    let application: [String: JSONValue] = ["scp": .null, "roles": .array([.string("Orders.Read")])]
    #expect(await refusal(check, try token(application)) == nil)
    let second: [String: JSONValue] = [
      "iss": .string(Self.second), "ver": .string("2.0"), "aud": .string(Self.client), "appid": .null,
      "azp": .string("caller"),
    ]
    #expect(await refusal(check, try token(second)) == nil)
    // An ID token of version 1.0, another tenant, another audience.
    #expect(await refusal(check, try token(["appid": .null])) == .untrusted(.idToken))
    let other = "https://sts.windows.net/33333333-aaaa-4aaa-8aaa-111111111111/"
    #expect(await refusal(check, try token(["iss": .string(other)])) == .untrusted(.issuer(other)))
    #expect(await refusal(check, try token(["aud": .string("api://other")])) == .untrusted(.audience(["api://other"])))
  }

  @Test(
    arguments: [
      ("https://login.microsoftonline.com/{tenantid}/v2.0", true), (second, true), (nil, true),
      ("https://login.microsoftonline.com/9188040d-6c67-4c5b-b112-36a304b66dad/v2.0", false),
    ] as [(String?, Bool)])
  func `a token signed by another issuer's key is refused`(issuer: String?, isTaken: Bool) async throws {
    let entra = Entra()
    await entra.change(keyIssuer: issuer)
    let check = try check(entra, authority: "https://login.microsoftonline.com/\(Self.tenant)")
    for changes in [[:], ["iss": .string(Self.second), "azp": .string("c")]] as [[String: JSONValue]] {
      #expect(await refusal(check, try token(changes)) == (isTaken ? nil : .untrusted(.signature)))
    }
  }

  @Test func `while the keys are not there, forged tokens cost the issuer next to nothing`() async throws {
    let entra = Entra()
    await entra.leave()
    let check = try check(entra, authority: "https://login.microsoftonline.com/\(Self.tenant)")
    let header = Base64URL.encode(Array(#"{"alg":"none"}"#.utf8))
    let unsigned = try token().split(separator: ".")
    let rejected: [String] = [
      "\(header).\(unsigned[1]).", "opaque", try token(["iss": .string("https://evil.example")]),
      try token(["aud": .string("x")]), try token(["exp": .integer(clock.now.seconds - 61)]), try token(["exp": .null]),
    ]
    for token in rejected {
      guard case .untrusted = await refusal(check, token) else {
        Issue.record("not refused: \(token)")
        continue
      }
    }
    #expect(await entra.requests == 0)
    // One that could be real: one flight for all, and then a pause.
    let forged = try token(isSigned: false)
    await withTaskGroup { group in
      for _ in 0..<100 {
        group.addTask { #expect(await refusal(check, forged) == .issuerUnavailable) }
      }
    }
    for _ in 0..<100 { #expect(await refusal(check, forged) == .issuerUnavailable) }
    #expect(await entra.requests == 1)
    clock.advance(4)
    #expect(await refusal(check, forged) == .issuerUnavailable)
    #expect(await entra.requests == 1)
    clock.advance(1)
    await entra.comeBack()
    #expect(await refusal(check, forged) == .untrusted(.signature))
    #expect(await refusal(check, try token()) == nil)
    #expect(await entra.requests == 3)
  }

  @Test(arguments: [
    (JWTRefusal.parts, "opaque"), (.json(.claims), "claims"),
    (.algorithm("none"), "'none'"),
    (.issuer(nil), "issuer ''"), (.audience(["a", "b"]), "'a', 'b'"),
    (.expired(at: UnixTime(7)), "expired at 7"), (.issuer("a\nb"), "issuer 'a b'"),
    (.idToken, "ID token"), (.unknownKey(identifier: "k"), "'k'"), (.withoutExpiry, "no exp"),
  ])
  func `the log names what is wrong with a token`(flaw: JWTRefusal, words: String) {
    #expect(flaw.description.contains(words), "\(flaw.description)")
  }
}
