// Runs recorded flows against a broker: the recorded answers on the recorded clock, and what came of it beside what is
// recorded. What may differ is for the tests to say.

import Bytes
import FoundationEssentials
import HTTPClient
import TestSupport
import Testing
import Tokens

@testable import Identity

/// One flow, call after call, each on the cache that the call before it left.
final class FlowReplay {
  /// A caller's result.
  enum Answer: Equatable {
    case token(String)
    case interaction(InteractionReason)
    case rejected(String)
    case unavailable
  }

  /// The result of a call.
  struct Outcome {
    var answer: Answer
    /// The forms that were posted, `claims` in canonical form.
    var forms: [[String: String]]
    /// The addresses of the posts.
    var endpoints: [String]
    /// The account that each named as Entra's gateway reads it.
    var anchors: [String?]
    /// The reason why a person has to sign in, if that is the answer.
    var required: InteractionRequired?
    /// The cache's differences from the recorded one: `RefreshToken-` for an entry that is only there, `RefreshToken+`
    /// for one that is only here, `RefreshToken/secret` for a member.
    var cacheDifferences: Set<String>
  }

  let recording: FlowRecording
  private let clock = ManualClock()
  private let provider: ReplayingProvider
  private var store = CacheStore.memory()
  private var broker: TokenBroker

  init(_ name: String) throws {
    let recording = try FlowRecording(name)
    self.recording = recording
    provider = ReplayingProvider(metadata: recording.metadata)
    broker = TokenBroker(TokenBroker.Surroundings(now: { UnixTime(0) }), store: store)
    try restart(from: recording.calls[0].cacheBefore)
  }

  /// Starts over with this cache: everything held in memory is forgotten.
  func restart(from cache: JSONValue) throws {
    store = CacheStore.memory(try CacheDocument(text: Array(cache.canonicalText().utf8)))
    broker = TokenBroker(
      TokenBroker.Surroundings(
        now: { [clock] in clock.now }, jitter: { 0 }, sleep: { _ in },
        observe: { [provider] _ in provider.finished.signal() }), store: store)
  }

  func document() async -> CacheDocument { await store.snapshot() }

  func change(_ change: @escaping @Sendable (inout CacheDocument) -> Void) async throws {
    try await store.modify(change)
  }

  /// The forms that were recorded, in the form that `Outcome` has.
  func recordedForms(_ index: Int) -> [[String: String]] {
    recording.calls[index].posts.compactMap(\.form).map(Self.comparable)
  }

  func authority(_ index: Int) throws -> Authority {
    let app = recording.calls[index].app
    return try Authority(#require(app["authority"]?.text ?? app["oidc_authority"]?.text))
  }

  /// Makes a call as it was made.
  /// - Parameters:
  ///   - answers: what the provider answers; the recorded answers unless given.
  ///   - forced: whether the cache does not count (`force_refresh`).
  ///   - family: the family whose refresh tokens count.
  func call(
    _ index: Int, answers: [ScriptedProvider.Answer]? = nil, forced: Bool = false, family: String? = nil
  ) async throws -> Outcome {
    let call = recording.calls[index]
    clock.advance(call.now - clock.now)
    let script = answers ?? call.posts.map(Self.answer)
    await provider.script(script)
    let subscription = try subscription(index, family: family)
    let before = provider.finished.count
    var outcome = Outcome(answer: .unavailable, forms: [], endpoints: [], anchors: [], cacheDifferences: [])
    do throws(AcquisitionError) {
      let value =
        forced ? try await broker.renewedBearer(for: subscription) : try await broker.bearer(for: subscription)
      outcome.answer = .token(value.revealedToken())
    } catch {
      switch error.kind {
      case .interactionRequired(let required):
        outcome.answer = .interaction(required.reason)
        outcome.required = required
      case .rejected(let reply): outcome.answer = .rejected(reply.error)
      case .assertionRefused: Issue.record("no flow has a caller")
      case .providerUnavailable, .unusableMetadata, .cacheUnavailable: outcome.answer = .unavailable
      }
    }
    // A renewal behind the caller's back is part of the call.
    if !(await provider.requests.isEmpty) || !script.isEmpty { await provider.finished.wait(for: before + 1) }
    let requests = await provider.takeRequests()
    outcome.forms = requests.map { Self.comparable($0.form) }
    outcome.endpoints = requests.map(\.url)
    outcome.anchors = requests.map(\.anchor)
    outcome.cacheDifferences = Self.differences(
      await document().text(), from: call.cacheAfter.canonicalText(), now: call.now)
    return outcome
  }

  private func subscription(_ index: Int, family: String?) throws -> TokenSubscription {
    let call = recording.calls[index]
    var application = Application(
      name: "recorded", authority: try authority(index), clientID: try #require(call.app["client_id"]?.text),
      credential: call.app["credential"]?.text.map { .secret(Secret($0)) },
      capabilities: (call.app["client_capabilities"]?.list ?? []).compactMap(\.text), fetch: provider.fetch)
    application.family = family
    return TokenSubscription(
      application: application, subject: call.account.map { .account($0) } ?? .application,
      scopes: try ScopeSet(call.scopes), challenge: try call.claims.map { try Claims(json: $0) })
  }

  private static func answer(_ exchange: FlowRecording.Exchange) -> ScriptedProvider.Answer {
    guard let status = exchange.status else {
      return .failure(.unreachable(host: "login.microsoftonline.com", port: 443, errno: 111))
    }
    return .json(status, exchange.body, retryAfter: exchange.retryAfter)
  }

  private static func comparable(_ form: [String: String]) -> [String: String] {
    var form = form
    if let claims = form["claims"] { form["claims"] = JSONValue(json: Array(claims.utf8))?.canonicalText() }
    return form
  }

  /// Expired access tokens count on neither side: msal-python purges those of all accounts whenever it searches, this
  /// code never does.
  private static func differences(_ ours: [UInt8], from theirs: String, now: UnixTime) -> Set<String> {
    func sections(_ text: [UInt8]) -> [String: [String: JSONValue]] {
      (JSONValue(json: text)?.members ?? [:]).mapValues { section in
        (section.members ?? [:]).filter { UnixTime($0.value.members?["expires_on"]?.seconds ?? .max) > now }
      }
    }
    let (mine, recorded) = (sections(ours), sections(Array(theirs.utf8)))
    var found: Set<String> = []
    for name in Set(mine.keys).union(recorded.keys) {
      let (left, right) = (mine[name] ?? [:], recorded[name] ?? [:])
      if !Set(left.keys).isSubset(of: right.keys) { found.insert(name + "+") }
      if !Set(right.keys).isSubset(of: left.keys) { found.insert(name + "-") }
      for (key, entry) in left {
        guard let entry = entry.members, let other = right[key]?.members else { continue }
        for member in Set(entry.keys).union(other.keys) where entry[member] != other[member] {
          found.insert("\(name)/\(member)")
        }
      }
    }
    return found
  }
}
