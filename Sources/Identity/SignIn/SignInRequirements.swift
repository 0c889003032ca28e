package import Bytes
internal import Platform
package import Tokens

/// The requirements for a sign-in of each route, from the refusal to the sign-in that meets them. It holds no token.
/// Any thread may use it; recording waits for nothing.
package final class SignInRequirements: Sendable {
  private struct State {
    var requirements: [String: SignInRequirement] = [:]
    /// The routes whose requirement, or its end, is not in the place yet.
    var unwritten: [String: Writing] = [:]
    var isWriting = false
    /// Writings that have ended. A reading that began before may have found an older text.
    var writings = 0
    /// The subject of each route in the place.
    var subjects: [String: String] = [:]
    var keys: [String: AcquisitionKey] = [:]

    func news(of route: String) -> News? {
      guard let writing = unwritten[route], let subject = subjects[route] else { return nil }
      return News(route: route, subject: subject, requirement: requirements[route], writing: writing)
    }

    func known(at now: UnixTime) -> [String: SignInRequirement] { requirements.filter { !$0.value.isOver(at: now) } }
  }

  private enum Writing: Equatable {
    /// The requirement is added to those of other processes.
    case beside
    /// A sign-in has met this one. What another process has added to it meanwhile stays.
    case instead(of: SignInRequirement)
  }

  private struct News: Equatable {
    var route: String
    var subject: String
    var requirement: SignInRequirement?
    var writing: Writing
  }

  private let state = Locked(State())
  /// The writings, one after the other.
  private let writings = TaskQueue()
  private let now: @Sendable () -> UnixTime
  private let place: SharedRequirements?

  /// Pause between writings: repeated refusals must keep neither disk nor server busy.
  private static let pause = Duration.seconds(1)

  /// A memory with at most one entry for each route.
  package convenience init(now: @escaping @Sendable () -> UnixTime) {
    self.init(in: nil, subscriptions: [:], now: now)
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

  /// Changes to another configuration: a route that is gone, or is another person's, requires nothing.
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
        state.unwritten[route] = nil
      }
      state.subjects = subjects
      state.keys = subscriptions.mapValues(\.key)
    }
  }

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
      state.unwritten[route] = state.unwritten[route] ?? .beside
      defer { state.isWriting = true }
      return !state.isWriting
    }
    if mustWrite { Task { await self.write() } }
  }

  /// The requirement for a sign-in of a route; nil if there is none. If the memory is shared, the place is read.
  package func requirement(of route: String) async -> SignInRequirement? { await all()[route] }

  /// The requirements of all routes that have one, by name. If the memory is shared, the place is read.
  package func all() async -> [String: SignInRequirement] {
    let writings = state.withLock { $0.writings }
    let found = await place?.read()
    let now = now()
    return state.withLock { state in
      if let found, state.writings == writings {
        for (route, subject) in state.subjects where state.unwritten[route] == nil {
          state.requirements[route] = found[subject]
        }
      }
      return state.known(at: now)
    }
  }

  /// As `all`, as of the last look.
  package var known: [String: SignInRequirement] {
    let now = now()
    return state.withLock { $0.known(at: now) }
  }

  /// Forgets the requirements of these routes that a sign-in has met, here and in the place.
  package func met(by sign: SignInRequirement, routes: [String]) async {
    let met = await all().filter { routes.contains($0.key) && $0.value.isMet(by: sign) }
    await forget(met)
  }

  /// Forgets the requirements that a token meets, perhaps of a sign-in by another program.
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
    state.withLock { state in
      // More may have been required meanwhile.
      for (route, requirement) in met where (state.requirements[route] ?? requirement) == requirement {
        state.requirements[route] = nil
        guard place != nil, state.subjects[route] != nil else { continue }
        if case .instead(of: let earlier) = state.unwritten[route] {
          state.unwritten[route] = .instead(of: earlier.merged(with: requirement))
        } else {
          state.unwritten[route] = .instead(of: requirement)
        }
      }
    }
    await writeOnce()
  }

  /// Writes everything that is not in the place, until nothing is left.
  private func write() async {
    while true {
      let isWritten = await writeOnce()
      if isWritten { do { try await Task.sleep(for: Self.pause) } catch {} }
      let isDone = state.withLock { state in
        // After a failure, writing is tried again with the next requirement.
        state.isWriting = isWritten && !state.unwritten.isEmpty
        return !state.isWriting
      }
      if isDone { return }
    }
  }

  /// Writes what is not in the place; true if that succeeded. Otherwise it stays in this process.
  @discardableResult
  private func writeOnce() async -> Bool {
    guard let place else { return true }
    return await writings.run { [self] in
      let news = state.withLock { state in state.unwritten.keys.compactMap { state.news(of: $0) } }
      if news.isEmpty { return true }
      let isWritten = await place.change(now: now()) { requirements in
        for new in news {
          var known = requirements[new.subject]
          if case .instead(of: let met) = new.writing, known?.isCovered(by: met) == true { known = nil }
          requirements[new.subject] = new.requirement.map { known?.merged(with: $0) ?? $0 } ?? known
        }
      }
      guard isWritten else { return false }
      state.withLock { state in
        state.writings += 1
        // An entry that has changed meanwhile is written again.
        for new in news where state.news(of: new.route) == new { state.unwritten[new.route] = nil }
      }
      return true
    }
  }
}

/// The store in which processes share requirements, by subject. Losing it loses a convenience.
struct SharedRequirements: Sendable {
  let text: any SharedText

  /// Entries kept, the newest first.
  static let entryLimit = 256
  /// Maximum bytes of a text that is read or written.
  static let sizeLimit = 8 << 20

  /// The present requirements; nil if they cannot be read, or not soon.
  func read() async -> [String: SignInRequirement]? { await text.read().map(Self.requirements) }

  /// Changes them; returns true if that succeeded. `change` may be applied more than once. Another text is replaced.
  func change(now: UnixTime, _ change: @escaping @Sendable (inout [String: SignInRequirement]) -> Void) async -> Bool {
    await text.change { old in
      let known = Self.requirements(old).filter { !$0.value.isOver(at: now) }
      var requirements = known
      change(&requirements)
      if requirements == known { return nil }
      return requirements.isEmpty ? [] : Self.bytes(requirements)
    }
  }

  /// The requirements in a text, one JSON object; none if it is something else.
  private static func requirements(_ text: [UInt8]) -> [String: SignInRequirement] {
    guard text.count <= sizeLimit else { return [:] }
    let entries = JSONValue(json: text)?.members?["needs"]?.members ?? [:]
    return entries.compactMapValues { SignInRequirement($0) }
  }

  /// As much as would be read again, the newest first, however many hostile upstreams ask.
  private static func bytes(_ requirements: [String: SignInRequirement]) -> [UInt8] {
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
