package import Bytes
internal import Platform
package import Tokens

/// The requirements for a sign-in of each route, from the refusal to the sign-in that meets them. It holds no token.
/// Any thread may use it; recording waits for nothing.
package final class SignInRequirements: Sendable {
  private struct State {
    var requirements: [String: SignInRequirement] = [:]
    /// Routes whose requirement is not written to the place yet.
    var unwritten: Set<String> = []
    var isWriting = false
    /// The subject of each route in the place.
    var subjects: [String: String] = [:]
    var keys: [String: AcquisitionKey] = [:]
  }

  private let state = Locked(State())
  private let now: @Sendable () -> UnixTime
  private let place: SharedRequirements?

  /// Pause between writings: repeated refusals must keep neither disk nor server busy.
  private static let pause = Duration.seconds(1)

  /// A memory with at most one entry for each route.
  package init(now: @escaping @Sendable () -> UnixTime) {
    self.now = now
    place = nil
  }

  /// A memory that is shared with every process that shares the cache.
  /// - Parameter subscriptions: the subscriptions by route.
  package convenience init(
    beside store: CacheStore, subscriptions: [String: TokenSubscription], now: @escaping @Sendable () -> UnixTime
  ) {
    self.init(in: store.text(.challenges), subscriptions: subscriptions, now: now)
  }

  init(
    in text: (any SharedText)?, subscriptions: [String: TokenSubscription], now: @escaping @Sendable () -> UnixTime
  ) {
    self.now = now
    place = text.map(SharedRequirements.init)
    follow(subscriptions)
  }

  /// Changes to another configuration: a route that is gone, or that has another person's token, requires nothing for
  /// now.
  package func follow(_ subscriptions: [String: TokenSubscription]) {
    let subjects = Dictionary(
      uniqueKeysWithValues: subscriptions.map { route, subscription in
        var account = ""
        if case .account(let name?) = subscription.key.subject { account = name }
        return (route, "\(subscription.key.authority) \(subscription.key.clientID) \(account) \(route)")
      })
    state.withLock { state in
      for (route, subject) in state.subjects where subjects[route] != subject {
        state.requirements[route] = nil
        state.unwritten.remove(route)
      }
      state.subjects = subjects
      state.keys = subscriptions.mapValues(\.key)
    }
  }

  /// Adds a requirement to those of the route.
  package func remember(_ requirement: SignInRequirement, route: String) {
    let mustWrite = state.withLock { state in
      if let known = state.requirements[route], !known.isOver(at: requirement.since) {
        let merged = known.merged(with: requirement)
        state.requirements[route] = merged
        // A repetition is no news, unless the known one would be forgotten soon.
        if merged.asksTheSame(as: known), requirement.since - known.since < SignInRequirement.lifetime / 24 {
          state.requirements[route] = known
          state.requirements[route]?.refused = merged.refused
          return false
        }
      } else {
        state.requirements[route] = requirement
      }
      guard place != nil, state.subjects[route] != nil else { return false }
      state.unwritten.insert(route)
      defer { state.isWriting = true }
      return !state.isWriting
    }
    if mustWrite { Task { await self.write() } }
  }

  /// The requirement for a sign-in of a route; nil if there is none. If the memory is shared, the place is read.
  package func requirement(of route: String) async -> SignInRequirement? { await all()[route] }

  /// The requirements of all routes that have one, by name. If the memory is shared, the place is read.
  package func all() async -> [String: SignInRequirement] {
    if let place, let known = await place.read() {
      state.withLock { state in
        for (route, subject) in state.subjects where !state.unwritten.contains(route) {
          state.requirements[route] = known[subject]
        }
      }
    }
    return known
  }

  /// As `requirements`, as of the last look.
  package var known: [String: SignInRequirement] {
    let now = now()
    return state.withLock { $0.requirements }.filter { !$0.value.isOver(at: now) }
  }

  /// Forgets the requirements of these routes that a sign-in has met, here and in the place.
  package func met(by sign: SignInRequirement, routes: [String]) async {
    let met = await all().filter { routes.contains($0.key) && $0.value.isMet(by: sign) }
    await forget(met)
  }

  /// Forgets the requirements that a token meets: a sign-in by another program left it in the cache, or its claims show
  /// it.
  package func take(_ value: BearerValue, for key: AcquisitionKey) {
    let requirements = state.withLock { state in state.requirements.filter { state.keys[$0.key] == key } }
    guard !requirements.isEmpty else { return }
    let isAnothers = value.origin.source == .cache
    let met = requirements.filter {
      $0.value.isBrought(
        by: value.token, scopes: value.scopes, obtainedAt: value.lifetime.obtainedAt,
        isAnothers: isAnothers)
    }
    if !met.isEmpty { Task { await forget(met) } }
  }

  private func forget(_ met: [String: SignInRequirement]) async {
    let gone = state.withLock { state in
      // More may have been required meanwhile.
      let still = met.filter { state.requirements[$0.key] == nil || state.requirements[$0.key] == $0.value }.keys
      for route in still {
        state.requirements[route] = nil
        state.unwritten.remove(route)
      }
      return still.compactMap { state.subjects[$0] }
    }
    guard let place, !gone.isEmpty else { return }
    _ = await place.change(now: now()) { requirements in
      for subject in gone { requirements[subject] = nil }
    }
  }

  /// Writes everything that is not in the place, until nothing is left. If writing fails, the rest stays in this
  /// process.
  private func write() async {
    guard let place else { return }
    while true {
      let (news, entries) = state.withLock { state in
        let news = state.requirements.filter { state.unwritten.contains($0.key) }
        let entries = news.compactMap { route, new in state.subjects[route].map { (subject: $0, new: new) } }
        return (news, entries)
      }
      let isWritten = await place.change(now: now()) { requirements in
        for (subject, new) in entries { requirements[subject] = requirements[subject]?.merged(with: new) ?? new }
      }
      if isWritten {
        state.withLock { state in
          // An entry that has grown meanwhile is written again.
          for (route, new) in news where state.requirements[route] == new { state.unwritten.remove(route) }
        }
        do { try await Task.sleep(for: Self.pause) } catch {}
      }
      let isDone = state.withLock { state in
        // After a failure, writing is tried again with the next requirement.
        state.isWriting = isWritten && state.requirements.keys.contains { state.unwritten.contains($0) }
        return !state.isWriting
      }
      if isDone { return }
    }
  }
}

