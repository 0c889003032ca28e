// The machine of one key, by exact tables: events, then the step for each demand.

import Bytes
import HTTPClient
import Testing

@testable import Identity
@testable import Tokens

@Suite struct TokenStateTests {
  private enum Event {
    /// A token of an hour from the provider.
    case token(String)
    /// A token of an hour that another process has stored.
    case stored(String)
    /// A token of the credential before the present one.
    case former(String)
    /// A failure of the request in flight.
    case failed(AcquisitionError)
    /// A request fails because a person has to sign in.
    case ended
    /// A request takes longer than a caller waits.
    case timedOut
    /// The request in flight begins.
    case sent
    /// The next lookup finds this grant.
    case found(AvailableGrant)
    /// Seconds go by.
    case passed(Int64)
  }

  private static let down = AcquisitionError(.unreached(.timedOut(host: "login.microsoftonline.com")))
  private static let told = AcquisitionError(.metadata(status: 429), retryAfter: 7)

  private let bench = AccountBench()

  /// The state after events, and the time.
  private func state(_ events: [Event], ofAccount: Bool = false) throws -> (TokenState, UnixTime) {
    let subscription = try ofAccount ? bench.subscription() : ofApplication()
    var state = TokenState(subscription: subscription)
    var now = bench.clock.now
    func fail(_ error: AcquisitionError) {
      _ = state.end(
        .supply(replacing: state.value), with: .init(result: .failure(error)), for: subscription.key, now: now,
        jitter: 0)
      state.flight = nil
    }
    for event in events {
      switch event {
      case .token(let text):
        _ = state.end(
          .supply(replacing: state.value), with: .init(result: .success(value(text, .identityProvider, now))),
          for: subscription.key, now: now, jitter: 0)
        state.flight = nil
      case .stored(let text): state.take(value(text, .cache, now))
      case .former(let text): state.inherit(value(text, .identityProvider, now).dueNow)
      case .failed(let failure): fail(failure)
      case .ended: fail(AcquisitionError(.userMismatch, subscription.key))
      case .timedOut: _ = state.takeTimeOut(now: now)
      case .sent: state.flight = Task { .failure(AcquisitionError(.cacheUnread)) }
      case .found(let grant): state.take(CacheLookup(grant: grant), now: now, jitter: { 0 })
      case .passed(let seconds): now = now + seconds
      }
    }
    return (state, now)
  }

  private func ofApplication() throws -> TokenSubscription {
    TokenSubscription(application: try bench.application(secret: "s3cret"), scopes: try ScopeSet(parameter: "A"))
  }

  private func value(_ text: String, _ source: TokenOrigin.Source, _ now: UnixTime) -> BearerValue {
    BearerValue(
      Secret(text), lifetime: TokenLifetime(expiresIn: 3600, refreshIn: 1800, now: now, jitter: 0),
      scopes: .none, origin: TokenOrigin(source: source))
  }

  private func text(_ step: TokenStep?) -> String {
    switch step {
    case nil: "look"
    case .serve(let value): "serve \(value.revealedToken())"
    case .serveAndRenew(let value): "serve \(value.revealedToken()), renew"
    case .wait: "wait"
    case .refuse(let error): "refuse \(error.retryAfter ?? 0) s"
    }
  }

  /// Events, and the steps: in hand, after a look, forced, and `due` if the token is to be renewed without a caller.
  @Test(
    arguments: [
      ("nothing is held", [], "look / wait / wait / due"),
      ("a storm of callers joins the request in flight", [.sent], "wait / wait / wait / due"),
      ("a fresh token", [.token("A")], "serve A / serve A / wait"),
      ("a token that is due", [.token("A"), .passed(1800)], "look / serve A, renew / wait / due"),
      ("an expired token", [.token("A"), .passed(3600)], "look / wait / wait / due"),
      ("the provider is down: nothing is sent for a second", [.failed(down)], "look / refuse 1 s / refuse 1 s"),
      ("the pause is over", [.failed(down), .passed(1)], "look / wait / wait / due"),
      ("the provider names a pause", [.failed(told), .passed(2)], "look / refuse 5 s / refuse 5 s"),
      ("a held token serves in a pause", [.token("A"), .passed(1800), .failed(told)], "look / serve A / refuse 7 s"),
      ("a pause ends the waiting for the request in flight", [.sent, .timedOut], "look / refuse 1 s / refuse 1 s"),
      ("its answer ends the pause", [.sent, .timedOut, .token("A")], "serve A / serve A / wait"),
      ("a second time-out lengthens no pause", [.sent, .timedOut, .timedOut, .passed(1)], "wait / wait / wait / due"),
      ("a changed credential", [.former("A")], "look / serve A, renew / wait / due"),
      ("a stored token proves no new credential", [.former("A"), .stored("B")], "look / serve B, renew / wait / due"),
      ("the new credential obtains a token", [.former("A"), .token("B")], "serve B / serve B / wait"),
      ("a changed credential that is refused", [.former("A"), .failed(told)], "look / serve A / refuse 7 s"),
    ] as [(String, [Event], String)])
  private func `the step for each demand`(name: String, events: [Event], expected: String) throws {
    let (state, now) = try state(events)
    let steps = [state.stepInHand(at: now), state.step(at: now), state.forcedStep(at: now)].map(text)
    #expect((steps + (state.isRenewalDue(at: now) ? ["due"] : [])).joined(separator: " / ") == expected, "\(name)")
  }

