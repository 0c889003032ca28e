// A credential that changes: the held token serves until the new one has obtained its own.

import Bytes
import Testing
import Tokens

@testable import Identity

@Suite(.timeLimit(.minutes(1))) struct CredentialHandoverTests {
  private static let refusal = ScriptedProvider.Answer.json(401, #"{"error": "invalid_client"}"#)
  private static let rejected = AcquisitionError.rejected("invalid_client", retryAfter: 60)

  /// Goes over from one configuration to the next as a reload does.
  private static func change(
    _ bench: Bench, from former: TokenSubscription, to next: TokenSubscription
  ) async -> [CredentialHandover] {
    let handovers = await bench.broker.prepare([next], succeeding: [former])
    await bench.broker.follow([next])
    return handovers
  }

  @Test func `a held token serves to its last second although the provider refuses the credential`() async throws {
    let bench = Bench()
    let right = try bench.subscription()
    let wrong = try bench.subscription(secret: "wrong", version: 1)
    _ = try await bench.broker.bearer(for: right)
    _ = try await bench.nextEvent()
    bench.clock.advance(10)
    let handovers = await Self.change(bench, from: right, to: wrong)
    #expect(
      handovers == [
        CredentialHandover(application: "demo", scopes: right.key.scopes, servedUntil: ManualClock.start + 3600)
      ])
    await bench.provider.script(tokens: [Self.refusal])
    // The first caller has the new credential tried, and gets the held token.
    #expect(try await bench.broker.bearer(for: wrong).revealedToken() == "token-1")
    let event = try await bench.nextEvent()
    #expect(event.isOfChangedCredential)
    let failure = try #require(event.failure)
    #expect(failure == (Self.rejected, .configuration, ManualClock.start + 3600))
    // In the pause nothing is sent; after it one request is.
    #expect(try await bench.broker.bearer(for: wrong).revealedToken() == "token-1")
    let status = await bench.broker.status(of: wrong)
    #expect(
      status.isOfFormerCredential && status.failure?.error.told == Self.rejected && status.isReady(at: bench.clock.now))
    #expect(await bench.provider.forms.count == 2)
    bench.clock.advance(3589)
    await bench.provider.script(tokens: [Self.refusal, Self.refusal])
    #expect(try await bench.broker.bearer(for: wrong).revealedToken() == "token-1")
    _ = try await bench.nextEvent()
    bench.clock.advance(1)
    await #expect(throws: AcquisitionError.self) { try await bench.broker.bearer(for: wrong) }
    // Held since the reload, taken back by none of the failures.
    #expect(bench.published.tokens == ["token-1", "token-1"])
  }

  @Test func `a credential that the provider accepts replaces the held token at once, also after several wrong ones`()
    async throws
  {
    let bench = Bench()
    var former = try bench.subscription()
    _ = try await bench.broker.bearer(for: former)
    _ = try await bench.nextEvent()
    for version in 1...3 as ClosedRange<UInt64> {
      let wrong = try bench.subscription(secret: "wrong-\(version)", version: version)
      await bench.provider.script(tokens: [Self.refusal])
      #expect(await Self.change(bench, from: former, to: wrong).count == 1)
      #expect(try await bench.broker.bearer(for: wrong).revealedToken() == "token-1")
      #expect(try await bench.nextEvent().isOfChangedCredential)
      former = wrong
    }
    let right = try bench.subscription(secret: "right", version: 4)
    #expect(await Self.change(bench, from: former, to: right).count == 1)
    #expect(try await bench.broker.bearer(for: right).revealedToken() == "token-1")
    #expect(try await bench.nextEvent().isOfChangedCredential)
    #expect(try await bench.broker.bearer(for: right).revealedToken() == "token-2")
    #expect(await bench.broker.status(of: right).isOfFormerCredential == false)
    #expect(await bench.provider.forms.last?.contains("client_secret=right") == true)
    #expect(await bench.broker.statuses().count == 1)
  }

  @Test func `background renewal tries a changed credential without a caller`() async throws {
    let bench = Bench()
    let right = try bench.subscription()
    _ = try await bench.broker.bearer(for: right)
    _ = try await bench.nextEvent()
    let next = try bench.subscription(secret: "next", version: 1)
    _ = await Self.change(bench, from: right, to: next)
    let keeper = Task { await bench.broker.keepReady([next]) }
    let event = try await bench.nextEvent()
    keeper.cancel()
    guard event.isOfChangedCredential, case .obtained = event.outcome else {
      Issue.record("\(event.outcome)")
      return
    }
    #expect(bench.published.tokens == ["token-1", "token-1", "token-2"])
  }

  @Test func `a token that has ended is not taken over, nor one of other scopes, claims or applications`() async throws
  {
    let bench = Bench()
    let right = try bench.subscription()
    _ = try await bench.broker.bearer(for: right)
    for other in [
      try bench.subscription(scopes: "orders.write", version: 1),
      try bench.subscription(version: 1, capabilities: ["cp1"]),
    ] {
      #expect(await bench.broker.prepare([other], succeeding: [right]) == [])
    }
    bench.clock.advance(3600)
    #expect(await bench.broker.prepare([try bench.subscription(version: 1)], succeeding: [right]) == [])
  }

  @Test func `a token that another process filed serves, and says nothing of the changed credential`() async throws {
    let bench = try AccountBench.signedIn()
    let (right, wrong) = (
      try bench.subscription(of: bench.application(secret: "right")),
      try bench.subscription(of: bench.application(secret: "wrong", version: 1))
    )
    #expect(try await bench.token(right) == "AT-alice")
    #expect(await bench.broker.prepare([wrong], succeeding: [right]).count == 1)
    await bench.broker.follow([wrong])
    // A renewal with the former secret ends after the change, or another replica still has that secret.
    bench.clock.advance(10)
    try await bench.signIn(AccountBench.alice, scopes: "A", token: "AT-2", refreshToken: "RT-2")
    await bench.provider.script(tokens: [Self.refusal])
    #expect(try await bench.token(wrong) == "AT-2")
    let event = try await bench.nextEvent()
    let failure = try #require(event.failure)
    #expect(event.isOfChangedCredential && failure.error == Self.rejected && failure.kind == .configuration)
    // Nor does the next one, with a refresh token that the credential is tried with again.
    bench.clock.advance(10)
    await bench.provider.script(tokens: [Self.refusal])
    try await bench.signIn(AccountBench.alice, scopes: "A", token: "AT-3", refreshToken: "RT-3")
    #expect(try await bench.token(wrong) == "AT-3")
    #expect(try await bench.nextEvent().isOfChangedCredential)
    let status = await bench.broker.status(of: wrong)
    #expect(status.isOfFormerCredential && status.failure?.error.told == Self.rejected)
  }

  @Test func `a renewal from before the change does not count for the changed credential`() async throws {
    let bench = try AccountBench.signedIn()
    let (right, wrong) = (
      try bench.subscription(of: bench.application(secret: "right")),
      try bench.subscription(of: bench.application(secret: "wrong", version: 1))
    )
    bench.clock.advance(3500)
    await bench.provider.script(tokens: [AccountBench.tokens("AT-2", refreshToken: "RT-2"), Self.refusal])
    await bench.provider.hold()
    #expect(try await bench.token(right) == "AT-alice")
    await bench.provider.arrival()
    #expect(await bench.broker.prepare([wrong], succeeding: [right]).count == 1)
    await bench.broker.follow([wrong])
    // The renewal with the changed credential waits for the one before it, and finds its token in the cache.
    #expect(try await bench.token(wrong) == "AT-alice")
    await bench.provider.release()
    #expect(try await bench.nextEvent().isOfChangedCredential == false)
    let callers = Task {
      while !Task.isCancelled {
        _ = await bench.result(wrong)
        await Task.yield()
      }
    }
    let event = try await bench.nextEvent()
    callers.cancel()
    #expect(event.isOfChangedCredential)
    #expect(await bench.provider.forms.last?.contains("client_secret=wrong") == true)
    #expect(try await bench.token(wrong) == "AT-2")
  }

  @Test(
    arguments: [
      // An application goes on with its own, even if another one keeps the same.
      ([("a", 0), ("b", 1)], [("a", 2), ("b", 1)], [2: 0]), ([("a", 0), ("b", 0)], [("a", 1), ("b", 0)], [1: 0]),
      ([("a", 0), ("b", 1)], [("a", 2), ("b", 3)], [2: 0, 3: 1]),
      // One that was renamed as well.
      ([("a", 0)], [("z", 1)], [1: 0]),
      // One that is added beside another with the same client id takes over nothing: its own credential has to be good.
      ([("a", 0)], [("a", 0), ("b", 1)], [:]),
      ([("a", 0)], [("a", 0)], [:]), ([], [("a", 0)], [:]), ([("a", 0)], [], [:]),
    ] as [([(String, UInt64)], [(String, UInt64)], [UInt64: UInt64])])
  func `each application goes on with the token of its own former credential`(
    former: [(String, UInt64)], next: [(String, UInt64)], expected: [UInt64: UInt64]
  ) throws {
    func wishes(_ applications: [(name: String, version: UInt64)]) throws -> [TokenSubscription] {
      try applications.map { try ScriptedProvider().application(nil, name: $0.name, version: $0.version).wish("a") }
    }
    let found = CredentialHandover.predecessors(of: try wishes(next), among: try wishes(former))
    #expect(
      Dictionary(uniqueKeysWithValues: found.map { ($0.key.credential.number, $0.value.credential.number) }) == expected
    )
  }
}
