// Tokens that an API refuses: one request for all callers that report it, the new token for all, and no loops.

import Bytes
import Testing
import Tokens

@testable import Identity

@Suite struct TokenRejectionTests {
  private static let claims = #"{"access_token":{"nbf":{"essential":true,"value":"1"}}}"#

  private func rejection(_ text: String = claims) throws -> TokenRejection { .claims(try Claims(json: text)) }

  /// Alice's route with a token that its API refuses, at a provider with these answers.
  private static func refused(
    _ answers: ScriptedProvider.Answer...
  ) async throws -> (AccountBench, TokenSubscription, BearerValue) {
    let bench = try AccountBench.signedIn()
    await bench.provider.script(tokens: answers)
    let subscription = try bench.subscription()
    return (bench, subscription, try await bench.broker.bearer(for: subscription))
  }

  @Test func `claims go to the provider at once, and all callers get the token they bring`() async throws {
    let (bench, subscription, refused) = try await Self.refused(AccountBench.tokens("AT-new", refreshToken: "RT-2"))
    bench.clock.advance(1)
    #expect(try await bench.token(answering: try rejection(), about: refused, for: subscription) == "AT-new")
    let forms = await bench.provider.forms
    #expect(forms.count == 1)
    #expect(forms[0].contains("claims=%7B%22access_token%22"))
    #expect(try await bench.token(subscription) == "AT-new")
    #expect(bench.published.tokens.last == "AT-new")
    #expect(await bench.store.snapshot().accessTokenTexts == ["AT-new"])
  }

  @Test func `many rejections of one kind are one request`() async throws {
    let (bench, subscription, refused) = try await Self.refused(AccountBench.tokens("AT-new"))
    await bench.provider.hold()
    let rejection = try rejection()
    let tokens = try await withThrowingTaskGroup(of: String?.self) { group in
      for _ in 0..<200 {
        group.addTask {
          try await bench.broker.bearer(answering: rejection, about: refused, for: subscription)?.revealedToken()
        }
      }
      while await bench.provider.forms.isEmpty { await Task.yield() }
      await bench.provider.release()
      return try await group.reduce(into: []) { $0.append($1) }
    }
    #expect(tokens.count == 200)
    #expect(tokens.allSatisfy { $0 == "AT-new" })
    // Those who were still on their way with the old token.
    #expect(try await bench.token(answering: rejection, about: refused, for: subscription) == "AT-new")
    #expect(await bench.provider.forms.count == 1)
  }

  @Test func `a token that is refused again for the same reason is not replaced again`() async throws {
    let bench = try AccountBench.signedIn()
    let subscription = try bench.subscription()
    for rejection in [TokenRejection.invalidToken, try rejection()] {
      let before = await bench.provider.forms.count
      await bench.provider.script(tokens: [
        AccountBench.tokens("AT-1-\(before)"), AccountBench.tokens("AT-2-\(before)"),
      ])
      let refused = try await bench.broker.bearer(for: subscription)
      bench.clock.advance(1)
      let second = try #require(try await bench.broker.bearer(answering: rejection, about: refused, for: subscription))
      bench.clock.advance(4)
      #expect(try await bench.broker.bearer(answering: rejection, about: second, for: subscription) == nil)
      #expect(await bench.provider.forms.count == before + 1)
      bench.clock.advance(1)
      #expect(try await bench.token(answering: rejection, about: second, for: subscription) == "AT-2-\(before)")
    }
  }

  @Test func `a token from elsewhere is no answer to a demand for claims`() async throws {
    let (bench, subscription, first) = try await Self.refused(AccountBench.tokens("AT-claims", refreshToken: "RT-2"))
    let proof = try #require(try await bench.broker.bearer(answering: try rejection(), about: first, for: subscription))
    bench.clock.advance(1)
    try await bench.signIn(AccountBench.alice, scopes: "A", token: "AT-theirs", refreshToken: "RT-3")
    #expect(try await bench.broker.currentBearer(for: subscription).revealedToken() == "AT-theirs")
    #expect(try await bench.broker.bearer(answering: try rejection(), about: proof, for: subscription) == nil)
    #expect(try await bench.token(answering: try rejection(), about: first, for: subscription) == "AT-claims")
  }