/// The place where processes share requirements, by subject. Losing it loses a convenience.
struct SharedRequirements: Sendable {
  let text: any SharedText

  /// The present requirements; nil if they cannot be read, or not soon.
  func read() async -> [String: SignInRequirement]? {
    await text.read().map(RequirementsText.requirements)
  }

  /// Changes them; returns true if that succeeded. `change` may be applied more than once. Another text is replaced.
  func change(now: UnixTime, _ change: @escaping @Sendable (inout [String: SignInRequirement]) -> Void) async -> Bool {
    await text.change { old in
      let known = RequirementsText.requirements(old).filter { !$0.value.isOver(at: now) }
      var requirements = known
      change(&requirements)
      if requirements == known { return nil }
      return requirements.isEmpty ? [] : RequirementsText.bytes(requirements)
    }
  }
}

/// The text of a place: one JSON object.
enum RequirementsText {
  /// Entries kept, the newest first.
  static let entryLimit = 256
  /// Maximum bytes of a text that is read or written.
  static let sizeLimit = 8 << 20

  /// The requirements in a text; none if it is something else.
  static func requirements(_ text: [UInt8]) -> [String: SignInRequirement] {
    guard text.count <= sizeLimit else { return [:] }
    let entries = JSONValue(json: text)?.members?["needs"]?.members ?? [:]
    return entries.compactMapValues { SignInRequirement($0) }
  }

  /// As much as would be read again, the newest first: the requests of many hostile upstreams must not push out
  /// everything.
  static func bytes(_ requirements: [String: SignInRequirement]) -> [UInt8] {
    var members: [String: JSONValue] = [:]
    var room = sizeLimit - 64
    for (subject, requirement) in requirements.sorted(by: { $0.value.since > $1.value.since }).prefix(entryLimit) {
      let entry = JSONValue.object([subject: requirement.json])
      room -= entry.canonicalText().utf8.count
      if room < 0 { break }
      members[subject] = requirement.json
    }
    return Array((JSONValue.object(["needs": .object(members)]).canonicalText() + "\n").utf8)
  }
}