  @Test(
    arguments: [
      ([.found(.nothing(.noAccount))], .noAccount), ([.found(.nothing(.accountAmbiguous))], .accountAmbiguous),
      ([.found(.unknown)], nil), ([.found(.nothing(.noTokens)), .found(.unknown)], nil),
    ] as [([Event], InteractionReason?)])
  private func `without a grant every demand is refused with the reason`(events: [Event], reason: InteractionReason?)
    throws
  {
    let (state, now) = try state(events, ofAccount: true)
    for step in [state.step(at: now), state.forcedStep(at: now)] {
      guard case .refuse(let error) = step else {
        Issue.record("\(step)")
        continue
      }
      if let reason {
        #expect(error.interactionRequired?.reason == reason)
      } else {
        #expect(error == AcquisitionError(.cacheUnread, retryAfter: AcquisitionError.cachePause))
      }
    }
    #expect(!state.isRenewalDue(at: now))
  }

  private func text(_ step: ReplacementStep?) -> String {
    switch step {
    case nil: "look"
    case .serve(let value): "serve \(value.revealedToken())"
    case .waitForRenewal: "wait for the renewal"
    case .wait: "wait"
    case .noReplacement: "none"
    case .refuse(let error): "refuse \(error.retryAfter ?? 0) s"
    }
  }

  private enum Rejection: CaseIterable { case invalid, claims, scopes }

  /// Events, then the rejection of the token `A`: the steps in hand, after a look, and after a look once more.
  @Test(
    arguments: [
      ([.token("A")], .invalid, false, "look", "wait for the renewal", "none"),
      ([.token("A")], .claims, false, "look", "wait", "none"),
      ([.token("A")], .scopes, false, "look", "wait", "none"),
      ([.token("A")], .claims, true, "wait", "wait", "wait"),
      ([.token("A"), .token("B")], .invalid, false, "serve B", "serve B", "serve B"),
      // B need not have the claims.
      ([.token("A"), .token("B")], .claims, false, "look", "wait", "none"),
      ([.token("A"), .sent], .invalid, false, "look", "wait for the renewal", "wait for the renewal"),
      ([.token("A"), .failed(told)], .invalid, false, "look", "none", "none"),
      ([.token("A"), .failed(told)], .claims, false, "look", "none", "none"),
      ([.token("A"), .failed(told), .passed(7)], .claims, false, "look", "wait", "none"),
      // The session is over: however often the API refuses, a person is needed.
      ([.token("A"), .ended], .invalid, false, "look", "refuse 120 s", "refuse 120 s"),
      ([.token("A"), .ended], .claims, false, "look", "refuse 120 s", "refuse 120 s"),
      ([.token("A"), .ended, .passed(120)], .invalid, false, "look", "wait for the renewal", "refuse 1 s"),
      ([.token("A"), .ended, .token("A")], .invalid, false, "look", "wait for the renewal", "none"),
    ] as [([Event], Rejection, Bool, String, String, String)])
  private func `the step for a refused token`(
    events: [Event], rejection: Rejection, isUnderWay: Bool, inHand: String, afterLook: String, again: String
  ) throws {
    var (state, now) = try state([events[0]])
    let refused = try #require(state.value)
    (state, now) = try self.state(events)
    // The same token, as the request carried it.
    let carried = state.value?.token == refused.token ? try #require(state.value) : refused
    let asked: TokenRejection =
      switch rejection {
      case .invalid: .invalidToken
      case .claims: .claims(try Claims(json: #"{"access_token":{"acrs":{"essential":true,"value":"c1"}}}"#))
      case .scopes: .scopes(try ScopeSet(parameter: "A B"))
      }
    #expect(text(state.replacementInHand(for: carried, asked, isUnderWay: isUnderWay, now: now)) == inHand)
    #expect(text(state.replacementStep(for: carried, asked, isUnderWay: isUnderWay, now: now)) == afterLook)
    #expect(text(state.replacementStep(for: carried, asked, isUnderWay: isUnderWay, now: now)) == again)
  }

  @Test func `a provider that is down stops replacements too; a person's requirement does not stop the others`() throws
  {
    let claims = TokenRejection.claims(try Claims(json: #"{"access_token":{"nbf":{"essential":true}}}"#))
    let needed = AcquisitionError(.consentRequired, try ofApplication().key)
    for (failure, isPaused) in [(Self.down, true), (needed, false)] {
      var (state, now) = try state([.token("A")])
      let refused = try #require(state.value)
      let wanted = try ofApplication().answering(claims).key
      _ = state.end(
        .replacement(claims, of: refused), with: .init(result: .failure(failure)), for: wanted, now: now, jitter: 0)
      #expect(state.value === refused)
      #expect((state.pausedFailure(at: now) != nil) == isPaused)
      now = now + 1
      #expect(state.pausedFailure(at: now) == nil)
    }
  }

  @Test func `a replacement is published only if it has every scope of the route`() throws {
    let added = TokenRejection.scopes(try ScopeSet(parameter: "B"))
    for (scopes, isPublished) in [("A B", true), ("B", false)] {
      var (state, now) = try state([.token("A")])
      let refused = try #require(state.value)
      let new = BearerValue(
        Secret("N"), lifetime: TokenLifetime(expiresIn: 3600, refreshIn: nil, now: now, jitter: 0),
        scopes: try ScopeSet(parameter: scopes))
      _ = state.end(
        .replacement(added, of: refused), with: .init(result: .success(new)),
        for: try ofApplication().answering(added).key, now: now, jitter: 0)
      #expect(state.value === (isPublished ? new : refused))
      now = now + 1
      #expect(state.rejected.answer(to: added, besides: refused, now: now) == nil, "it was not admitted")
    }
  }
}