  @Test func `an API that asks for something new each time does not make a token request each time`() async throws {
    let bench = try AccountBench.signedIn()
    let subscription = try bench.subscription()
    await bench.provider.script(tokens: (0..<50).map { AccountBench.tokens("AT-\($0)") })
    for number in 0..<50 {
      let refused = try await bench.broker.bearer(for: subscription)
      _ = try await bench.broker.bearer(
        answering: try rejection(#"{"n":\#(number)}"#), about: refused, for: subscription)
    }
    #expect(await bench.provider.forms.count == RejectionBackoff.limit)
  }

  @Test func `parts of an API that want different proofs get the token that each of them asked for`() async throws {
    let (bench, subscription, first) = try await Self.refused()
    let rejections = try [#"{"a":1}"#, #"{"b":1}"#, #"{"c":1}"#].map { try rejection($0) }
    await bench.provider.script(tokens: ["AT-a", "AT-b", "AT-c"].map { AccountBench.tokens($0) })
    for rejection in rejections {
      _ = try await bench.broker.bearer(answering: rejection, about: first, for: subscription)
    }
    let held = try await bench.broker.bearer(for: subscription)
    #expect(held.revealedToken() == "AT-c")
    // Callers that had the first token, and callers that had the last.
    for (rejection, token) in zip(rejections, ["AT-a", "AT-b"]) {
      for refused in [first, held] {
        #expect(try await bench.token(answering: rejection, about: refused, for: subscription) == token)
      }
    }
    #expect(await bench.provider.forms.count == 3)
    // A revoked token is not handed out any more.
    let proof = try #require(try await bench.broker.bearer(answering: rejections[0], about: held, for: subscription))
    _ = try await bench.broker.bearer(answering: .invalidToken, about: proof, for: subscription)
    #expect(try await bench.token(answering: rejections[0], about: first, for: subscription) != "AT-a")
    #expect(await bench.provider.forms.count == 3)
    // A sign-out removes all of them.
    let other = try #require(try await bench.broker.bearer(answering: rejections[1], about: held, for: subscription))
    #expect(other.isUsable(at: bench.clock.now))
    try await bench.signOut(AccountBench.alice)
    await #expect(throws: AcquisitionError.self) { try await bench.broker.currentBearer(for: subscription) }
    #expect(!other.isUsable(at: bench.clock.now))
  }

  @Test func `the tokens that answered rejections are few, and the newest`() throws {
    let bench = AccountBench()
    var rejected = RejectedTokens()
    let now = bench.clock.now
    func value(_ number: Int) throws -> BearerValue {
      BearerValue(
        Secret("AT-\(number)"), lifetime: TokenLifetime(expiresIn: 10, refreshIn: nil, now: now, jitter: 0),
        scopes: .none)
    }
    for number in 0..<1000 { rejected.keep(try value(number), for: try rejection(#"{"n":\#(number)}"#), now: now) }
    let kept = try (0..<1000).filter { rejected.isAnswer(try value($0), to: try rejection(#"{"n":\#($0)}"#)) }
    #expect(kept == Array(1000 - RejectionBackoff.limit..<1000))
    let (last, refused) = (try rejection(#"{"n":999}"#), try value(1000))
    #expect(rejected.answer(to: last, besides: refused, now: now) == nil)
    let isAdmitted = rejected.admits(last, now: now)
    #expect(isAdmitted)
    #expect(rejected.answer(to: last, besides: refused, now: now)?.revealedToken() == "AT-999")
    #expect(rejected.answer(to: last, besides: refused, now: now + 10) == nil)
  }

  @Test func `an invalid token is exchanged for another, even if the cache holds it still`() async throws {
    let (bench, subscription, refused) = try await Self.refused(AccountBench.tokens("AT-new"))
    #expect(refused.revealedToken() == "AT-alice")
    bench.clock.advance(1)
    #expect(try await bench.token(answering: .invalidToken, about: refused, for: subscription) == "AT-new")
    #expect(try await bench.token(subscription) == "AT-new")
  }

  @Test func `a token that another process obtained meanwhile replaces a request`() async throws {
    let (bench, subscription, refused) = try await Self.refused()
    bench.clock.advance(5)
    try await bench.signIn(AccountBench.alice, scopes: "A", token: "AT-other", refreshToken: "RT-other")
    #expect(try await bench.token(answering: .invalidToken, about: refused, for: subscription) == "AT-other")
    #expect(await bench.provider.forms.isEmpty)
  }

  @Test func `scopes are added to those that the subscription has`() async throws {
    let (bench, subscription, refused) = try await Self.refused(AccountBench.tokens("AT-AB", scope: "A B"))
    let rejection = TokenRejection.scopes(try ScopeSet(["B"]))
    #expect(try await bench.token(answering: rejection, about: refused, for: subscription) == "AT-AB")
    let form = await bench.provider.forms[0]
    #expect(form.contains("scope=A%20B%20"), "\(form)")
    #expect(try await bench.token(subscription) == "AT-AB")
    // Its wider token is what a late complainer gets.
    #expect(try await bench.token(answering: rejection, about: refused, for: subscription) == "AT-AB")
  }

  @Test func `a wider token that lacks the old scopes serves the one request only`() async throws {
    let (bench, subscription, refused) = try await Self.refused(AccountBench.tokens("AT-B", scope: "B"))
    #expect(try await bench.token(answering: .scopes(try ScopeSet(["B"])), about: refused, for: subscription) == "AT-B")
    #expect(try await bench.token(subscription) == "AT-alice")
  }

  @Test func `if a person is needed the rejection fails, and the refused token goes on serving others`() async throws {
    let more = #"{"access_token":{"acrs":{"essential":true,"value":"c1"}}}"#
    let (bench, subscription, refused) = try await Self.refused(
      AccountBench.refusal("interaction_required", claims: more))
    let failing = try rejection()
    do throws(AcquisitionError) {
      _ = try await bench.broker.bearer(answering: failing, about: refused, for: subscription)
      Issue.record("a token from nowhere")
    } catch {
      guard let required = error.interactionRequired else {
        Issue.record("\(error)")
        return
      }
      #expect(required.claims == (try Claims(json: more)))
    }
    #expect(try await bench.token(subscription) == "AT-alice")
    #expect(try await bench.broker.bearer(answering: failing, about: refused, for: subscription) == nil)
    #expect(await bench.provider.forms.count == 1)
  }

  @Test func `a provider that is down is left alone, whatever APIs say`() async throws {
    let (bench, subscription, refused) = try await Self.refused(.json(503, "", retryAfter: "30"))
    let failing = try rejection()
    await #expect(throws: AcquisitionError.self) {
      try await bench.broker.bearer(answering: failing, about: refused, for: subscription)
    }
    let others = [TokenRejection.invalidToken, try rejection(#"{"x":1}"#), .scopes(try ScopeSet(["B"]))]
    for other in others {
      #expect(try await bench.broker.bearer(answering: other, about: refused, for: subscription) == nil)
    }
    #expect(await bench.provider.forms.count == 1)
    #expect(try await bench.token(subscription) == "AT-alice")
  }

  @Test func `an application's own token is exchanged too`() async throws {
    let bench = Bench()
    let subscription = try bench.subscription(capabilities: ["cp1"])
    let refused = try await bench.broker.bearer(for: subscription)
    bench.clock.advance(1)
    #expect(try await bench.token(answering: try rejection(), about: refused, for: subscription) == "token-2")
    let forms = await bench.provider.forms
    #expect(forms[1].contains("nbf"))
    #expect(forms[1].contains("cp1"))
    #expect(try await bench.broker.bearer(for: subscription).revealedToken() == "token-2")
  }
}
